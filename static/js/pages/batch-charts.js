// The charts of a batch: which are worth drawing, and the choice of what they show.

import { show } from "../charts/common.js";
import * as interval from "../charts/interval.js";
import * as ecdf from "../charts/ecdf.js";
import * as heat from "../charts/heat.js";

const WIDEST = 1100;
const widthOf = (figure) => Math.min(WIDEST, Math.max(320, figure.clientWidth || figure.parentElement.clientWidth));
const chosen = { invariant: "" };

/** A menu in the caption of a figure; with one entry there is nothing to choose. */
function menu(figure, label, entries, onChange) {
  const caption = figure.querySelector("figcaption");
  if (caption.querySelector("select") || entries.length < 2) return;
  const field = Object.assign(document.createElement("label"), { className: "field", textContent: label });
  const select = field.appendChild(document.createElement("select"));
  for (const [value, text] of entries) select.append(new Option(text, value));
  select.addEventListener("change", () => onChange(select.value));
  caption.append(field);
}

/** Shares with intervals, while it runs and at the end. */
export function shares(batch, t) {
  const figure = document.getElementById("shares");
  if (!figure || !batch.cells.some((cell) => cell.n)) return;
  const names = [...new Set(batch.cells.flatMap((cell) => Object.keys(cell.broken)))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  figure.redraw = () => {
    show(figure, interval.draw(figure.batch, chosen.invariant, t, widthOf(figure)), {
      sentence: interval.sentence(figure.batch, chosen.invariant, t), rows: interval.rowsOf(figure.batch, chosen.invariant), t, name: `shares-${batch.id}`,
    });
  };
  figure.batch = batch;
  menu(figure, t("batch.shares.which"), [["", t("batch.shares.any")], ...names.map((name) => [name, name])], (name) => {
    chosen.invariant = name;
    figure.redraw();
    document.getElementById("heat")?.redraw?.();
  });
  figure.redraw();
}

function map(batch, t) {
  const figure = document.getElementById("heat");
  if (!figure) return;
  figure.hidden = false;
  figure.redraw = () => show(figure, heat.draw(batch, chosen.invariant, widthOf(figure)), {
    sentence: heat.sentence(batch, chosen.invariant), rows: heat.cellsOf(batch, chosen.invariant), t, name: `map-${batch.id}`,
  });
  figure.redraw();
}

function curves(batch, t) {
  const figure = document.getElementById("curve");
  const worth = batch.metrics.filter((metric) => metric.summary === "percentiles" && ecdf.worth(metric));
  if (!figure || !worth.length) return;
  figure.hidden = false;
  let metric = worth[0];
  const title = figure.querySelector("figcaption").appendChild(document.createElement("h3"));
  figure.redraw = () => {
    title.textContent = t("batch.curve", { metric: t(`metric.${metric.name}`) });
    show(figure, ecdf.draw(metric, batch.profiles, t, widthOf(figure)), { sentence: ecdf.sentence(metric, t), rows: ecdf.pointsOf(metric), t, name: `${metric.name}-${batch.id}` });
  };
  menu(figure, t("batch.curve.which"), worth.map((one) => [one.name, t(`metric.${one.name}`)]), (name) => {
    metric = worth.find((one) => one.name === name);
    figure.redraw();
  });
  figure.redraw();
}

/** Everything of a finished batch; drawn again when the page changes its width. */
export function result(batch, t) {
  shares(batch, t);
  map(batch, t);
  curves(batch, t);
  let due = 0;
  addEventListener("resize", () => {
    clearTimeout(due);
    due = setTimeout(() => { for (const figure of document.querySelectorAll("figure.chart")) figure.redraw?.(); }, 120);
  });
}
