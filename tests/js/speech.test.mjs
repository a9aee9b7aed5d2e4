// What stands on a slip: an acknowledgement is called one, an error is named.

import assert from "node:assert/strict";
import { test } from "node:test";

import { speech } from "../../static/js/scene/tanks/speech.js";

const PART = { replicas: { 1: { records: [{ o: 4, id: "m3", e: 0 }] } } };
const ENV = { t: (key, args = {}) => [key, ...Object.values(args)].join(" "), name: String };
const answer = (fields) => speech({ kind: "Produce", reply: true, from: 1, fields }, PART, ENV);

test("an acknowledgement says which record it is for", () => {
  assert.deepEqual(answer({ offset: 4, error: "NONE" }), {
    words: "scene.ack m3",
    records: [],
    tag: "",
    ack: true,
  });
});

test("a refused record is none", () => {
  const said = answer({ offset: -1, error: "NOT_ENOUGH_REPLICAS" });
  assert.deepEqual([said.tag, said.ack], ["NOT_ENOUGH_REPLICAS", false]);
});
