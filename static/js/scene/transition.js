// From one step's picture to the next one's: scene(before, after, progress), and what stands on the
// stage only on the way.  Pure; at progress 0 and 1 it is exactly the one picture or the other.

import { acts, fates } from "./acts.js";
import { clamp } from "./fates.js";
import { easeOut, mix, travels } from "./motion.js";
import { g, icon, path, rect, text, textWidth } from "./node.js";

/** progress => {logs, over}, for two pictures {step, geo, logs, over}; `t` names the cut. */
export function transition(a, b, { t }) {
  const found = acts(a.step, b.step, b.geo.part.p);
  const moving = travels(a.over, b.over);
  const how = { fate: fates(found), cause: moving || found.cause };
  return (p) => {
    if (p <= 0 || p >= 1) {
      const { logs, over } = p <= 0 ? a : b;
      return { logs, over };
    }
    return {
      logs: mix(a.logs, b.logs, p, how),
      over: [
        ...mix(a.over, b.over, p, how),
        ...scenery(found, a.geo, p, { t, after: moving ? 0.3 : 0 }),
      ],
    };
  };
}

/** Bolts and lines that come before an effect and go with it.  `after`: when they begin. */
function scenery({ crashed, cuts }, geo, p, { t, after }) {
  const here = easeOut(clamp((p - after) / (0.5 - after)));
  const left = 1 - clamp((p - 0.6) / 0.34);
  const opacity = Math.round(Math.min(here, left) * 100) / 100;
  if (opacity <= 0) return [];
  const drop = Math.round(-22 * (1 - here) * 100) / 100;
  const a = { opacity, transform: `translate(0,${drop})` };
  return [
    ...[...crashed].map((b) => bolt(geo, b, a)),
    ...[...cuts].map(([b, o]) => cutLine(geo, b, o, a, t)),
  ].filter(Boolean);
}

function bolt(geo, broker, a) {
  if (!geo.lanes.get(broker)) return null;
  const { x, y, size } = geo.boxes.bolt(broker);
  return g(`bolt${broker}`, [icon("i", "bolt", x, y, size, "bolt")], a);
}

function cutLine(geo, broker, offset, a, t) {
  if (!geo.lanes.get(broker) || offset < geo.fold) return null;
  const { d, x, y, centred } = geo.boxes.cut(broker, offset);
  const label = t("mark.parts", { o: offset });
  const { small } = geo.type;
  const wide = textWidth(label, small, true) + 14;
  const wish = centred ? x - wide / 2 : x + 6;
  const left = Math.max(4, Math.min(wish, geo.width - wide - 4));
  return g(
    `cutline${broker}`,
    [
      path("l", d, "cutline"),
      rect("r", left, y - 21, wide, 18, "partbox", { rx: 4 }),
      text("t", left + 7, y - 7, label, "parttext", { size: small }),
    ],
    { ...a, "data-act": `cut:${broker}:${offset}` },
  );
}
