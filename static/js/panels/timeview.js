// The space-time view in the page: what is seen of it is drawn, the rest is room to scroll over.

import { effect, signal } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";

import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { stepsBetween } from "../animator/until.js";
import { capital } from "../i18n/words.js";
import { patch, SVG } from "../scene/draw.js";
import { field, HEAD, nodesOf, ROW, spacetime, windowOf } from "../scene/spacetime.js";
import { FILTERS } from "../scene/ways.js";

const hidden = signal(new Set()); // nodes without a line
const filter = signal("all");

let heads,
  scroller,
  svg,
  root,
  asking = null;

/** Builds the view in `element`; it draws itself while it is the one chosen. */
export function mount(element) {
  if (scroller) return;
  element.innerHTML =
    '<div class="stheads"></div><div class="stscroll" tabindex="0" role="group"></div>';
  [heads, scroller] = element.children;
  svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  root = document.createElementNS(SVG, "g");
  svg.append(root);
  scroller.append(svg);
  let queued = false;
  scroller.addEventListener(
    "scroll",
    () => {
      if (queued) return;
      queued = true;
      requestAnimationFrame(() => {
        queued = false;
        draw();
      });
    },
    { passive: true },
  );
  svg.addEventListener("click", (event) => {
    const y = event.clientY - svg.getBoundingClientRect().top;
    goTo(Math.round((y - HEAD - ROW / 2) / ROW), { leaveCrumb: true });
  });
  new ResizeObserver(() => draw()).observe(scroller);
  effect(() => {
    void s.n.value;
    void s.run.value;
    void s.revision.value;
    void s.words.value;
    void s.partition.value;
    void hidden.value;
    void filter.value;
    if (s.view.value === "spacetime") draw();
  });
}

let revealed = null;

/** Brings the step one rests on into sight, once for each place one comes to. */
function reveal() {
  const here = `${s.run.value}@${s.n.value}`;
  if (revealed === here) return;
  revealed = here;
  const y = HEAD + s.n.value * ROW;
  const { scrollTop, clientHeight } = scroller;
  if (y < scrollTop + HEAD || y > scrollTop + clientHeight - 2 * ROW)
    scroller.scrollTop = Math.max(0, y - clientHeight / 2);
}

function draw() {
  const on = s.tapeNow.value;
  const step = s.step.value;
  if (s.view.value !== "spacetime" || !on || !step || !scroller.clientWidth) return;
  const { total } = on.facts;
  const all = nodesOf(step.view);
  const nodes = all.filter((node) => !hidden.value.has(node));
  const width = Math.max(scroller.clientWidth - 2, 90 * nodes.length + 130);
  const { height } = field(nodes, { width, total });
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  reveal();
  const [first, last] = windowOf(scroller.scrollTop, scroller.clientHeight, total);
  const steps = [];
  for (let n = Math.max(0, first); n <= last; n += 1)
    if (on.steps.has(n)) steps.push(on.steps.get(n));
  const made = spacetime(steps, {
    nodes,
    width,
    total,
    n: s.n.value,
    partition: s.partition.value,
    filter: filter.value,
    t: s.t.value,
    name: s.name.value,
  });
  patch(root, made.nodes);
  scroller.setAttribute("aria-label", s.t.value("spacetime.label", { n: s.n.value, total }));
  scroller.dataset.from = steps[0]?.n ?? 0;
  scroller.dataset.to = steps.at(-1)?.n ?? 0;
  render(html`<${Heads} all=${all} shown=${nodes} width=${width} total=${total} />`, heads);
  if (steps.length < last - first + 1) fill(on, first, last);
}

/** Asks for the steps of the window that are not known yet, one window at a time. */
async function fill(on, first, last) {
  if (asking || !s.online.value) return;
  asking = stepsBetween(on, Math.max(-1, first - 1), last).catch(() => null);
  await asking;
  asking = null;
  if (s.tapeNow.value === on) draw();
}

function Heads({ all, shown, width, total }) {
  const t = s.t.value;
  const at = field(shown, { width, total });
  const turn = (node) => {
    const next = new Set(hidden.value);
    if (next.has(node)) next.delete(node);
    else if (shown.length > 1) next.add(node);
    hidden.value = next;
  };
  const label = (node) =>
    node === "K"
      ? t("ctl.kraft")
      : /^\d/.test(node)
        ? t("card.name", { name: s.name.value(node, true) })
        : capital(s.name.value(node));
  return html`<div class="row stbar">
      <label class="field"
        >${t("spacetime.kinds")}${" "}<select
          value=${filter.value}
          onChange=${(e) => {
            filter.value = e.target.value;
          }}
        >
          ${FILTERS.map(
            (one) => html`<option key=${one} value=${one}>${t(`spacetime.${one}`)}</option>`,
          )}
        </select></label
      >
      <span class="row tight" role="group" aria-label=${t("spacetime.nodes")}
        >${all.map(
          (node) =>
            html`<button
              key=${node}
              type="button"
              class="btn"
              aria-pressed=${hidden.value.has(node) ? "false" : "true"}
              onClick=${() => turn(node)}
            >
              ${label(node)}
            </button>`,
        )}</span
      >
    </div>
    <div
      class="stnames"
      aria-hidden="true"
      style=${`width:${width}px;transform:translateX(${-scroller.scrollLeft}px)`}
    >
      ${shown.map(
        (node) =>
          html`<span
            key=${node}
            style=${`left:${at.x(node)}px;max-width:${Math.round(at.room - 6)}px`}
            >${label(node)}</span
          >`,
      )}
    </div>`;
}
