// Real buttons over the things of the stage that can be pressed, and the menu they open.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { whyNot } from "../animator/asking_why.js";
import * as s from "../animator/state.js";
import { spots } from "../scene/spots.js";
import { drawn, Menu, openMenu } from "./menu.js";
import { things } from "./things.js";

/** {broker, id, index}: the lane that was entered, and where one is in it. */
const inside = signal(null);
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
  /** @type {SVGElement | null} */
  const lane = document.querySelector(`[data-hit="lane:${broker}"]`);
  lane?.focus({ preventScroll: true });
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

/** Up and down go from thing to thing of a group. */
function walk(event) {
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
}

/** `onPress` opens what belongs to the thing: its menu, or the answer to a why. */
function Group({ list, label, kind = "", onPress = openMenu }) {
  const box = useRef(null);
  const held = useRef(null); // what has the focus: when it goes away, the focus stays in the group
  const last = useRef(null); // where one was in this group: Tab comes back to it
  const leaving = useRef(false); // the focus is on its way to something else
  useLayoutEffect(() => {
    if (!held.current || document.activeElement !== document.body) return;
    if (held.current.isConnected && leaving.current) return;
    const moved = held.current.isConnected ? held.current : null; // a mark became a tank
    held.current = null;
    (
      moved ??
      box.current?.querySelector('[tabindex="0"]') ??
      document.querySelector('#hits [data-hit^="b"][tabindex="0"]')
    )?.focus({ preventScroll: true });
  });
  if (!list.length) return null;
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
    if (!/^(why:|fold$|more$)/.test(one.id)) s.selected.value = one.id.replace(/^lane:/, "b");
  };
  const left = ({ target }) => {
    leaving.current = true;
    s.lit.value = null;
    queueMicrotask(() => {
      leaving.current = false;
      if (target.isConnected && held.current === target) held.current = null;
    });
  };
  return html`<div role="group" aria-label=${label} ref=${box} onKeyDown=${walk} onFocusOut=${left}>
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

/** A press on a tank, where nothing smaller is, means its broker: one presses what is large. */
function pressTank({ target }) {
  const broker = target.closest(".tank")?.querySelector("[data-alive]");
  /** @type {HTMLElement | null} */
  const hit = broker && document.querySelector(`[data-hit="${broker.dataset.id}"]`);
  hit?.click();
}

export function Hits() {
  const t = s.t.value;
  useEffect(() => {
    const stage = document.getElementById("stage");
    stage?.addEventListener("click", pressTank);
    return () => stage?.removeEventListener("click", pressTank);
  }, []);
  if (!drawn.value) return null;
  return html`<div class="hits">
    ${things(drawn.value, enterLane).map(
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
