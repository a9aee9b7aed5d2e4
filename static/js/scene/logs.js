// One replica's log: the folded prefix, the record cells, the ghosts of what was cut.

import { cellWords } from "./cellwords.js";
import { begins, epochClass } from "./epochs.js";
import { circle, g, icon, path, rect, text, title } from "./node.js";

/** All that is drawn of one replica's log, without marks. */
export function log(geo, broker, ctx) {
  const replica = geo.part.replicas[broker.id];
  if (!replica) return [];
  const lane = geo.lanes.get(broker.id);
  const y = lane.log + geo.d.cell;
  return [
    ...folded(geo, broker, replica, y, ctx),
    ...torn(geo, replica, y, ctx),
    ...runs(geo, broker, replica, y),
    ...cells(geo, broker, replica, y, ctx),
    ...(ctx.layers.has("epochs") ? begins(geo, replica, y, ctx) : []),
    ...ghosts(geo, broker, replica, y, ctx),
  ];
}

function folded(geo, broker, replica, y, { t }) {
  if (!geo.foldW || replica.leo <= geo.base) return [];
  const h = geo.d.cellH;
  const end = Math.min(geo.fold, replica.leo);
  const parts = replica.runs
    .filter(([from]) => from < end)
    .map(([from, to, e]) => {
      const a = geo.x(Math.max(from, geo.base));
      return rect(`f${from}`, a, y, geo.x(Math.min(to, end)) - a - 1, h, `fold ${epochClass(e)}`);
    });
  return [
    g(
      "folded",
      [
        ...parts,
        path("tear", tear(geo.x(geo.fold) - 3, y, h), "foldedge"),
        geo.d.labels && title("title", t("cell.folded", { a: geo.base, b: end - 1 })),
      ],
      geo.d.labels ? { "data-id": `b${broker.id}:same` } : {},
    ),
  ];
}

const tear = (x, y, h) => `M${x} ${y}l-3 ${h / 4}l6 ${h / 4}l-6 ${h / 4}l3 ${h / 4}`;

function torn(geo, replica, y, { t }) {
  if (!replica.start || replica.start < geo.fold) return [];
  const x = geo.x(replica.start);
  return [
    g("start", [
      path("tear", tear(x - 2, y, geo.d.cellH), "torn"),
      geo.d.labels && text("t", x + 1, y - 5, t("mark.starts", { o: replica.start }), "mono small"),
    ]),
  ];
}

/** Epoch runs where single records are not drawn: the far past, and logs too long for cells. */
function runs(geo, broker, replica, y) {
  const first = geo.detail === "run" ? Infinity : (replica.records[0]?.o ?? replica.leo);
  const h = geo.d.cellH;
  return replica.runs
    .filter(([from, to]) => to > geo.fold && from < first)
    .map(([from, to, e]) => {
      const a = geo.x(Math.max(from, geo.fold, replica.start ?? 0));
      const b = geo.x(Math.min(to, first, replica.leo));
      return rect(`run${from}`, a, y, Math.max(1, b - a - 1), h, `cell ${epochClass(e)}`, {
        "data-id": `b${broker.id}:run${from}`,
        "data-run": `${from}/${Math.min(to, replica.leo)}/${e}`,
      });
    });
}

function cells(geo, broker, replica, y, ctx) {
  if (geo.detail === "run") return [];
  return replica.records
    .filter((r) => r.o >= geo.fold && r.o < replica.leo)
    .map((r) => cell(geo, broker, replica, r, y, ctx));
}

/** Everything a cell's looks say, in one place. */
function cellState(part, replica, r, lost) {
  const differs = part.differ && r.o >= part.differ[0] && r.o < part.differ[1];
  return {
    open: r.o >= replica.hw,
    acked: Boolean(r.acked),
    read: Boolean(r.read),
    differs: Boolean(differs),
    lost: lost.has(r.id),
  };
}

function cell(geo, broker, replica, r, y, ctx) {
  const gap = geo.pitch >= 14 ? 3 : geo.pitch >= 8 ? 1.5 : 0.5;
  const x = geo.x(r.o);
  const w = geo.pitch - gap;
  const h = geo.d.cellH;
  const s = cellState(geo.part, replica, r, ctx.lost);
  const states = ["open", "differs", "lost"].filter((state) => s[state]);
  const cls = ["cell", epochClass(r.e), ...states].join(" ");
  const full = geo.detail === "full" && h >= 20;
  const parts = [
    rect("r", x, y, w, h, cls, { rx: geo.pitch >= 14 ? 4 : 1 }),
    s.open && geo.pitch >= 8 && rect("h", x + 2, y + 2, w - 4, h - 4, "hatch", { rx: 3 }),
    geo.detail !== "rect" &&
      h >= 10 &&
      text("n", x + w / 2, y + h / 2 + (h < 14 ? 3.5 : 5), r.e, "num", {
        "font-size": h < 14 ? 9.5 : 14,
      }),
    full && s.acked && path("ok", `M${x + w - 11} ${y + 7}l2.600 2.600l4.600-5.200`, "acked"),
    full && s.lost && path("lostx", `M${x + 4} ${y + h - 4}l7-7m0 7l-7-7`, "lostx"),
    full && s.read && icon("eye", "eye", x + 2.5, y + 2, 10, "seen"),
    title("title", cellWords(geo.part, broker.id, r, s.open, ctx)),
  ];
  const data = {
    class: "record",
    "data-id": `b${broker.id}:o${r.o}`,
    "data-record": r.id ?? "",
    "data-epoch": r.e,
    "data-open": s.open ? 1 : 0,
    "data-acked": s.acked ? 1 : 0,
  };
  return g(`o${r.o}-${r.e}-${r.id}`, parts, data, { enter: "grow", x });
}

/** Records cut off since the last moment: outline without fill, so that nobody takes them for
 *  part of the log. */
function ghosts(geo, broker, replica, y, ctx) {
  if (geo.detail === "run" || !ctx.layers.has("ghosts")) return [];
  return (replica.cut ?? []).map((r) => {
    const x = geo.x(r.o);
    const w = geo.pitch - 3;
    const h = geo.d.cellH;
    const low = r.o < replica.leo; // its place is taken again: the ghost stands below
    const top = low ? y + h + 2 : y;
    const cx = x + w / 2;
    const cy = top + h / 2;
    return g(
      `cut${r.o}-${r.e}-${r.id}`,
      [
        rect("r", x, top, w, h, `ghost ${r.old ? "old" : ""}`, { rx: 4 }),
        geo.pitch >= 26 && r.acked && circle("ring", cx, cy, 10, "ghostring"),
        geo.pitch >= 14 &&
          path(
            "x",
            `M${cx - 5} ${cy - 5}l10 10m0-10l-10 10`,
            `ghostx ${r.acked && geo.pitch >= 26 ? "onring" : ""}`,
          ),
        geo.pitch >= 26 &&
          r.acked &&
          path("ok", `M${x + w - 11} ${top + 6}l2.600 2.600l4.600-5.200`, "ghosttick"),
        geo.pitch >= 26 && r.acked && path("struck", `M${x + w - 13} ${top + 10}l11-6`, "struck"),
        title(
          "title",
          ctx.t(r.acked ? "cell.cut_acked" : "cell.cut", {
            o: r.o,
            m: r.id ?? "",
            b: ctx.name(broker.id),
          }),
        ),
      ],
      { class: "cut", "data-id": `b${broker.id}:cut${r.o}`, "data-acked": r.acked ? 1 : 0 },
    );
  });
}
