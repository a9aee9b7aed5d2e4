// What happened at a step of the space-time diagram, beside the messages: ends, marks, crashes.

import { partOf } from "../core/partition.js";
import { circle, icon, text } from "./node.js";

/** Brokers that went down or began again at this step. */
function processes(step, before, at, shown) {
  const out = [];
  const y = at.y(step.n);
  for (const b of step.view.brokers) {
    const was = before?.view.brokers.find((one) => one.id === b.id)?.alive;
    if (!was || was === b.alive || !shown.has(String(b.id))) continue;
    if (b.alive === "down")
      out.push(icon(`k${step.n}-${b.id}`, "cross", at.x(b.id) - 7, y - 7, 14, "bad"));
    else if (was === "down")
      out.push(icon(`k${step.n}-${b.id}`, "restart", at.x(b.id) - 7, y - 7, 14, "warn"));
  }
  return out;
}

/** What happened at a step: a dot where, what ends and marks became, crashes and restarts. */
export function events(step, before, at, shown, { partition, t }) {
  const out = [];
  const y = at.y(step.n);
  const node = String(step.at ?? "");
  if (shown.has(node))
    out.push(
      circle(
        `d${step.n}`,
        at.x(node),
        y,
        step.moment >= 2 ? 5 : 3,
        `stdot ${step.moment >= 2 ? "moment" : ""} ${step.broken.length ? "bad" : ""}`,
      ),
    );
  for (const [id, r] of Object.entries(partOf(step.view, partition).replicas)) {
    if (!shown.has(id) || !before) continue;
    const old = partOf(before.view, partition).replicas[id];
    const words = [
      old && old.leo !== r.leo && `LEO ${r.leo}`,
      old && old.hw !== r.hw && `HW ${r.hw}`,
    ]
      .filter(Boolean)
      .join(" ");
    if (words) out.push(text(`v${step.n}-${id}`, at.x(id) + 8, y + 12, words, "stvalue"));
    const led = old?.role === "leader" && old.belief.le === r.belief.le;
    if (r.role === "leader" && !led)
      out.push(
        text(
          `e${step.n}-${id}`,
          at.x(id) - 8,
          y - 3,
          t("msg.epoch", { e: r.belief.le }),
          "stvalue strong",
          { "text-anchor": "end" },
        ),
      );
  }
  out.push(...processes(step, before, at, shown));
  return out;
}
