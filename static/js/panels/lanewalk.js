// Walking along a log by keyboard: the stop one is on, the one before and the one after are real
// buttons over the scene.  Up and down lead to the same offset on another broker, Escape back out.

import { html } from "htm/preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import * as s from "../animator/state.js";
import { beside, stops } from "../scene/stops.js";

const ARROWS = {
  ArrowRight: (i) => i + 1,
  ArrowLeft: (i) => i - 1,
  Home: () => 0,
  End: (i, last) => last,
};

/** What one stands on is lit, and its broker selected. */
function stand(one, broker) {
  s.selected.value = `b${broker}`;
  s.lit.value = one.id;
}

/** Keeps the focus on the stop one is on, and that stop in sight. */
function useFocus(box, inside, { id, at }) {
  const here = inside.value;
  useLayoutEffect(() => {
    if (!here) return;
    const free =
      document.activeElement === document.body ||
      box.current?.contains(document.activeElement) ||
      here.entering;
    const button = box.current?.querySelector(`[data-stop="${CSS.escape(id ?? "")}"]`);
    if (free && button && document.activeElement !== button) button.focus({ preventScroll: true });
    button?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (here.entering) inside.value = { broker: here.broker, id, index: at };
  }, [id, here]);
}

/** `inside`: signal {broker, id, index} of the stop; `leave(broker)` goes back to the lane,
 *  `press(stop, element)` acts. */
export function LaneWalk({ drawn, inside, leave, press }) {
  const t = s.t.value;
  const box = useRef(null);
  const here = inside.value;
  const list = here ? stops(drawn, here.broker, { t }) : [];
  // A record that is gone leaves us at the one in its place.
  const known = list.findIndex((one) => one.id === here?.id);
  const at = known >= 0 ? known : Math.max(0, Math.min(here?.index ?? 0, list.length - 1));
  const id = list[at]?.id;
  useFocus(box, inside, { id, at });
  if (!here || !list.length) return null;
  const to = (broker, next, all) => {
    const index = Math.max(0, Math.min(next, all.length - 1));
    if (all.length) inside.value = { broker, id: all[index].id, index };
  };
  const keys = (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      leave(here.broker);
      return;
    }
    const dir = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!dir && !ARROWS[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (!dir) {
      to(here.broker, ARROWS[event.key](at, list.length - 1), list);
      return;
    }
    const brokers = [...drawn.geo.lanes.keys()];
    const broker = brokers[brokers.indexOf(here.broker) + dir];
    if (broker === undefined) return;
    const others = stops(drawn, broker, { t });
    to(broker, beside(others, list[at], at), others);
  };
  const out = (event) => {
    if (event.relatedTarget && !event.relatedTarget.closest(".walk, .menu, .whybox")) {
      inside.value = null;
      s.lit.value = null;
    }
  };
  return html`<div
    class="walk"
    role="group"
    aria-label=${t("walk.in", { b: t("card.name", { name: s.name.value(here.broker, true) }) })}
    ref=${box}
    onKeyDown=${keys}
    onFocusOut=${out}
  >
    ${list
      .slice(Math.max(0, at - 1), at + 2)
      .map(
        (one) =>
          html`<button
            key=${one.id}
            type="button"
            class="hit stop"
            data-stop=${one.id}
            tabindex=${one.id === id ? 0 : -1}
            aria-label=${one.label}
            style=${`left:${one.x}px;top:${one.y}px;width:${one.w}px;height:${one.h}px`}
            onFocus=${() => stand(one, here.broker)}
            onClick=${(event) => press(one, event.currentTarget)}
          ></button>`,
      )}
  </div>`;
}
