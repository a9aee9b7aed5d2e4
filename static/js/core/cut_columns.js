// The table "What if a broker dies now?": says when columns are outside the window.

/** Watches each table in `root` and shows the sentence above it while columns are cut off. */
export function watchCut(root) {
  for (const table of root.querySelectorAll(".whatif")) {
    const sentence = table.previousElementSibling;
    const mark = () => {
      sentence.hidden = table.scrollWidth <= table.clientWidth + 1;
    };
    new ResizeObserver(mark).observe(table);
    mark();
  }
}
