// The same run as a space-time diagram: a vertical line for every node, time downwards, messages as
// slanted arrows.  Pure: a function of the steps that are known and of the window that is seen.

import { partOf } from "../core/partition.js";
import { events } from "./happenings.js";
import { epochClass, fit, g, line, path, rect, text } from "./node.js";
import { arrows, transitive, wantedKind } from "./ways.js";
import { essence } from "./words.js";

export const ROW = 28;
export const HEAD = 6;
const LEFT = 104;

/** The nodes of a view in the order of their lines: producers, controller and its voters, brokers,
 *  consumers. */
export function nodesOf(view) {
  const clients = (kind) => view.clients.filter((c) => c.kind === kind).map((c) => String(c.id));
  return [
    ...clients("producer"),
    "K",
    ...(view.quorum?.voters ?? []).map((v) => v.id),
    ...view.brokers.map((b) => String(b.id)),
    ...clients("consumer"),
  ];
}

/** Where everything stands: {x(node), y(n), width, height}. */
export function field(nodes, { width, total }) {
  const room = (width - LEFT - 24) / Math.max(1, nodes.length);
  const xs = new Map(nodes.map((node, i) => [node, Math.round(LEFT + room * (i + 0.5))]));
  return {
    x: (node) => xs.get(String(node)),
    y: (n) => HEAD + n * ROW + ROW / 2,
    width,
    height: HEAD + (total + 1) * ROW + 12,
    room,
  };
}

/** The steps a window of pixels shows, with some above and below: [first, last]. */
export function windowOf(top, height, total, spare = 12) {
  if (total <= 400) return [0, total];
  return [
    Math.max(0, Math.floor((top - HEAD) / ROW) - spare),
    Math.min(total, Math.ceil((top + height - HEAD) / ROW) + spare),
  ];
}

/** The picture of the steps in the window.  `n`: the step one rests on. */
export function spacetime(
  steps,
  { nodes, width, total, n, partition = 0, filter = "all", t, name },
) {
  const at = field(nodes, { width, total });
  const shown = new Set(nodes);
  const ways = arrows(steps).filter((way) => wantedKind(way.m, filter));
  const first = steps[0]?.n ?? 0;
  const last = steps.at(-1)?.n ?? 0;
  const ends = { top: at.y(first) - ROW / 2, bottom: at.y(last) + ROW / 2 };
  return {
    ...at,
    nodes: [
      rect("here", 0, at.y(n) - ROW / 2, width, ROW, "sthere", { "data-id": "here", "data-n": n }),
      ...steps.map((step) =>
        text(
          `n${step.n}`,
          8,
          at.y(step.n) + 4,
          step.n,
          `mono small ${step.n === n ? "strong" : ""}`,
        ),
      ),
      ...steps
        .filter((step, i) => !i || step.t !== steps[i - 1].t)
        .map((step) =>
          text(
            `t${step.n}`,
            LEFT - 10,
            at.y(step.n) + 4,
            t("say.time_short", { ms: step.t }),
            "small mono",
            { "text-anchor": "end" },
          ),
        ),
      ...nodes.flatMap((node) => lifeline(steps, node, at, partition)),
      ...transitive(ways, shown).map((way) =>
        path(
          `tr${way.id}`,
          `M${at.x(way.a)} ${at.y(way.from)}L${at.x(way.b)} ${at.y(way.to)}`,
          "stvia",
        ),
      ),
      ...ways
        .filter((way) => shown.has(String(way.m.from)) && shown.has(String(way.m.to)))
        .map((way) => arrow(way, at, ends, { t, name })),
      ...steps.flatMap((step, i) => events(step, steps[i - 1], at, shown, { partition, t })),
    ],
  };
}

/** A node's line: a gap where its process is gone, coloured by epoch while it acts as leader. */
function lifeline(steps, node, at, partition) {
  const x = at.x(node);
  const out = [];
  /** @type {{from: number, to: number, cls: string} | null} */
  let stretch = null;
  const flush = () => {
    if (stretch)
      out.push(
        line(
          `l${node}-${stretch.from}`,
          x,
          at.y(stretch.from) - ROW / 2,
          x,
          at.y(stretch.to) + ROW / 2,
          stretch.cls,
        ),
      );
  };
  for (const step of steps) {
    const cls = looks(step.view, node, partition);
    if (stretch && stretch.cls === cls && stretch.to === step.n - 1) stretch.to = step.n;
    else {
      flush();
      stretch = { from: step.n, to: step.n, cls };
    }
  }
  flush();
  return out;
}

function looks(view, node, partition) {
  const voter = view.quorum?.voters.find((v) => v.id === node);
  if (voter) return voter.alive ? "stlife" : "stlife gone";
  if (node === "K") return view.controller.alive === false ? "stlife gone" : "stlife";
  const broker = view.brokers.find((b) => String(b.id) === node);
  if (!broker) return "stlife";
  if (broker.alive === "down") return "stlife gone";
  const replica = partOf(view, partition).replicas[node];
  if (replica?.role === "leader") return `stlife leads ${epochClass(replica.belief.le)}`;
  return broker.alive === "paused" ? "stlife paused" : "stlife";
}

function arrow({ m: message, from, to, lost }, at, ends, { t, name }) {
  const [x1, x2] = [at.x(message.from), at.x(message.to)];
  const y1 = from === null ? ends.top : at.y(from);
  const y2 = to === null ? ends.bottom : at.y(to);
  const [endX, endY] = lost ? [(x1 + x2) / 2, (y1 + y2) / 2] : [x2, y2];
  const length = Math.hypot(endX - x1, endY - y1) || 1;
  const [ux, uy] = [(endX - x1) / length, (endY - y1) / length];
  const tip = [endX - ux * 5, endY - uy * 5];
  const wing = (side) =>
    `${Math.round(tip[0] - ux * 5 + uy * side)} ${Math.round(tip[1] - uy * 5 - ux * side)}`;
  const label = fit(
    `${message.kind} ${essence(message, t, (id) => name(id, true))}`,
    Math.max(30, Math.abs(x2 - x1) - 24),
    10.5,
  );
  const kinds = [message.reply && "reply", lost && "lost", message.error && "error"];
  return g(
    `a${message.id}`,
    [
      path(
        "l",
        `M${x1} ${y1}L${Math.round(tip[0])} ${Math.round(tip[1])}`,
        ["starrow", ...kinds.filter(Boolean)].join(" "),
      ),
      lost
        ? path("x", `M${endX - 5} ${endY - 5}l10 10m0-10l-10 10`, "ghostx")
        : to !== null &&
          path(
            "h",
            `M${wing(-4)}L${Math.round(tip[0])} ${Math.round(tip[1])}L${wing(4)}`,
            `sthead ${message.error ? "error" : ""}`,
          ),
      text("t", (x1 + x2) / 2, (y1 + y2) / 2 - 5, label, `stword ${message.error ? "bad" : ""}`, {
        middle: true,
      }),
    ],
    { "data-id": `st:m${message.id}`, "data-lost": lost ? 1 : 0 },
  );
}
