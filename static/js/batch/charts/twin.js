// Every chart as a table: what is drawn, row by row.

import { percent } from "./figures.js";

const SHARES = new Set(["share", "low", "high"]);
const LINK = "url";

function shown(name, value) {
  if (SHARES.has(name)) return percent(value);
  return value === null || value === undefined ? "–" : String(value);
}

function cell(tag, text, kind) {
  const made = document.createElement(tag);
  made.append(text);
  if (kind) made.className = kind;
  return made;
}

/** Puts the rows below the chart, closed; a row that leads somewhere has a link on its last
 *  figure. */
export function twin(figure, rows, t) {
  let details = figure.querySelector("details");
  if (details && !details.classList.contains("twin")) return; // the page itself has one
  if (!details) {
    details = figure.appendChild(
      Object.assign(document.createElement("details"), { className: "twin" }),
    );
    details.append(cell("summary", t("batch.as.table")));
    const scroll = details.appendChild(cell("div", "", "scroll"));
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
  }
  const scroll = details.querySelector(".scroll");
  scroll.setAttribute("aria-label", figure.querySelector("h3").textContent);
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== LINK);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of names) {
    const known = t(`batch.col.${name}`);
    const made = head.appendChild(
      cell(
        "th",
        known.startsWith("batch.col.") ? name : known,
        typeof rows[0][name] === "number" ? "num" : "",
      ),
    );
    made.scope = "col";
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [i, name] of names.entries()) {
      const made = line.appendChild(
        cell(i ? "td" : "th", shown(name, row[name]), typeof row[name] === "number" ? "num" : ""),
      );
      if (!i) made.scope = "row";
      if (row[LINK] && name === "share")
        made.replaceChildren(
          Object.assign(document.createElement("a"), {
            href: row[LINK],
            textContent: made.textContent,
          }),
        );
    }
  }
  scroll.replaceChildren(table);
}
