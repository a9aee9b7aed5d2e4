// The strip beside the box: each line in the colour of its kind.

import { html } from "htm/preact";
import { render } from "preact";

import { at } from "../core/dom.js";

/** Marks the lines of the box; those that could not be read are marked as such. */
export function colour(lines, problems) {
  const bad = new Set(problems.map(({ line }) => line));
  const bars = lines.flatMap(({ first, last, kind }) => {
    const marked = [];
    for (let line = first; line <= last; line += 1) {
      const own = bad.has(line) ? "unknown" : kind;
      const before = marked.at(-1);
      if (before?.kind === own) before.count += 1;
      else marked.push({ line, count: 1, kind: own });
    }
    return marked;
  });
  render(
    html`${bars.map(
      ({ line, count, kind }) =>
        html`<i
          key=${line}
          class=${`bar ${kind}`}
          style=${{ "--first": line - 1, "--count": count }}
        ></i>`,
    )}`,
    at("strip"),
  );
}

at("text").addEventListener("scroll", () => {
  at("strip").style.setProperty("--down", `${-at("text").scrollTop}px`);
});
at("text").addEventListener("input", () => render(null, at("strip")));
