// Consumer groups: a line each over the tanks, what each member owns in its own box, and a flag at
// the committed offset.  Pure.

import { fit, g, path, text, title } from "../node.js";

const ROW = 24;

/** Height of the lines in px; 0 where there is no group. */
export const groupBand = (view) => (view.groups?.length ?? 0) * ROW;

/** Where a consumer stands in a partition: a member in those that it owns only. */
export function standing(view, client, partition) {
  const member = view.groups?.flatMap((one) => one.members).find((one) => one.id === client.id);
  return member ? member.positions[member.owns.indexOf(partition)] : client.position;
}

const partitionName = (view, p) => view.partitions.find((one) => one.p === p)?.name ?? `p${p}`;

/** All groups, one below the other. */
export function groups(geo, view, ctx) {
  if (!view.groups) return null;
  const top = geo.heads.sky - geo.groupBand;
  return g(
    "groups",
    view.groups.map((group, i) => line(geo, view, group, top + i * ROW, ctx)),
    { class: "groups" },
  );
}

/** A group in one line: its generation, its state, and what it has committed. */
function line(geo, view, group, y, { t, name }) {
  const called = (p) => partitionName(view, p);
  const offsets = group.offsets.map((one) => offsetLine(one, called, t));
  const words = [...heads(group, { t, name }), ...offsets];
  const members = group.members.map((one) => `${name(one.id)}: ${memberWords(view, one, t)}`);
  const all = [...words, ...members].join(" · ");
  const { small } = geo.type;
  return g(
    `group-${group.name}`,
    [
      text("head", geo.width / 2, y + 16, fit(words.join(" · "), geo.width - 24, small), "small", {
        middle: true,
        size: small,
      }),
      title("title", all),
    ],
    {
      class: "group",
      role: "img",
      "aria-label": all,
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
    t(group.epochs ? "group.head.epoch" : "group.head", { g: group.name, n: group.generation }),
    t("group.led", { state, b: name(group.coordinator) }),
  ];
}

/** What a member does, in few words, or null for a consumer of no group. */
export function memberOf(view, client, t) {
  const member = view.groups?.flatMap((one) => one.members).find((one) => one.id === client.id);
  return member ? memberWords(view, member, t) : null;
}

function memberWords(view, one, t) {
  const words = membership(view, one, t);
  return one.instance ? t("group.member.static", { i: one.instance, words }) : words;
}

function membership(view, one, t) {
  if (!one.alive) return t("group.member.down");
  if (!one.owns.length) return t(one.task ? "group.member.joins" : "group.member.idle");
  const owns = one.owns
    .map((p, i) => `${partitionName(view, p)} @ ${one.positions[i] ?? "?"}`)
    .join(t("list.comma"));
  const words = t("group.member", { p: owns });
  return one.polled ? `${words} · ${t("group.member.polled", { n: one.polled })}` : words;
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
