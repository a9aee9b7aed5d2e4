import assert from "node:assert/strict";
import { test } from "node:test";

import { nodes } from "../../static/js/scene/spots.js";
import { standing } from "../../static/js/scene/tanks/groups.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { fixture, room, t } from "./helpers.mjs";

const step = fixture("s01").steps.values().next().value;
const member = (id, owns, positions) => ({
  ...{ id, member: `${id}-1`, alive: owns.length > 0, generation: 2, polled: 0, task: "" },
  ...{ owns, positions },
});
const group = {
  ...{ name: "orders", p: 9, coordinator: 2, generation: 2, state: "stable" },
  members: [member("C1", [0], [3]), member("C2", [], [])],
  offsets: [{ p: 0, offset: 0, written: 2, twice: 1, skipped: 0 }],
};
const at = (groups, width) => {
  const grouped = { ...step, view: { ...step.view, groups } };
  return tanks(grouped, { ...room(grouped, width), width, height: 620 });
};
const card = (made) => [...nodes(made.logs)].find((one) => one.a["data-id"] === "group:orders");

test("a group has a line over the tanks, and its committed offset a flag at the leader's", () => {
  for (const width of [390, 1280]) {
    const [without, made] = [at(undefined, width), at([group], width)];
    assert.equal(card(without), undefined);
    const { y } = card(made).c.find((one) => one.k === "head").a;
    const lift = made.geo.heads.sky - without.geo.heads.sky;
    assert.ok(y > without.geo.heads.sky && y < made.geo.heads.sky && lift > 16, "its own room");
    const flag = [...nodes(made.logs)].find((one) => one.k === "commit-orders");
    const lane = made.geo.lanes.get(made.geo.part.record.leader);
    assert.ok(flag.c[0].a.d.includes(` ${made.geo.y(0, lane) - 5}h`));
    assert.equal(flag.c[1].x, t("group.flag", { g: "orders", o: 0 }));
  }
});

test("without a coordinator nothing is said of generation and offsets", () => {
  const lost = { ...group, coordinator: -1, state: "none", offsets: [] };
  const words = card(at([lost], 1280)).a["aria-label"];
  assert.ok(words.includes(t("group.uncoordinated")) && !words.includes("generation"));
});

test("a member stands in the partitions that it owns, any other consumer where it is", () => {
  const view = { groups: [group] };
  assert.equal(standing(view, { id: "C1", position: 7 }, 0), 3);
  assert.equal(standing(view, { id: "C2", position: 7 }, 0), undefined);
  assert.equal(standing({}, { id: "C1", position: 7 }, 0), 7);
});

test("a member's box says what it owns, in words and for readers", () => {
  const made = at([group], 1280);
  const box = [...nodes(made.logs)].find((one) => one.a?.["data-id"] === "C1");
  assert.ok(JSON.stringify(box).includes(t("group.member", { p: "t-0 @ 3" })));
  assert.ok(card(made).a["aria-label"].includes(t("group.member.down")));
});
