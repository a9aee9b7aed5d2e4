// Help: every key, and what the picture's signs mean.

import { html } from "htm/preact";
import * as s from "../state.js";

export const KEYS = [
  ["Space", "key.play"], ["← →", "key.step"], ["Shift ← →", "key.moment"], ["[ ]", "key.chapter"], ["Home End", "key.ends"], ["1 2 3 4", "key.size"],
  ["/", "key.type"], [".", "key.time"], ["k r", "key.faults"], ["w", "key.why"], ["n", "key.violation"], ["{ }", "key.branch"], ["u", "key.undo"], ["?", "key.help"],
];
const SIGNS = ["cell", "open", "acked", "ghost", "hw", "leo", "memory", "waits", "stale", "crown", "differ", "epochs"];

export function help() { document.getElementById("help")?.showModal(); }

export function Help() {
  const t = s.t.value;
  const toggle = (e) => { s.letters.value = e.target.checked; s.remember("letters", e.target.checked ? "on" : "off"); };
  return html`<dialog id="help" aria-labelledby="helptitle"><form method="dialog"><header class="row"><h2 id="helptitle" class="grow">${t("help.title")}</h2><button class="btn">${t("bad.close")}</button></header></form>
    <div class="helpgrid"><section><h3>${t("help.keys")}</h3><dl class="keys">${KEYS.map(([key, words]) => html`<div key=${key}><dt>${key.split(" ").map((k) => html`<kbd key=${k}>${k}</kbd> `)}</dt><dd>${t(words)}</dd></div>`)}</dl>
      <label class="row"><input type="checkbox" checked=${s.letters.value} onChange=${toggle} /> ${t("help.letters")}</label></section>
    <section><h3>${t("help.signs")}</h3><dl class="signs">${SIGNS.map((sign) => html`<div key=${sign}><dt><i class=${`sign ${sign}`} aria-hidden="true"></i>${t(`sign.${sign}`)}</dt><dd>${t(`sign.${sign}.why`)}</dd></div>`)}</dl></section></div>
  </dialog>`;
}
