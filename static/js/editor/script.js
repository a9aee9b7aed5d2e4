// The script as rows: moved by dragging, by buttons or with Alt and an arrow key.

import { html } from "htm/preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { Add, Small } from "./fields.js";
import { moved, replaced, rowsOf, scriptOf, without } from "./model.js";
import * as e from "./state.js";

const put = (rows) => e.change({ script: scriptOf(rows) });

/** Asks follow their rows: a row that moves or goes takes its question along. */
function reorder(rows, next, at) {
  e.asks.value = e.asks.value
    .map((one) => ({ ...one, script: at(one.script) }))
    .filter((one) => one.script > 0);
  put(next);
}

function Asked({ row, i, rows, t }) {
  const asked = e.asks.value.find((one) => one.script === i + 1);
  if (!asked || row.comment) return null;
  return html`<p class="asked">
    ${t("edit.ask")} <span>${asked.sentence}</span>${" "}<button
      type="button"
      class="btn small"
      onClick=${() => put(replaced(rows, i, { comment: asked.sentence }))}
    >
      ${t("edit.ask.use")}
    </button>
  </p>`;
}

/** Up, down, away. */
function RowActs({ i, rows, to, t }) {
  return html`<span class="rowacts"
    ><${Small}
      icon="up"
      label=${t("edit.up", { n: i + 1 })}
      off=${i === 0}
      onClick=${() => to(i - 1)} /><${Small}
      icon="down"
      label=${t("edit.down", { n: i + 1 })}
      off=${i === rows.length - 1}
      onClick=${() => to(i + 1)} />
    <${Small}
      icon="close"
      label=${t("edit.remove", { what: t("edit.line", { n: i + 1 }) })}
      onClick=${() =>
        reorder(rows, without(rows, i), (n) => (n === i + 1 ? 0 : n > i + 1 ? n - 1 : n))}
  /></span>`;
}

/** One of the three fields of a row. */
function Field({ name, label, list, row, i, rows, bad }) {
  const box = useRef(null);
  // Set when it changes and not at every drawing: what is being typed stays.
  useLayoutEffect(() => {
    box.current.value = row[name];
  }, [row[name]]);
  return html`<input
    ref=${box}
    name=${name}
    type="text"
    aria-label=${`${label} ${i + 1}`}
    list=${list}
    placeholder=${row.move || name === "move" ? label : ""}
    aria-invalid=${bad && name === "move" ? "true" : null}
    onChange=${(event) => put(replaced(rows, i, { [name]: event.target.value }))}
  />`;
}

function Row({ row, i, rows, drag, t }) {
  const bad = e.problems.value.find((one) => one.script === i + 1);
  const to = (target) => {
    if (target >= 0 && target < rows.length)
      reorder(rows, moved(rows, i, target), (n) => shift(n - 1, i, target) + 1);
  };
  const keys = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || !event.altKey) return;
    event.preventDefault();
    to(i + by);
    const list = event.currentTarget.parentElement;
    requestAnimationFrame(() =>
      list.children[i + by]?.querySelector(`[name="${event.target.name}"]`)?.focus(),
    );
  };
  const over = (event) => {
    if (drag.from.current !== null) {
      event.preventDefault();
      drag.setOver(i);
    }
  };
  const drop = (event) => {
    event.preventDefault();
    const from = drag.from.current;
    drag.end();
    if (from !== null && from !== i)
      reorder(rows, moved(rows, from, i), (n) => shift(n - 1, from, i) + 1);
  };
  const field = (name, label, list) =>
    html`<${Field} ...${{ name, label, list, row, i, rows, bad }} />`;
  return html`<li
    class=${`move ${drag.over === i ? "over" : ""}`}
    onDragOver=${over}
    onDrop=${drop}
    onKeyDown=${keys}
  >
    <span
      class="grip"
      draggable="true"
      aria-hidden="true"
      title=${t("edit.drag")}
      onDragStart=${(event) => {
        drag.from.current = i;
        event.dataTransfer.setData("text/plain", String(i));
        event.dataTransfer.effectAllowed = "move";
      }}
      onDragEnd=${drag.end}
    ></span>
    <span class="num">${i + 1}</span>${field("prefix", t("edit.only"))}${field(
      "move",
      t("edit.move"),
      "verbs",
    )}${field("comment", t("edit.comment"))}
    <${RowActs} i=${i} rows=${rows} to=${to} t=${t} />
    ${bad && html`<p class="bad">${bad.sentence}</p>`}<${Asked}
      row=${row}
      i=${i}
      rows=${rows}
      t=${t}
    />
  </li>`;
}

/** Where the entry at `n` stands after one went from `from` to `to`. */
function shift(n, from, to) {
  if (n === from) return to;
  if (from < n && n <= to) return n - 1;
  return to <= n && n < from ? n + 1 : n;
}

export function Script({ doc, t }) {
  const from = useRef(null);
  const list = useRef(null);
  const fresh = useRef(false);
  const [over, setOver] = useState(-1);
  const rows = rowsOf(doc.script);
  useLayoutEffect(() => {
    if (!fresh.current) return;
    fresh.current = false;
    [...list.current.querySelectorAll("[name=move]")].at(-1)?.focus();
  }, [rows.length]);
  const drag = {
    from,
    over,
    setOver,
    end: () => {
      from.current = null;
      setOver(-1);
    },
  };
  return html`<p class="soft">${t("edit.script.why")}</p>
    <ol class="script" ref=${list}>
      ${rows.map(
        (row, i) => html`<${Row} key=${i} row=${row} i=${i} rows=${rows} drag=${drag} t=${t} />`,
      )}
    </ol>
    <${Add}
      label=${t("edit.move")}
      onClick=${() => {
        fresh.current = true;
        put([...rows, { prefix: "", move: "", comment: "" }]);
      }}
    />
    <datalist id="verbs">
      ${e.offers.value.verbs.map(
        ({ grammar, help, example }) =>
          html`<option key=${grammar} value=${example}>${help}</option>`,
      )}
    </datalist>`;
}
