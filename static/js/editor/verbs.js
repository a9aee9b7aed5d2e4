// Every move there is, with a sentence and an example that can be put into the script.

import { html } from "htm/preact";

import { rowsOf, scriptOf } from "./model.js";
import * as e from "./state.js";

const GROUPS = ["clients", "deliver", "time", "faults", "admin"];

export function Verbs({ doc, t }) {
  const write = (move) =>
    e.change({ script: scriptOf([...rowsOf(doc.script), { prefix: "", move, comment: "" }]) });
  return GROUPS.map(
    (group) =>
      html`<h3 key=${group}>${t(`moves.${group}`)}</h3>
        <ul class="lines verbs">
          ${e.offers.value.verbs
            .filter((one) => one.group === group)
            .map(
              (one) =>
                html`<li key=${one.grammar} title=${one.grammar}>
                  <button
                    type="button"
                    class="btn small"
                    aria-label=${t("edit.verbs.put", { move: one.example })}
                    onClick=${() => write(one.example)}
                  >
                    + <code>${one.example}</code></button
                  ><span>${one.help}</span>
                </li>`,
            )}
        </ul>`,
  );
}
