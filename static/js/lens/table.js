// The table of threads over time: a row for each thread, a column for each step at which one acts.

import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { humps } from "./rows.js";

/** The steps that have a column: where something acts or a fold begins, and the current one. */
function columnsOf(rows, n) {
  const begun = rows.flatMap((row) => row.blocks.map((block) => block.steps[0]));
  return [...new Set([...begun, n])].sort((a, b) => a - b);
}

/** A row's cells over the columns: [{at, span, blocks}]. */
function cellsOf(row, columns) {
  const cells = [];
  for (let i = 0; i < columns.length; i++) {
    const blocks = row.blocks.filter((block) => block.steps[0] === columns[i]);
    const last = Math.max(columns[i], ...blocks.filter((b) => b.turns).map((b) => b.steps.at(-1)));
    const span = columns.filter((at) => at >= columns[i] && at <= last).length;
    // What acts within a turn is another thread's: the row itself goes on behind the fold.
    cells.push({ at: columns[i], last, span, blocks });
    i += span - 1;
  }
  return cells;
}

const short = (name) => name.slice(name.lastIndexOf(".") + 1);
export const keyOf = (row, block) => `${row.node}:${row.thread}:${block.steps[0]}:${block.rule}`;

function wordsOf(block) {
  const t = s.t.value;
  const [a, b] = [block.steps[0], block.steps.at(-1)];
  if (!block.turns) return `${block.name}, ${t("lens.threads.step", { n: a })}`;
  const when = a === b ? t("lens.threads.step", { n: a }) : t("lens.threads.steps", { a, b });
  return `${turnsOf(block)}, ${when}`;
}

const turnsOf = ({ turns }) =>
  turns === 1 ? s.t.value("lens.turns.one") : s.t.value("lens.turns", { n: turns });

function whose(row) {
  const t = s.t.value;
  if (row.where === "controller") return t("lens.threads.controller");
  const node = s.name.value(row.node, true);
  return row.where === "client"
    ? t("lens.threads.client", { node })
    : t("card.name", { name: node });
}

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** One tab stop; arrows lead along a thread, and to what another one runs nearest in time. */
function walk(event) {
  const to = ARROWS[event.key];
  const button = event.target.closest("button");
  if (!to || !button) return;
  event.preventDefault();
  event.stopPropagation();
  const rows = [...event.currentTarget.tBodies[0].rows].map((row) => [
    ...row.querySelectorAll("button"),
  ]);
  const at = rows.findIndex((row) => row.includes(button));
  const far = (one) => Math.abs(one.dataset.step - button.dataset.step);
  const next = to[0]
    ? rows[at + to[0]]?.toSorted((a, b) => far(a) - far(b))[0]
    : rows[at][rows[at].indexOf(button) + to[1]];
  next?.focus();
}

/** `told`: the answer of the server; `opened`: the key of the block that is open;
 *  `open(key, block)` opens it. */
export function Table({ told, wide, opened, open }) {
  const t = s.t.value;
  const n = s.n.value;
  const box = useRef(null);
  const [stop, setStop] = useState("");
  const columns = columnsOf(told.rows, n);
  const keys = told.rows.flatMap((row) => row.blocks.map((block) => keyOf(row, block)));
  const near = told.rows.flatMap((row) =>
    row.blocks.filter((block) => block.steps.includes(n)).map((block) => keyOf(row, block)),
  );
  const tabbed = [stop, opened, near[0]].find((one) => keys.includes(one)) ?? keys[0];
  useLayoutEffect(() => {
    const here = box.current?.querySelector("thead .here");
    if (here) box.current.scrollLeft = here.offsetLeft - box.current.clientWidth / 2;
  }, [n, told]);
  const label = t("lens.threads.label", { a: told.first, b: told.first + wide - 1 });
  const here = (at, last = at) => (at <= n && n <= last ? "here" : "");
  const now = (at) => (at === n ? "step" : null);
  return html`<div class="threadbox" ref=${box} role="region" aria-label=${label} tabindex="0">
    <table onKeyDown=${walk}>
      <thead>
        <tr>
          <th scope="col">${t("lens.threads.thread")}</th>
          ${columns.map(
            (at) =>
              html`<th key=${at} scope="col" class=${here(at)} aria-current=${now(at)}>${at}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${told.rows.map(
          (row) =>
            html`<tr key=${`${row.node}:${row.thread}`}>
              <th scope="row"><b>${whose(row)}</b><code>${humps(row.thread)}</code></th>
              ${cellsOf(row, columns).map(
                (cell) =>
                  html`<td
                    key=${cell.at}
                    colspan=${cell.span}
                    class=${`${here(cell.at, cell.last)} ${cell.blocks[0]?.turns ? "fold" : ""}`}
                  >
                    ${cell.blocks.map((block) => {
                      const key = keyOf(row, block);
                      return html`<button
                        key=${key}
                        type="button"
                        data-step=${block.steps[0]}
                        data-rule=${block.rule}
                        tabindex=${key === tabbed ? 0 : -1}
                        aria-expanded=${key === opened ? "true" : "false"}
                        aria-label=${wordsOf(block)}
                        title=${wordsOf(block)}
                        onFocus=${() => setStop(key)}
                        onClick=${() => open(key, block)}
                      >
                        ${block.turns ? turnsOf(block) : short(block.name)}
                      </button>`;
                    })}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
