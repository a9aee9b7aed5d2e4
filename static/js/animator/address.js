// The address of the page: what it asks for when one arrives, and what it says from then on.

import { FIELDS, mended, query, read, within } from "../core/link.js";
import { pack, unpack, Unreadable } from "../core/packing.js";
import { countOf } from "../core/partition.js";
import { placed } from "../core/place.js";
import { inAddress, inTurn } from "../i18n/words.js";
import { LAYERS, layersText } from "../scene/layers.js";
import { pick } from "./choose.js";
import { side, SIDES, wanted } from "./reality.js";
import * as s from "./state.js";
import { remember } from "./visits.js";

const WHY = "why"; // the panel "now", asked for
const MOVES = "moves"; // the tab of old links that the line for typed moves replaced
const home = location.pathname; // the page a branch that was not saved hangs its text on
/** The links to this page in each language. */
const places = () =>
  /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("a[data-keep-place]")]);
/** @type {string | null} */
let told = null;
let due = 0; // the frame after which the address is written
/** The last jump that made a place to come back to.
 * @type {{run: string, n: number} | null} */
let jumped = null;

/** What the address asks for: {seen, problems, text}.  How it is to be looked at applies at
 *  once. */
export async function asked() {
  const { seen, problems } = read(location.search, {
    ...FIELDS,
    lang: [...new Set(places().flatMap(({ hreflang: tag }) => [inAddress(tag), tag]))],
    tab: [...s.TABS, MOVES, WHY],
    view: [...s.VIEWS, ...Object.keys(s.OLD_VIEWS)],
    ...(s.boot.value.seen && { show: SIDES, kafka: s.boot.value.seen.releases }),
  });
  for (const word of (new URLSearchParams(location.search).get("layers") ?? "").split(",")) {
    if (word && !LAYERS.includes(word.replace(/^-/, "")))
      problems.push({
        key: "link.value",
        args: { name: "layers", value: word.slice(0, 40), known: LAYERS.join(", ") },
      });
  }
  if (seen.size) s.size.value = seen.size;
  if (seen.tab === MOVES) s.sheet.value = "palette";
  else if (seen.tab === WHY) pick("now");
  else if (seen.tab && seen.tab !== "now") pick(seen.tab); // "now" is in every old link
  if (seen.show) s.beside.value = seen.show;
  if (seen.kafka) wanted.value = seen.kafka;
  const meant = mended(location.search, location.hash);
  if (meant) {
    location.replace(location.pathname + meant);
    await new Promise(() => {}); // the page that was meant comes in place of this one
  }
  const hash = new URLSearchParams(location.hash.slice(1));
  /** @type {string | null} */
  let text = null;
  for (const name of hash.keys())
    if (name !== "run" && location.hash.includes("="))
      problems.push({ key: "link.part", args: { name: name.slice(0, 40) } });
  if (hash.has("run")) {
    try {
      text = await unpack(hash.get("run"));
    } catch (problem) {
      if (!(problem instanceof Unreadable)) throw problem;
      problems.push({ key: problem.key, args: problem.args });
    }
  } else if (s.boot.value.bare) problems.push({ key: "link.no_run" });
  return { seen, problems, text };
}

/** Goes where a link asked for, as far as the run has it; says what is not to be had. */
export function settle(seen, problems) {
  const { p, problems: beyond } = within(seen, {
    total: s.facts.value.total,
    partitions: countOf(s.step.value?.view),
    first: s.facts.value.partition,
  });
  s.partition.value = p;
  const all = [...problems, ...beyond];
  if (all.length)
    s.notice.value = {
      kind: "warn",
      stays: true,
      text: inTurn(all.map((one) => one.text ?? s.t.value(one.key, one.args))),
    };
}

/** What is looked at, for a link. */
export const seeing = (n = s.n.value) => ({
  step: n,
  p: s.partition.value === s.facts.value?.partition ? undefined : s.partition.value,
  size: s.size.value,
  tab: !s.drawer.value ? "" : s.tab.value === "now" ? WHY : s.tab.value,
  lang: s.lang.value,
  layers: layersText(s.layers.value),
  view: s.view.value === s.usualView.value ? "" : s.view.value,
  show: side.value === "model" ? "" : side.value,
  kafka: side.value === "model" ? "" : (wanted.value ?? ""),
});

/** The page of a run, which its address names. */
function pathOf(on, own) {
  // What a server has only in its memory may be gone tomorrow: then the fragment is all there is.
  return own
    ? s.boot.value.library
      ? home
      : "/r"
    : on.parent || s.boot.value.room
      ? `/r/${on.digest}`
      : home;
}

/** The path where a page lies; what its place says in a query is kept in `keep`. */
function lying(server, keep) {
  const [path, more] = placed(server).split("?");
  for (const [name, value] of new URLSearchParams(more ?? "")) keep.set(name, value);
  return path;
}

/** Keeps the address at what is seen.  The picture comes first: the address is written after the
 *  next frame, once for all steps of one; browsers refuse a page that writes too often. */
export function follow() {
  void [s.boot.value, s.tapeNow.value, s.revision.value, s.classroom.value, seeing()];
  if (!due) due = requestAnimationFrame(() => setTimeout(s.level.value ? tellLevel : tell));
}

/** The address says what is seen: the run, the step; a run not saved travels in the fragment. */
async function tell() {
  due = 0;
  const on = s.tapeNow.value;
  const seen = seeing();
  // While a page follows a class, its address is the class, which others can be told.
  if (!on || (s.boot.value.room && s.classroom.value?.role === "follow")) return;
  const boot = s.boot.value;
  const keep = new URLSearchParams(location.search);
  keep.delete("profile");
  keep.delete("play"); // coming back to it does not play it again
  const own = on.saved === false;
  if (!own && !on.parent && boot.named && on.facts.profile !== on.facts.scenario.profiles[0])
    keep.set("profile", on.facts.profile);
  const path = lying(pathOf(on, own), keep);
  if (own && on.text) on.packed ??= await pack(on.text);
  if (s.tapeNow.value !== on || s.n.value !== seen.step) return;
  const hash = own && on.packed ? `#run=${on.packed}` : "";
  const url = `${path}${query(seen, keep)}${hash}`;
  // A branch is a place one can come back from, and where a jump began; a step is not.
  const state = { run: on.digest };
  const crumb = s.crumb.peek();
  const leapt = crumb !== null && crumb !== jumped && crumb.run === on.digest;
  jumped = crumb;
  if (told && (told !== on.digest || leapt)) history.pushState(state, "", url);
  else if (url !== location.pathname + location.search + location.hash || !history.state)
    history.replaceState(state, "", url);
  told = on.digest;
  remember(on, seen.step, url);
  for (const link of places())
    link.href = `${query({ ...seen, lang: inAddress(link.hreflang) }, keep) || "?"}${hash}`;
}

/** The address of a level plays the moves that were made. */
function tellLevel() {
  due = 0;
  const on = s.tapeNow.value;
  const moves = on && s.level.value.link?.(on.facts);
  if (!on || moves === undefined) return;
  const keep = new URLSearchParams(location.search);
  if (moves) keep.set("moves", moves);
  else keep.delete("moves");
  const address = (lang) => location.pathname + query({ lang }, keep);
  history.replaceState({ run: on.digest }, "", address(s.lang.value));
  for (const link of places()) link.href = address(inAddress(link.hreflang));
}

/** The browser's own way back: the run and the step an address spoke of. */
export function spoken(event) {
  const run = event.state?.run ?? null;
  if (run) told = run;
  cancelAnimationFrame(due);
  due = 0;
  return { run, step: read(location.search).seen.step ?? 0 };
}
