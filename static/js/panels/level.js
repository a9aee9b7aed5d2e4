// The goal of a level over its stage, and under it what the engine says of the moves so far.

import { html } from "htm/preact";

import { claim, restart } from "../animator/level.js";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";

/** The address that plays the moves made so far; the page's own follows a moment later. */
function solution() {
  const url = new URL(location.href);
  url.searchParams.set("moves", s.level.value.link(s.facts.value));
  return url.href;
}

/** The goal, how many moves were made of how few, and the way back to the beginning. */
export function LevelTitle() {
  const t = s.t.value;
  const { goal, par, place, verdict } = s.level.value;
  const used = verdict?.used ?? 0;
  return html`<h1 class="goal" title=${goal}>${goal}</h1>
    <span class="pathplace" aria-label=${t("level.counter")}
      ><span class="wide"
        >${place} · ${t(used === 1 ? "level.counted.one" : "level.counted", { n: used })} ·
        ${" "}${par ? t("level.parof", { n: par }) : t("level.unknown")}</span
      ><span class="narrow">${used}/${par || "?"}</span></span
    ><button type="button" class="btn" id="again" aria-label=${t("level.again")} onClick=${restart}>
      <${Icon} name="restart" /><span class="wide">${t("level.again")}</span>
    </button>`;
}

/** What to do next: the next level, or a hint and the claim that there is no way. */
export function LevelAsks() {
  const t = s.t.value;
  if (s.level.value.verdict?.done)
    return html`<a id="levellink" href=${solution()}>${t("level.link")}</a
      ><a class="btn primary" id="nextlevel" href=${s.level.value.next}>${t("level.next")}</a>`;
  const hint = () => {
    s.notice.value = { kind: "ok", text: s.level.value.hint, stays: true };
  };
  return html`<button type="button" class="jump" onClick=${hint}>${t("level.hint")}</button>
    <button type="button" class="jump" id="never" onClick=${claim}>${t("level.never")}</button>`;
}

/** The moves that are left, each a button, and time. */
export function LevelMoves({ make }) {
  const t = s.t.value;
  const button = (text, say) =>
    html`<button key=${text} type="button" class="btn" title=${text} onClick=${() => make(text)}>
      ${say}
    </button>`;
  const { moves = [], wait } = s.level.value.verdict ?? {};
  return html`${moves.map(({ text, say }) => button(text, say))}
    ${wait && button(wait, t("level.wait"))}
    <p class="soft">${t("level.free")}</p>`;
}
