// The branches of this visit: one can be chosen, and the chosen one renamed.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { switchTo } from "../animator/acting.js";
import * as s from "../animator/state.js";
import { promise } from "../i18n/words.js";
import { Icon } from "./common.js";

const MOST_SEEN = 6;
const FEWEST = 3; // the script and two branches

function Rename({ one, done }) {
  const t = s.t.value;
  const [name, setName] = useState(one.name ?? "");
  const keep = (event) => {
    event.preventDefault();
    one.name = name.trim().slice(0, 60) || one.name;
    s.revision.value += 1;
    done();
  };
  return html`<form
    class="row tight"
    onSubmit=${keep}
    onKeyDown=${(e) => {
      if (e.key === "Escape") {
        e.stopPropagation();
        done();
      }
    }}
  >
    <input
      class="mono"
      aria-label=${t("branch.name")}
      maxlength="60"
      value=${name}
      ref=${(el) => el?.focus()}
      onInput=${(e) => setName(e.target.value)}
      onBlur=${keep}
    />
  </form>`;
}

function Branch({ one, letter, naming, rename }) {
  const t = s.t.value;
  const here = one.digest === s.run.value;
  const broken =
    one.facts.verdict && !one.facts.verdict.holds
      ? [...new Set(one.facts.verdict.broken.map((b) => b.invariant))]
      : [];
  const worst = broken.includes("I7") ? "I7" : broken[0];
  return html`<li class="row tight">
    ${
      naming
        ? html`<${Rename} one=${one} done=${() => rename(null)} />`
        : html`<button
            type="button"
            class="branch"
            aria-pressed=${here ? "true" : "false"}
            onClick=${() => switchTo(one.digest)}
          >
            <span class="letter">${letter}</span>${" "}<code
              >${
                one.name ?? (one.parent ? "" : t("branch.main", { profile: one.facts.profile }))
              }</code
            >
            ${
              one.parent ? html`<span class="soft">${t("branch.at", { n: one.fork })}</span>` : null
            }
            ${
              worst && html`<span class="bad" title=${broken.join(" ")}>${promise(t, worst)}</span>`
            }
          </button>`
    }${
      here &&
      !naming &&
      html`<button
        type="button"
        class="btn quiet square"
        aria-label=${t("branch.rename")}
        title=${t("branch.rename")}
        onClick=${() => rename(one.digest)}
      >
        <${Icon} name="pencil" />
      </button>`
    }
  </li>`;
}

export function Branches() {
  const t = s.t.value;
  const [naming, rename] = useState(null);
  void s.revision.value;
  const tapes = s.branches.value;
  if (tapes.length < FEWEST) return null; // of one branch, Undo is the way back
  return html`<ul
    class="branches"
    data-many=${tapes.length > MOST_SEEN ? "1" : null}
    aria-label=${t("branch.label")}
  >
    ${tapes.map(
      (one, i) =>
        html`<${Branch}
          key=${one.digest}
          one=${one}
          letter=${String.fromCharCode(65 + (i % 26))}
          naming=${naming === one.digest}
          rename=${rename}
        />`,
    )}
  </ul>`;
}
