// Describes pictures of the page as `tests/test_tank_layout.py` wants them: a case a line, in and out.

import { createInterface } from "node:readline";

import { namer, translator } from "../../static/js/i18n/words.js";
import { nodes } from "../../static/js/scene/spots.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { words } from "./helpers.mjs";

const child = (one, key) => one?.c?.find((other) => other.k === key);
const label = (one) =>
  one?.x ? [one.x, one.a["font-size"] ?? Number.parseFloat(one.a.style.slice(10))] : null;
const has = (one, word) => (one.a.class ?? "").split(" ").includes(word);

function cell(one, sky) {
  const { x, y, width, height } = child(one, "r").a;
  const crossed = has(one, "cut");
  const frame = child(one, "r");
  return {
    box: [x, y - sky, width, height],
    offset: Number(/\d+/.exec(one.a["data-id"].split(":")[1])[0]),
    label: label(child(one, "n")),
    epoch: crossed ? null : one.a["data-epoch"],
    open: one.a["data-open"] === 1,
    acked: one.a["data-acked"] === 1,
    lost: has(one, "lostone"),
    differs: has(frame, "differs"),
    crossed,
  };
}

function shelf(one, sky) {
  const { x, y, width, height } = child(one, "r").a;
  const blocks = child(one, "blocks").c.filter((other) => other.t === "rect");
  return {
    box: [x, y - sky, width, height],
    kind: one.a.class.split(" ")[1],
    label: label(child(one, "t")),
    segments: blocks.map((other) => Number(other.k.slice(1))),
  };
}

function tank(made, one, sky) {
  const found = [...nodes([one])];
  const by = (test) => found.find(test);
  const foot = by((other) => other.k.startsWith("card"));
  const flag = child(
    by((other) => other.k === "hw" && other.a.class === "hw"),
    "t",
  );
  const crest = by((other) => other.k === "crest");
  const lane = made.geo.lanes.get(Number(one.k.slice(4)));
  const folded = by((other) => other.k === "folded");
  const crown = child(foot, "crown");
  const note = child(child(foot, "belief") ?? child(foot, "waits"), "t");
  const broker = by((other) => other.k === "wall");
  return {
    broker: lane.id,
    box: [lane.x, lane.top + 4 - sky, lane.w, lane.floor - sky],
    level: crest ? Number(/^M\S+ (\S+?)q/.exec(crest.a.d)[1]) - sky : null,
    mark: flag ? [label(flag), flag.a.y - sky] : null,
    off: has(broker, "off"),
    leads: Boolean(crown),
    crowned: Boolean(crown) && !has(crown, "self"),
    name: label(child(foot, "name")),
    role: label(child(foot, "role")),
    tone: child(foot, "role").a.class.split(" ")[1] ?? "",
    note: label(note),
    fold: folded ? [folded.a["data-count"], label(child(folded, "t"))] : null,
    foot: lane.foot - sky,
    shelf: found.filter((other) => has(other, "tiered")).map((other) => shelf(other, sky)),
    cells: found
      .filter((other) => other.c && (has(other, "record") || has(other, "cut")))
      .map((other) => cell(other, sky)),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { view, sky, lang, ...how } = JSON.parse(line);
  const t = translator(words(lang), lang);
  const made = tanks({ view, changed: new Set() }, { ...how, t, name: namer(t, view.brokers) });
  console.log(
    JSON.stringify(
      made.logs.filter((one) => one.k.startsWith("lane")).map((one) => tank(made, one, sky)),
    ),
  );
}
