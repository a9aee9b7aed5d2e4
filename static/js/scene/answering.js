// A question answered by hand on the stage: the mark is dragged, a tank or a record is clicked.
// The page around the stage is told {by: text}; everything can be done by keyboard, too.

import { aloft, el } from "./hand.js";

const HANDS = { offset: mark, broker: tanksOnce, brokers: tanksMany, records };
const BY_TEN = 5;

/** Lays the hands over the stage; `drawn` is what the stage drew: {geo, step}. */
export function takeAnswer(host, ask, drawn, t) {
  const hand = HANDS[ask.form];
  host.parentElement.querySelector(".answering")?.remove();
  if (!hand) return;
  const { geo } = drawn;
  const svg = el("svg", {
    class: "answering",
    viewBox: `0 0 ${geo.width} ${geo.height}`,
    width: Math.round(geo.width),
    height: Math.round(geo.height),
    "aria-label": t("hand.label"),
    role: "group",
  });
  hand(svg, ask, drawn, t);
  host.append(svg);
}

const tell = (by) => parent.postMessage({ by: String(by) }, location.origin);

function bar(...buttons) {
  document.querySelector(".handbar")?.remove();
  const row = Object.assign(document.createElement("div"), { className: "handbar" });
  for (const [words, act, cls] of buttons) {
    const one = document.createElement("button");
    Object.assign(one, { type: "button", className: `btn ${cls ?? ""}`, textContent: words });
    one.addEventListener("click", act);
    row.append(one);
  }
  document.querySelector("main")?.append(row);
}

/** A mark that is dragged up and down one tank; arrows move it by one, Enter answers. */
function mark(svg, ask, { geo, step }, t) {
  const lane = geo.lanes.get(ask.who);
  const part = step.view.partitions.find((one) => one.p === ask.tp);
  const mine = part.replicas[ask.who];
  const most = Math.max(...Object.values(part.replicas).map((one) => one.leo)) + 1;
  let at = ask.kind === "hw" ? mine.hw : mine.leo;
  const grip = el("g", {
    class: "grip",
    tabindex: 0,
    role: "slider",
    "aria-orientation": "vertical",
    "aria-valuemin": 0,
    "aria-valuemax": most,
    "aria-label": t("hand.label"),
  });
  const [x, w] = [lane.x - 14, lane.w + 28];
  const touch = el("rect", { class: "pick", x, width: w, height: 32 });
  const line = el("line", { x1: x, x2: x + w });
  const knob = el("circle", { cx: x + 4, r: 8, fill: "var(--accent)" });
  const words = el("text", { x: lane.mid, "text-anchor": "middle" });
  grip.append(touch, line, knob, words);
  const put = (value) => {
    at = Math.max(0, Math.min(most, value));
    const y = geo.y(Math.max(at, geo.base), lane);
    touch.setAttribute("y", y - 16);
    for (const name of ["y1", "y2"]) line.setAttribute(name, y);
    knob.setAttribute("cy", y);
    words.setAttribute("y", aloft(lane, y));
    words.textContent = t("hand.offset", { n: at });
    grip.setAttribute("aria-valuenow", at);
    grip.setAttribute("aria-valuetext", words.textContent);
  };
  const offsetAt = (event) => {
    const box = svg.getBoundingClientRect();
    const y = ((event.clientY - box.top) * geo.height) / box.height;
    let best = 0;
    for (let one = 0; one <= most; one += 1)
      if (Math.abs(geo.y(one, lane) - y) < Math.abs(geo.y(best, lane) - y)) best = one;
    return best;
  };
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    grip.dataset.held = "1";
  });
  grip.addEventListener("pointermove", (event) => grip.dataset.held && put(offsetAt(event)));
  grip.addEventListener("pointerup", () => delete grip.dataset.held);
  grip.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1, PageUp: BY_TEN, PageDown: -BY_TEN }[event.key];
    if (by) put(at + by);
    else if (event.key === "Home") put(0);
    else if (event.key === "End") put(most);
    else if (event.key === "Enter" || event.key === " ") tell(at);
    else return;
    event.preventDefault();
  });
  put(at);
  svg.append(grip);
  bar([t("hand.confirm"), () => tell(at), "primary"]);
}

/** One thing that can be pressed: by click, Enter or space. */
function pressable(svg, box, label, role, act) {
  const one = el("g", { tabindex: 0, role, "aria-label": label });
  one.append(el("rect", { class: "pick", rx: 8, ...box }));
  one.addEventListener("click", () => act(one));
  one.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(one);
  });
  svg.append(one);
  return one;
}

const whole = (lane) => ({
  x: lane.x - 10,
  y: lane.top,
  width: lane.w + 20,
  height: lane.floor - lane.top + 50,
});

function tanksOnce(svg, ask, { geo, step }, t) {
  for (const [id, lane] of geo.lanes)
    pressable(svg, whole(lane), nameOf(step, id), "button", () => tell(id));
  bar([t("hand.nobody"), () => tell("nobody")]);
}

const nameOf = (step, id) => step.view.brokers.find((one) => one.id === id)?.name ?? String(id);

function tanksMany(svg, ask, { geo, step }, t) {
  const part = step.view.partitions.find((one) => one.p === ask.tp);
  const picked = new Set(part.record.isr);
  for (const [id, lane] of geo.lanes) {
    if (part.replicas[id]) toggle(svg, whole(lane), nameOf(step, id), picked, id);
  }
  bar([t("hand.confirm"), () => tell([...picked].join(",") || "none"), "primary"]);
}

function toggle(svg, box, label, picked, value) {
  const one = pressable(svg, box, label, "checkbox", (me) => {
    if (!picked.delete(value)) picked.add(value);
    me.setAttribute("aria-checked", picked.has(value));
  });
  one.setAttribute("aria-checked", picked.has(value));
}

/** The records that a replica has, each clicked where its topmost copy stands. */
function records(svg, ask, { geo, step }, t) {
  const part = step.view.partitions.find((one) => one.p === ask.tp);
  const picked = new Set();
  const seen = new Set();
  const holders = Object.entries(part.replicas).sort(([, a], [, b]) => b.leo - a.leo);
  for (const [id, replica] of holders)
    for (const one of replica.records) {
      const lane = geo.lanes.get(Number(id));
      if (seen.has(one.id) || !lane) continue;
      seen.add(one.id);
      const y = geo.y(one.o + 1, lane);
      const height = Math.max(8, geo.y(one.o, lane) - y);
      toggle(svg, { x: lane.x, y, width: lane.w, height }, one.id, picked, one.id);
    }
  bar([t("hand.confirm"), () => tell([...picked].join(",") || "none"), "primary"]);
}
