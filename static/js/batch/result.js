// The charts of a batch: which are worth drawing, and the choice of what they show.

import * as bars from "./charts/causes.js";
import * as grid from "./charts/cells.js";
import { show } from "./charts/common.js";
import * as ecdf from "./charts/ecdf.js";
import * as f from "./charts/figures.js";
import { menu, onResize, widthOf } from "./charts/frame.js";
import * as futures from "./charts/futures.js";
import * as heat from "./charts/heat.js";
import * as interval from "./charts/interval.js";
import { named } from "./charts/names.js";
import * as tails from "./charts/tails.js";

/** A chart of the page, and what draws it again.
 * @typedef {HTMLElement & {redraw?: () => void, batch?: BatchResult}} Figure */

/** @returns {Figure | null} */
const figureAt = (id) => document.getElementById(id);

const LOST = "I7";
const chosen = { invariant: LOST };

/** Shares with intervals, while it runs and at the end.
 * @public to `progress.js`, which is handed this module as `charts` */
export function shares(batch, t) {
  const figure = figureAt("shares");
  if (!figure || !batch.cells.some((cell) => cell.n)) return;
  const broken = batch.cells.flatMap((cell) => Object.keys(cell.broken));
  const names = [...new Set([LOST, ...broken])].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  figure.batch = batch;
  figure.redraw = () => {
    const rows = f.shareRows(figure.batch, chosen.invariant);
    show(figure, interval.draw(rows, batch.profiles, t, widthOf(figure)), {
      sentence: f.shareSentence(rows, t),
      rows,
      t,
      name: `shares-${batch.id}`,
    });
  };
  menu(
    figure,
    "invariant",
    t("batch.shares.which"),
    ["", ...names].map((name) => [name, named(t, name)]),
    (name) => {
      chosen.invariant = name;
      figure.redraw();
      figureAt("heat")?.redraw?.();
    },
    chosen.invariant,
  );
  figure.redraw();
}

function map(batch, t) {
  const figure = figureAt("heat");
  if (!figure) return;
  figure.hidden = false;
  figure.redraw = () => {
    const found = grid.heatCells(batch, chosen.invariant);
    show(figure, heat.draw(found, batch.profiles, batch.varied, widthOf(figure)), {
      sentence: grid.heatSentence(batch, found),
      rows: grid.heatRows(batch, found),
      t,
      name: `map-${batch.id}`,
    });
  };
  figure.redraw();
}

/** A chart of one measure in one combination, with menus for both.  `draw` gets the choice, the
 *  figure and its title; `labels` tells of a measure which combinations can be chosen. */
function ofMeasure(figure, batch, worth, { draw, labels, t }) {
  if (!figure || !worth.length) return;
  figure.hidden = false;
  const choice = { metric: worth[0], label: batch.cells[0].label };
  const title = figure.querySelector("figcaption").appendChild(document.createElement("h3"));
  figure.redraw = () => draw(choice, figure, title);
  const choose = (more) => {
    Object.assign(choice, more);
    figure.redraw();
  };
  menu(
    figure,
    "metric",
    t("batch.curve.which"),
    worth.map((one) => [one.name, t(`metric.${one.name}`)]),
    (name) => choose({ metric: worth.find((one) => one.name === name) }),
  );
  menu(
    figure,
    "cell",
    t("batch.col.cell"),
    [...new Set(labels(choice.metric))].map((one) => [one, one]),
    (label) => choose({ label }),
  );
  figure.redraw();
}

function curves(batch, t) {
  const worth = batch.metrics.filter(
    (metric) => metric.summary === "percentiles" && f.varies(metric),
  );
  const draw = ({ metric, label }, figure, title) => {
    title.textContent = t("batch.curve", { metric: t(`metric.${metric.name}`) });
    const rows = f.curvePoints(metric, label);
    show(figure, ecdf.draw(rows, batch.profiles, metric.unit, t, widthOf(figure)), {
      sentence: f.curveSentence(metric, label, t),
      rows,
      t,
      name: `${metric.name}-${batch.id}`,
    });
  };
  ofMeasure(figureAt("curve"), batch, worth, {
    draw,
    labels: () => batch.cells.map((cell) => cell.label),
    t,
  });
}

/** Percentiles of one measure over the runs: how long the rare ones take. */
function tail(batch, kind, t) {
  const worth = ["max", "p99", "p50"]
    .map((at) => batch.metrics.find((one) => one.name === `${kind}_${at}_ms`))
    .filter((one) => one && batch.cells.some((cell) => f.tailPoints(one, cell.label).length));
  const draw = (choice, figure, title) => {
    const { metric } = choice;
    if (!f.tailPoints(metric, choice.label).length)
      choice.label = metric.cells.find((cell) => cell.n).label;
    const rows = f.tailPoints(metric, choice.label);
    title.textContent = f.tailTitle(rows, metric, t);
    show(figure, tails.draw(rows, batch.profiles, t, widthOf(figure)), {
      sentence: f.tailSentence(rows, t),
      rows,
      t,
      name: `${metric.name}-${batch.id}`,
    });
  };
  ofMeasure(figureAt(`tail-${kind}`), batch, worth, {
    draw,
    labels: (metric) => metric.cells.filter((cell) => cell.n).map((cell) => cell.label),
    t,
  });
}

function causes(batch, t) {
  const figure = figureAt("causes");
  if (!figure) return;
  const rows = batch.causes;
  figure.redraw = () =>
    show(figure, bars.draw(rows, batch.profiles, t, widthOf(figure)), {
      sentence: f.causeSentence(rows),
      rows,
      t,
      name: `causes-${batch.id}`,
    });
  figure.redraw();
}

function noReturn(batch, t) {
  const figure = figureAt("futures");
  if (!figure) return;
  figure.hidden = false;
  const rows = batch.futures.steps;
  figure.redraw = () =>
    show(figure, futures.draw(rows, t, widthOf(figure)), {
      sentence: t("batch.futures"),
      rows,
      t,
      name: `futures-${batch.id}`,
    });
  figure.redraw();
}

/** Everything of a finished batch; drawn again when the page changes its width. */
export function result(batch, t) {
  shares(batch, t);
  map(batch, t);
  curves(batch, t);
  for (const kind of ["produce", "replication"]) tail(batch, kind, t);
  causes(batch, t);
  noReturn(batch, t);
  onResize();
}
