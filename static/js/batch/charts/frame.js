// The frame of a figure: how wide it may be, the menus in its caption, and drawing it again.

const WIDEST = 1100;
export const widthOf = (figure) =>
  Math.min(WIDEST, Math.max(320, figure.querySelector(".plot").clientWidth));

/** A menu in the caption of a figure; with one entry there is nothing to choose. */
export function menu(figure, name, label, entries, onChange, first = entries[0]?.[0]) {
  const caption = figure.querySelector("figcaption");
  if (caption.querySelector(`[name=${name}]`) || entries.length < 2) return;
  // A link to a chart says what its menus showed: ?shares.invariant=I7.
  const wanted = new URLSearchParams(location.search).get(`${figure.id}.${name}`);
  const start = entries.some(([value]) => value === wanted) ? wanted : first;
  const field = Object.assign(document.createElement("label"), {
    className: "field",
    textContent: label,
  });
  const select = field.appendChild(Object.assign(document.createElement("select"), { name }));
  for (const [value, text] of entries)
    select.append(new Option(text, value, false, value === start));
  select.addEventListener("change", () => onChange(select.value));
  caption.append(field);
  if (start !== first) onChange(start);
}

/** Figures are drawn again when the page changes its width. */
export function onResize() {
  // A chart that an address names was not there yet when the browser looked for it.
  document.querySelector("figure.chart:not([hidden]):target")?.scrollIntoView();
  let due = 0;
  addEventListener("resize", () => {
    clearTimeout(due);
    due = setTimeout(() => {
      /** @type {NodeListOf<HTMLElement & {redraw?: () => void}>} */
      const figures = document.querySelectorAll("figure.chart");
      for (const figure of figures) figure.redraw?.();
    }, 120);
  });
}
