// A pasted text: the line that a press puts in, and what is left out of one that is too long.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pruned, withLine } from "../../static/js/cluster/pasting.js";

const TEXT = "# broker 3 is offline\nTopic: a\n0\n1\n";

test("a line goes above the line it is about", () => {
  const text = withLine(TEXT, { put: "# broker 1 x", before: 3 });
  assert.equal(text, "# broker 3 is offline\nTopic: a\n# broker 1 x\n0\n1\n");
});

test("a line takes the place of another one about the same", () => {
  const text = withLine(TEXT, { put: "# broker 3 is running", before: 0 });
  assert.equal(text, "# broker 3 is running\nTopic: a\n0\n1\n");
  const other = withLine(TEXT, { put: "# broker 30 is running", before: 0 });
  assert.equal(other, `# broker 30 is running\n${TEXT}`);
  const twice = [2, 3].reduce(
    (one, n) => withLine(one, { put: `# min.insync.replicas=${n}`, before: 0 }),
    TEXT,
  );
  assert.equal(twice, `# min.insync.replicas=3\n${TEXT}`);
});

const row = (number, leader, isr) =>
  `\tTopic: a\tPartition: ${number}\tLeader: ${leader}\tReplicas: 1,2,3\tIsr: ${isr}`;

test("a long text keeps rows in trouble, one of each broker, and its line numbers", () => {
  const healthy = Array.from({ length: 9 }, (_, n) => row(n, 1, "1,2,3"));
  const lines = [...healthy, row(9, "none", "2"), row(10, 1, "1,2"), `${row(11, 1, "3,1,2")}`];
  const text = lines.join("\n");
  assert.deepEqual(pruned(text, text.length), { text, left: 0 });
  const { text: kept, left } = pruned(text, 10);
  assert.equal(left, 9);
  const after = kept.split("\n");
  assert.equal(after.length, lines.length);
  assert.deepEqual(
    after.flatMap((one, n) => (one ? [n] : [])),
    [0, 9, 10],
  );
});
