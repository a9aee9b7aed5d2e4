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
  const focus = useRef(null); // what has the focus: when it goes away, the focus stays in the group
  const lastFocus = useRef(null); // what had the focus before: Tab comes back to it
  const leaving = useRef(false); // the focus is on its way to something else
  useLayoutEffect(() => {
    if (!focus.current || document.activeElement !== document.body) return;
    if (focus.current.isConnected && leaving.current) return;
    const moved = focus.current.isConnected ? focus.current : null; // a mark became a tank
    focus.current = null;
    (
      moved ??
      box.current?.querySelector('[tabindex="0"]') ??
      document.querySelector('#hits [data-hit^="b"][tabindex="0"]')
    )?.focus({ preventScroll: true });
  });
  if (!list.length) return null;
  const indexOf = (id) => list.findIndex((thing) => thing.id === id);
  const tabStop = Math.max(
    0,
    indexOf(lastFocus.current) >= 0 ? indexOf(lastFocus.current) : indexOf(s.selected.value),
  );
  const focused = (thing, target) => {
    focus.current = target;
    lastFocus.current = thing.id;
    if (thing.kind === "through") loadWalker();
    s.lit.value = lights(thing.id);
    if (!/^(why:|fold$|more$)/.test(thing.id)) s.selected.value = thing.id.replace(/^lane:/, "b");
  };
  const left = ({ target }) => {
    leaving.current = true;
    s.lit.value = null;
    queueMicrotask(() => {
      leaving.current = false;
      if (target.isConnected && focus.current === target) focus.current = null;
    });
  };
  return html`<div role="group" aria-label=${label} ref=${box} onKeyDown=${walk} onFocusOut=${left}>
    ${list.map(
      (thing, i) =>
        html`<button
          key=${thing.id}
          type="button"
          class=${`hit ${kind} ${thing.kind ?? ""} ${s.selected.value === thing.id ? "sel" : ""}`}
          data-hit=${thing.id}
          tabindex=${i === tabStop ? 0 : -1}
          aria-label=${thing.label}
          aria-haspopup=${thing.act ? null : "dialog"}
          style=${`left:${thing.x}px;top:${thing.y}px;width:${thing.w}px;height:${thing.h}px`}
          onClick=${(e) => (thing.act ? thing.act() : onPress(thing, e.currentTarget))}
          onFocus=${(e) => focused(thing, e.currentTarget)}
          onPointerEnter=${() => {
            s.lit.value = lights(thing.id);
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
      onPress=${(spot, from) => whyNot(spot.subject, from)}
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
