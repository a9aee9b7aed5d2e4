// Consumer groups: a card each with coordinator, generation, owners and committed offsets.  Pure.

import { fit, g, path, rect, text, title } from "../node.js";

const ROW = 19;
const HEAD = 27;
const MOST = 4;

const rowsOf = (group, narrow) => {
  const [members, offsets] = [group.members, group.offsetsShown].map((n) => Math.min(n, MOST));
  return narrow ? 1 + members + offsets : Math.max(members, offsets);
};

/** What the cards need of a view: all that decides how high they are. */
const sizes = (view) =>
  view.groups.map((one) => ({
    members: one.members.length,
    offsetsShown: view.partitions.length - view.groups.length,
  }));

/** Height of the band in px; 0 where there is no group. */
export const groupBand = (view, narrow) =>
  view.groups
    ? sizes(view).reduce((sum, one) => sum + HEAD + ROW * rowsOf(one, narrow) + 14, 4)
    : 0;

/** Where a consumer stands in a partition: a member in those that it owns only. */
export function standing(view, client, partition) {
  const member = view.groups?.flatMap((one) => one.members).find((one) => one.id === client.id);
  return member ? member.positions[member.owns.indexOf(partition)] : client.position;
}

/** All groups, one below the other. */
export function groups(geo, view, ctx) {
  if (!view.groups) return null;
  const cards = [];
  let y = geo.heads.sky - geo.groupBand + 2;
  view.groups.forEach((group, i) => {
    const h = HEAD + ROW * rowsOf(sizes(view)[i], geo.narrow) + 6;
    cards.push(card(geo, view, group, { y, h }, ctx));
    y += h + 8;
  });
  return g("groups", cards, { class: "groups" });
}

function card(geo, view, group, { y, h }, { t, name }) {
  const x = geo.side || 8;
  const w = geo.width - 2 * x;
  const { small } = geo.type;
  const called = (p) => view.partitions.find((one) => one.p === p)?.name ?? `p${p}`;
  const [head, more] = heads(group, { t, name });
  const members = group.members.slice(0, MOST).map((one) => memberLine(one, called, { t, name }));
  const offsets = group.offsets.slice(0, MOST).map((one) => offsetLine(one, called, t));
  const columns = geo.narrow ? 1 : 2;
  const room = w / columns - 22;
  const put = (lines, key, left, first) =>
    lines.map((one, i) =>
      text(`${key}${i}`, left, y + HEAD + ROW * (first + i) + 11, fit(one, room, 12), "small", {
        style: "font-size:12px",
      }),
    );
  const words = [head, more, ...members, ...offsets].join(" · ");
  const first = geo.narrow ? head : `${head} · ${more}`;
  const below = geo.narrow ? [more, ...members] : members;
  return g(
    `group-${group.name}`,
    [
      rect("bg", x, y, w, h, "client reader", { rx: 8 }),
      text("head", x + 11, y + 18, fit(first, w - 22, small, true), "strong", {
        "font-size": small,
      }),
      ...put(below, "m", x + 11, 0),
      ...put(offsets, "o", x + 11 + (columns - 1) * (w / 2), geo.narrow ? below.length : 0),
      title("title", words),
    ],
    {
      class: "group",
      role: "img",
      "aria-label": words,
      "data-id": `group:${group.name}`,
      "data-generation": group.generation,
      "data-state": group.state,
    },
  );
}

function heads(group, { t, name }) {
  if (group.coordinator < 0) return [t("group.name", { g: group.name }), t("group.uncoordinated")];
  const state = t(`group.state.${group.state}`);
  return [
    t("group.head", { g: group.name, n: group.generation }),
    t("group.led", { state, b: name(group.coordinator) }),
  ];
}

function memberLine(one, called, { t, name }) {
  const who = name(one.id).replace(/^./, (first) => first.toUpperCase());
  if (!one.alive) return t("group.member.down", { c: who });
  if (!one.owns.length) return t(one.task ? "group.member.joins" : "group.member.idle", { c: who });
  const owns = one.owns
    .map((p, i) => `${called(p)} @ ${one.positions[i] ?? "?"}`)
    .join(t("list.comma"));
  const key = one.polled ? "group.member.polled" : "group.member";
  return t(key, { c: who, p: owns, n: one.polled });
}

function offsetLine(one, called, t) {
  const bits = [
    t(one.offset === null ? "group.offset.none" : "group.offset", {
      p: called(one.p),
      o: one.offset,
    }),
    one.written !== undefined && t("group.offset.written", { o: one.written }),
    one.twice > 0 && t("group.twice", { n: one.twice }),
    one.skipped > 0 && t("group.skipped", { n: one.skipped }),
  ];
  return bits.filter(Boolean).join(" · ");
}

/** The committed offset of each group: a flag at the left wall of the leader's tank, inside it. */
export function commitFlags(geo, view, { t }) {
  const lane = geo.lanes.get(geo.part.record.leader);
  if (!view.groups || !lane) return [];
  return view.groups.flatMap((group) => {
    const found = group.offsets.find((one) => one.p === geo.part.p);
    if (!found || found.offset === null || found.offset < geo.fold) return [];
    const y = geo.y(found.offset, lane);
    const [x, way] = geo.narrow ? [lane.x - 1, -1] : [lane.x + 2, 1];
    return [
      g(`commit-${group.name}`, [
        path("p", `M${x} ${y - 5}h${11 * way}l${-4 * way} 5l${4 * way} 5h${-11 * way}z`, "reads"),
        title("title", t("group.flag", { g: group.name, o: found.offset })),
      ]),
    ];
  });
}
