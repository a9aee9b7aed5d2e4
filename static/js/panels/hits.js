// Real buttons over the things of the stage that can be pressed, and the menu they open.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { loadPossible } from "../animator/acting.js";
import { pick } from "../animator/choose.js";
import { Surgery, whyNot } from "../animator/doors.js";
import * as s from "../animator/state.js";
import { around, nodes, spots } from "../scene/spots.js";
import { Icon } from "./common.js";
import { MoveButton } from "./moves.js";

export const drawn = signal(null); // what the stage shows at rest
const menu = signal(null); // {id, label, x, y}
const inside = signal(null); // {broker, id, index}: the lane that was entered, and where one is in it
const walker = signal(null); // loaded when a lane is first entered

/** Goes into a lane: to the end of its log, where things happen. */
function enterLane(broker) {
  inside.value = { broker, id: `b${broker}:leo`, index: 0, entering: true };
  loadWalker();
}

function loadWalker() {
  if (!walker.value)
    import("./lanewalk.js").then(
      (loaded) => {
        walker.value = loaded.LaneWalk;
      },
      () => {
        inside.value = null;
      },
    );
}

function leaveLane(broker) {
  inside.value = null;
  s.lit.value = null;
  document.querySelector(`[data-hit="lane:${broker}"]`)?.focus({ preventScroll: true });
}

/** Marks answer why they stand where they stand; all else opens what can be done with the log. */
function pressStop(stop, element) {
  const broker = inside.value.broker;
  if (/^(hw|leaderhw|mem|cp)$/.test(stop.what)) {
    whyNot(`hw ${s.name.value(broker, true)}`, element);
    return;
  }
  openMenu(
    {
      ...stop,
      id: `log:${broker}`,
      label: s.t.value("hit.log", {
        b: s.t.value("card.name", { name: s.name.value(broker, true) }),
      }),
    },
    element,
  );
}

/** The things one can press: controller and clients, brokers, their logs, messages and links. */
function things({ geo, step, logs: drawnLogs, over }) {
  const name = s.name.value;
  const t = s.t.value;
  const cards = [...geo.lanes.values()].map((lane) => ({
    id: `b${lane.id}`,
    label: t("hit.broker", { b: t("card.name", { name: name(lane.id, true) }) }),
    x: geo.cardX + 6,
    y: lane.y + 5,
    w: geo.cardW - 8,
    h: geo.narrow ? geo.cardH - 8 : geo.laneH - 10,
  }));
  const clients = [...nodes(drawnLogs)]
    .filter((n) => n.k.startsWith("client-"))
    .map((n) => ({
      id: n.a["data-id"],
      label: n.c.find((one) => one.k === "title").x,
      ...around(n.c.find((one) => one.k === "bg").a),
    }));
  const top = [
    {
      id: "K",
      label: t("hit.controller"),
      x: geo.narrow ? 0 : geo.gutter,
      y: 3,
      w: geo.cardW,
      h: 36,
    },
    ...clients,
  ];
  const flying = over
    .filter((n) => n.m?.at)
    .map((n) => {
      const m = step.view.messages.find((one) => `msg-${one.id}` === n.k);
      return {
        id: `m${m?.id}`,
        label: t(m?.reply ? "hit.answer" : "hit.message", {
          kind: m?.kind,
          a: name(m?.from, true),
          b: name(m?.to, true),
        }),
        x: n.m.at[0] - 64,
        y: n.m.at[1] - 18,
        w: 128,
        h: 36,
      };
    });
  const links = over
    .filter((n) => n.a["data-id"]?.startsWith("link:"))
    .map((n) => {
      const box = n.c.find((one) => one.k === "bg");
      const [, a, b] = n.a["data-id"].split(":");
      return {
        id: n.a["data-id"],
        label: t("hit.link", { a: name(a, true), b: name(b, true) }),
        x: box.a.x,
        y: box.a.y - 4,
        w: box.a.width,
        h: 28,
      };
    });
  // The flag of a log's end stands for the log: what can be written to it, flushed, cut off its beginning.
  const logs = [...geo.lanes.values()]
    .filter((lane) => geo.d.labels && geo.part.replicas[lane.id])
    .map((lane) => ({
      id: `log:${lane.id}`,
      label: t("hit.log", { b: t("card.name", { name: name(lane.id, true) }) }),
      x: geo.x(geo.part.replicas[lane.id].leo) + 4,
      y: lane.log + geo.d.cell - 22,
      w: 58,
      h: 24,
    }));
  const fold =
    geo.foldW > 0
      ? [
          {
            id: "fold",
            label: t("corner.unfold"),
            x: geo.left - 4,
            y: geo.heads.ruler,
            w: geo.foldW,
            h: 28,
            act: () => {
              s.unfolded.value = true;
            },
          },
        ]
      : [];
  const lanes = [...geo.lanes.values()]
    .filter((lane) => geo.part.replicas[lane.id])
    .map((lane) => ({
      id: `lane:${lane.id}`,
      kind: "through",
      label: t("hit.lane", { b: t("card.name", { name: name(lane.id, true) }) }),
      x: geo.logX,
      y: lane.log + 3,
      w: geo.logW,
      h: geo.d.lane - 6,
      act: () => enterLane(lane.id),
    }));
  return [
    ["top", top],
    ["fold", fold],
    ["lanes", cards],
    ["walk", lanes],
    ["logs", logs],
    ["flying", flying],
    ["links", links],
  ];
}

function openMenu(thing, target) {
  s.selected.value = thing.id;
  menu.value = { ...thing, from: target };
  loadPossible();
}

/** `onPress` opens what belongs to the thing: its menu, or the answer to a why. */
function Group({ list, label, kind = "", onPress = openMenu }) {
  const box = useRef(null);
  const held = useRef(null); // what has the focus: when it goes away, the focus stays in the group
  const last = useRef(null); // where one was in this group: Tab comes back to it
  useLayoutEffect(() => {
    if (!held.current || held.current.isConnected || document.activeElement !== document.body)
      return;
    held.current = null;
    (
      box.current?.querySelector('[tabindex="0"]') ??
      document.querySelector('#hits [data-hit^="b"][tabindex="0"]')
    )?.focus({ preventScroll: true });
  });
  if (!list.length) return null;
  const keys = (event) => {
    // Keys on the way into a lane belong to the lane, not to the run.
    if (inside.value?.entering && /^(Arrow|Home|End)/.test(event.key)) {
      event.preventDefault();
      return;
    }
    const all = [...event.currentTarget.querySelectorAll("button")];
    const dir = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!dir) return;
    event.preventDefault();
    event.stopPropagation();
    all[(all.indexOf(document.activeElement) + dir + all.length) % all.length]?.focus();
  };
  const known = (id) => list.findIndex((one) => one.id === id);
  const stop = Math.max(
    0,
    known(last.current) >= 0 ? known(last.current) : known(s.selected.value),
  );
  const focused = (one, target) => {
    held.current = target;
    last.current = one.id;
    if (one.kind === "through") loadWalker();
    s.lit.value = lights(one.id);
    if (!one.id.startsWith("why:") && one.id !== "fold")
      s.selected.value = one.id.replace(/^lane:/, "b");
  };
  const left = ({ target }) => {
    s.lit.value = null;
    queueMicrotask(() => {
      if (target.isConnected && held.current === target) held.current = null;
    });
  };
  return html`<div role="group" aria-label=${label} ref=${box} onKeyDown=${keys} onFocusOut=${left}>
    ${list.map(
      (one, i) =>
        html`<button
          key=${one.id}
          type="button"
          class=${`hit ${kind} ${one.kind ?? ""} ${s.selected.value === one.id ? "sel" : ""}`}
          data-hit=${one.id}
          tabindex=${i === stop ? 0 : -1}
          aria-label=${one.label}
          aria-haspopup=${one.act ? null : "dialog"}
          style=${`left:${one.x}px;top:${one.y}px;width:${one.w}px;height:${one.h}px`}
          onClick=${(e) => (one.act ? one.act() : onPress(one, e.currentTarget))}
          onFocus=${(e) => focused(one, e.currentTarget)}
          onPointerEnter=${() => {
            s.lit.value = lights(one.id);
          }}
          onPointerLeave=${() => {
            s.lit.value = null;
          }}
        ></button>`,
    )}
  </div>`;
}

/** What of the scene a thing lights up. */
const lights = (id) => id.replace("why:", "").replace(/^(log|lane):(-?\d+)$/, "b$2:leo");

/** Does a move speak of this thing? */
function concerns(move, id, step) {
  const tokens = move.text.split(/[\s]+/).slice(1);
  const broker = /^b(-?\d+)$/.exec(id);
  if (broker) {
    const own = step.view.brokers.find((b) => String(b.id) === broker[1]);
    const names = [broker[1], own?.name].filter((v) => v !== undefined && v !== null).map(String);
    return tokens.some((token) => token.split(/->|>/).some((part) => names.includes(part)));
  }
  const log = /^log:(-?\d+)$/.exec(id);
  if (log) {
    const own = step.view.brokers.find((b) => String(b.id) === log[1])?.name || log[1];
    return (
      (/^produce .* to /.test(move.text) && tokens.at(-1) === own) ||
      (/^(checkpoint|flush) /.test(move.text) && tokens[0] === own) ||
      /^delete records /.test(move.text)
    );
  }
  const link = /^link:(.+):(.+)$/.exec(id);
  if (link) {
    const label = (node) => step.view.brokers.find((one) => String(one.id) === node)?.name || node;
    const [a, b] = [label(link[1]), label(link[2])];
    const said = tokens.slice(0, 2).join(" ");
    return (
      said === `${a} ${b}` ||
      said === `${b} ${a}` ||
      [`${a}->${b}`, `${b}->${a}`].includes(tokens[0]) ||
      (b === "K" && /^(md|alter)$/.test(tokens[0]) && tokens[1] === a)
    );
  }
  if (id === "K") return tokens.includes("K") || /^(elect|set|reassign)\b/.test(move.text);
  return step.view.clients.some((one) => String(one.id) === id) && tokens.includes(id);
}

/** What may be asked about a thing: [words of the button, subject]. */
function asks(id) {
  if (id === "K") return [["whynot.menu.lead", "leader"]];
  const broker = /^b(\d+)$/.exec(id)?.[1];
  if (broker === undefined) return [];
  const who = s.name.value(Number(broker), true);
  return [
    ["whynot.menu.lead", `leader ${who}`],
    ["whynot.menu.isr", `isr ${who}`],
  ];
}

function Menu() {
  const t = s.t.value;
  const box = useRef(null);
  const at = menu.value;
  const close = () => {
    const from = menu.value?.from;
    menu.value = null;
    from?.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (!at) return undefined;
    box.current?.querySelector("button")?.focus({ preventScroll: true });
    const outside = (event) => {
      if (!box.current?.contains(event.target)) menu.value = null;
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [at?.id]);
  useEffect(() => {
    menu.value = null;
  }, [s.n.value, s.run.value]);
  if (!at || !s.step.value) return null;
  const ready = s.possible.value.key === `${s.run.value}@${s.n.value}`;
  const mine = ready ? s.possible.value.moves.filter((m) => concerns(m, at.id, s.step.value)) : [];
  const message = s.step.value.view.messages.find((one) => `m${one.id}` === at.id);
  const past = s.facts.value && s.n.value < s.facts.value.total;
  const width = drawn.value?.geo.width ?? 600;
  const zoom = drawn.value?.zoom ?? 1;
  // The whole menu stays in sight, and keeps its size whatever the size of the stage.
  const stage = document.getElementById("stagebox");
  const seen =
    s.phone.value || stage.scrollHeight > 2 * innerHeight
      ? Infinity
      : (stage.scrollTop + stage.clientHeight) / zoom - 344 / zoom;
  const top = Math.max(4, Math.min(at.y, seen));
  return html`<div
    class="menu"
    role="dialog"
    aria-label=${at.label}
    ref=${box}
    style=${`left:${Math.max(6, Math.min(at.x + at.w + 8, width - 268))}px;top:${top}px;transform:scale(${1 / zoom})`}
    onKeyDown=${(e) => {
      if (e.key === "Escape") {
        e.stopPropagation();
        close();
      }
    }}
  >
    <header>
      <h3>${at.label}</h3>
      <button type="button" class="btn quiet square" aria-label=${t("bad.close")} onClick=${close}>
        <${Icon} name="close" />
      </button>
    </header>
    ${past && html`<p class="soft">${t("moves.branches")}</p>`}
    ${!ready && html`<p class="soft">…</p>`}
    ${
      ready &&
      message &&
      html`<${Surgery}
        message=${message}
        onDone=${() => {
          menu.value = null;
        }}
      />`
    }
    <ul class="moves">
      ${mine
        .filter((m) => m.enabled)
        .map(
          (m) =>
            html`<${MoveButton}
              key=${m.text}
              move=${m}
              onDone=${() => {
                menu.value = null;
              }}
            />`,
        )}
    </ul>
    ${
      mine.some((m) => !m.enabled) &&
      html`<details>
        <summary>${t("moves.cannot", { n: mine.filter((m) => !m.enabled).length })}</summary>
        <ul class="moves no">
          ${mine
            .filter((m) => !m.enabled)
            .map((m) => html`<${MoveButton} key=${m.text} move=${m} />`)}
        </ul>
      </details>`
    }
    ${ready && !message && !mine.length && html`<p class="soft">${t("menu.nothing")}</p>`}
    <p class="row">
      <button
        type="button"
        class="btn"
        onClick=${() => {
          s.selected.value = at.id;
          pick("inspect");
          close();
        }}
      >
        ${t("menu.inspect")}</button
      >${asks(at.id).map(
        ([key, subject]) =>
          html`<button
            key=${key}
            type="button"
            class="btn"
            onClick=${(e) => whyNot(subject, e.currentTarget)}
          >
            ${t(key)}
          </button>`,
      )}
    </p>
  </div>`;
}

export function Hits() {
  const t = s.t.value;
  if (!drawn.value) return null;
  return html`<div
    class="hits"
    style=${`transform:scale(${drawn.value.zoom});width:${100 / drawn.value.zoom}%`}
  >
    ${things(drawn.value).map(
      ([key, list]) => html`<${Group} key=${key} list=${list} label=${t(`hits.${key}`)} />`,
    )}<${Group}
      list=${spots(drawn.value, { t, name: s.name.value })}
      label=${t("hits.why")}
      kind="spot"
      onPress=${(one, from) => whyNot(one.subject, from)}
    />${
      walker.value &&
      inside.value &&
      html`<${walker.value}
        drawn=${drawn.value}
        inside=${inside}
        leave=${leaveLane}
        press=${pressStop}
      />`
    }<${Menu} />
  </div>`;
}
