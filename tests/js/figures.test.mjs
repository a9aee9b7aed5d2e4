// What the charts of a batch say, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as grid from "../../static/js/batch/charts/cells.js";
import * as f from "../../static/js/batch/charts/figures.js";

const t = (key, args = {}) => `${key}(${Object.values(args).join(",")})`;
const count = (hits, n, low, high) => ({ hits, n, share: hits / n, low, high });
const batch = {
  profiles: ["Z0102", "K39"],
  varied: ["a", "b"],
  cells: [
    {
      profile: "Z0102",
      label: "a=1, b=2",
      values: { a: "1", b: "2" },
      n: 1000,
      violating: count(37, 1000, 0.027, 0.0506),
      broken: { I7: count(30, 1000, 0.021, 0.042) },
      unseen: count(0, 1000, 0, 0.003),
    },
    {
      profile: "K39",
      label: "a=1, b=2",
      values: { a: "1", b: "2" },
      n: 1000,
      violating: count(1, 1000, 0.00018, 0.0056),
      broken: {},
      unseen: count(0, 1000, 0, 0.0006),
    },
    {
      profile: "K39",
      label: "a=2, b=2",
      values: { a: "2", b: "2" },
      n: 0,
      violating: count(0, 0, 0, 1),
      broken: {},
      unseen: count(0, 0, 0, 1),
    },
  ],
};

test("shares have the digits that tell them from nothing and from all", () => {
  assert.deepEqual([0, 1, 0.5, 0.0123, 0.0034, 0.0000037, 0.99995, null].map(f.percent), [
    "0 %",
    "100 %",
    "50.0 %",
    "1.2 %",
    "0.34 %",
    "0.00037 %",
    "99.9950 %",
    "–",
  ]);
});

test("numbers, times and tables", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(f.whole), [
    "0",
    "999",
    "1\u202f000",
    "1\u202f234\u202f567",
  ]);
  assert.deepEqual(
    [-1, 59.4, 61, 3700].map((s) => f.duration(t, s)),
    ["batch.time.s(0)", "batch.time.s(59)", "batch.time.m(1,1)", "batch.time.h(1,1)"],
  );
  assert.equal(
    f.csv([
      { a: 1, b: 'say "x", y' },
      { a: null, b: "z" },
    ]),
    'a,b\n1,"say ""x"", y"\n,z\n',
  );
  assert.equal(f.csv([]), "");
});

test("rows of the chosen invariant; what was never seen is an arrow below the server's bound", () => {
  const any = f.shareRows(batch, "");
  assert.deepEqual(
    any.map((r) => [r.profile, r.hits]),
    [
      ["Z0102", 37],
      ["K39", 1],
    ],
  );
  const lost = f.shareRows(batch, "I7");
  assert.deepEqual(
    [lost[1].hits, lost[1].high, f.shareLabel(lost[1], t)],
    [0, 0.0006, "batch.shares.none(1\u202f000)"],
  );
  assert.match(f.shareSentence(lost, t), /^Z0102 a=1, b=2: 3.0 % \(2.1 % – 4.2 %\); K39/);
});

test("the axis holds every interval, in whole decades", () => {
  assert.deepEqual(
    f.shareDomain(f.shareRows(batch, "")).map((end) => Number(end.toPrecision(6))),
    [1e-4, 0.1],
  );
  for (const rows of [
    f.shareRows(batch, "I7"),
    [{ hits: 10, low: 0.9, high: 1, n: 10 }],
    [{ hits: 0, low: 0, high: 1, n: 1 }],
  ]) {
    const [low, high] = f.shareDomain(rows);
    assert.ok(low < high && high <= 1);
    for (const row of rows) assert.ok(row.high <= high && (!row.hits || row.low >= low));
  }
});

test("a distribution runs from the smallest to the largest value of one cell", () => {
  const metric = {
    name: "m",
    cells: [
      {
        profile: "K39",
        label: "",
        n: 5,
        min: 0,
        max: 120,
        curve: [
          [0.5, 7],
          [0.99, 90],
        ],
        quantiles: [7, 50, 90, 100],
      },
      { profile: "K39", label: "x", n: 5, min: 1, max: 1, curve: [], quantiles: [1, 1, 1, 1] },
    ],
  };
  const points = f.curvePoints(metric, "");
  assert.deepEqual(
    points.map((p) => [p.share, p.value]),
    [
      [0, 0],
      [0.5, 7],
      [0.99, 90],
      [1, 120],
    ],
  );
  assert.deepEqual(f.decades(points), [0, 1, 10, 100]);
  assert.equal(f.varies(metric), true);
  assert.equal(f.varies({ cells: [metric.cells[1]] }), false);
  assert.match(f.curveSentence(metric, "", t), /^K39: .* 7, .* 90, .* 120$/);
});

test("a cell of a map leads to its failing runs, and is told under the names that were varied", () => {
  const cells = grid.heatCells(
    { ...batch, cells: batch.cells.map((cell, i) => ({ ...cell, cell: i })) },
    "I7",
  );
  assert.deepEqual(
    cells.map((c) => c.url),
    ["?profile=Z0102&cell=0&invariant=I7#failures", "?profile=K39&cell=1&invariant=I7#failures"],
  );
  assert.deepEqual(grid.heatRows(batch, cells)[0], {
    profile: "Z0102",
    a: "1",
    b: "2",
    hits: 30,
    n: 1000,
    share: 0.03,
    low: 0.021,
    high: 0.042,
    url: cells[0].url,
  });
  assert.deepEqual([cells[1].hits, cells[1].high], [0, 0.0006]);
});

test("two studies are drawn a row a side, in the cells that have the invariant", () => {
  const cells = [
    {
      profile: "K39",
      a: "x=1",
      rows: [{ invariant: "I7", a: count(1, 10, 0, 0.4), b: count(2, 20, 0, 0.3) }],
    },
    { profile: "Z27", a: "", rows: [] },
  ];
  assert.deepEqual(
    f.sideRows(cells, "I7", ["A", "B"]).map((r) => [r.profile, r.label, r.hits]),
    [
      ["A", "K39 x=1", 1],
      ["B", "K39 x=1", 2],
    ],
  );
  assert.deepEqual(Object.entries(f.sideTable(f.sideRows(cells, "I7", ["A", "B"]))[0]), [
    ["study", "A"],
    ["profile", "K39"],
    ["cell", "x=1"],
    ["hits", 1],
    ["n", 10],
    ["share", 0.1],
    ["low", 0],
    ["high", 0.4],
  ]);
});

test("a map says where the interval is wider than the share", () => {
  assert.deepEqual(
    grid.heatCells(batch, "").map((c) => [c.profile, c.x, c.y, c.unsure]),
    [
      ["Z0102", "1", "2", false],
      ["K39", "1", "2", true],
    ],
  );
  assert.equal(grid.heatCells(batch, "I7")[1].share, 0);
});

test("a tail has the percentiles that some run lies beyond, and says the worst of the farthest", () => {
  const curve = [
    [0.25, 1],
    [0.5, 4],
    [0.9, 20],
    [0.99, 70],
    [0.999, 90],
    [0.9999, 95],
  ];
  const metric = {
    name: "produce_max_ms",
    cells: [
      { profile: "K39", label: "", n: 1000, curve },
      {
        profile: "Z20",
        label: "",
        n: 40,
        curve: curve.map(([share, value]) => [share, value * 2]),
      },
      { profile: "Z20", label: "x", n: 0, curve: [] },
    ],
  };
  const points = f.tailPoints(metric, "");
  assert.deepEqual(
    points.filter((p) => p.profile === "K39").map((p) => p.share),
    [0.5, 0.9, 0.99, 0.999],
  );
  assert.deepEqual(
    points.filter((p) => p.profile === "Z20").map((p) => p.value),
    [8, 40],
  );
  assert.deepEqual(f.tailPoints(metric, "x"), []);
  assert.equal(
    f.tailTitle(points, metric, t),
    "batch.tail.says(metric.produce_max_ms(),99.9 %,1\u202f000,K39,90)",
  );
  assert.match(f.tailSentence(points, t), /^K39: p50 4 .*p99.9 90 .*; Z20: p50 8/);
  assert.deepEqual(
    [
      [0, 5],
      [12, 90],
      [2000, 11487],
      [7, 7],
    ].map(f.wholeDecades),
    [
      [1, 10],
      [10, 100],
      [1000, 100000],
      [1, 10],
    ],
  );
});
