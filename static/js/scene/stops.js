// Where the keyboard stops inside a lane: every record, mark and chip of its picture, in the order
// in which they are drawn, each with the words of its tooltip.  Pure.

import { around, nodes } from "./spots.js";

/** [{id, what, label, x, y, w, h}] of one broker's lane. */
export function stops({ logs, geo }, broker, { t }) {
  const lane = logs.find((one) => one.k === `lane${broker}`);
  const own = `b${broker}:`;
  const found = [];
  for (const one of nodes(lane?.c)) {
    const id = one.a?.["data-id"] ?? "";
    if (!id.startsWith(own)) continue;
    const label = one.a["data-run"]
      ? runWords(one.a["data-run"], t)
      : one.c?.find((child) => child.t === "title")?.x;
    if (label)
      found.push({
        id,
        what: /^[a-z]+/.exec(id.slice(own.length))?.[0] ?? "",
        label,
        ...place(one, geo, geo.lanes.get(broker)),
      });
  }
  return found;
}

const runWords = (run, t) => {
  const [a, b, e] = run.split("/");
  return t("cell.run", { a, b: Number(b) - 1, e });
};

/** The box of a node: its own rectangle or circle, or the place of the offset it stands for. */
function place(one, geo, lane) {
  const box = one.t === "rect" ? one : one.c?.find((child) => child.t === "rect");
  if (box) return around(box.a);
  const round = one.c?.find((child) => child.t === "circle")?.a;
  if (round)
    return around({
      x: round.cx - round.r,
      y: round.cy - round.r,
      width: 2 * round.r,
      height: 2 * round.r,
    });
  const what = /[a-z]+/.exec(one.a["data-id"].split(":")[1])?.[0];
  return around(geo.boxes.spot(lane.id, Number(one.a["data-value"]) || 0, what));
}

/** The stop of another lane that stands for the same: the same offset or mark, or else one as
 *  far along. */
export function beside(list, from, index) {
  const same = from.id.replace(/^b-?\d+/, "");
  const found = list.findIndex((one) => one.id.replace(/^b-?\d+/, "") === same);
  return found >= 0 ? found : Math.min(index, list.length - 1);
}
