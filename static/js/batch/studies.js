// Two studies side by side: their shares as one chart.  The page works without this.

import { kafka, translator } from "../i18n/words.js";
import { show } from "./charts/common.js";
import * as f from "./charts/figures.js";
import { menu, onResize, widthOf } from "./charts/frame.js";
import * as interval from "./charts/interval.js";
import { named } from "./charts/names.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const SIDES = ["A", "B"];

function draw(t) {
  /** @type {HTMLElement & {redraw?: () => void}} */
  const figure = document.getElementById("shares");
  if (!figure) return;
  const names = [...new Set(boot.cells.flatMap((cell) => cell.rows.map((row) => row.invariant)))];
  let chosen = names.includes(boot.lost) ? boot.lost : "";
  figure.redraw = () => {
    const cells = boot.cells.map((one) => ({ ...one, profile: kafka(t, one.profile) }));
    const rows = f.sideRows(cells, chosen, SIDES);
    show(figure, interval.draw(rows, SIDES, t, widthOf(figure)), {
      sentence: f.shareSentence(rows, t),
      rows: f.sideTable(rows),
      t,
      name: `shares-${boot.a}-${boot.b}`,
    });
  };
  menu(
    figure,
    "invariant",
    t("batch.shares.which"),
    names.map((name) => [name, named(t, name)]),
    (name) => {
      chosen = name;
      figure.redraw();
    },
    chosen,
  );
  figure.redraw();
  onResize();
}

async function begin() {
  const words = await (await fetch(`/i18n/${boot.lang}.json`)).json();
  draw(translator(words, boot.lang));
  document.body.dataset.ready = "1";
}

begin();
