// A run in a frame of another page: what the address names is played from its frozen steps.

import { at } from "../core/dom.js";
import { read } from "../core/link.js";
import { unpack, Unreadable } from "../core/packing.js";

const CHOICES = {
  controls: ["step", "play", "none"],
  panel: ["now", "none"],
  theme: ["auto", "light", "dark"],
};
const FIRST_STEPS = 8;

const chosen = (query) =>
  Object.fromEntries(
    Object.entries(CHOICES).map(([name, known]) => [
      name,
      known.includes(query.get(name)) ? query.get(name) : known[0],
    ]),
  );

/** hw:2:4, an answer drawn beside the truth. */
function guessOf(text) {
  const found = /^(hw|leo):(\d{1,6}):(\d{1,9})$/.exec(text ?? "");
  return found && { mark: found[1], who: Number(found[2]), at: Number(found[3]) };
}

/** What is asked of the channel: a packed run, a digest, or a scenario of the library.
 * @returns {Promise<object>} */
async function named(query, root) {
  const packed = new URLSearchParams(location.hash.slice(1)).get("run");
  if (packed) return { text: await unpack(packed) };
  if (query.has("run")) return { run: query.get("run") };
  const { kafkas, runs } = await (await fetch(`${root}runs/library.json`)).json();
  const scenario = query.get("scenario") ?? "";
  const asked = query.get("kafka") ?? "";
  const profile = kafkas[asked] ?? asked;
  const own = runs[scenario] ?? runs[scenario.toUpperCase()] ?? {};
  const digest = profile ? own[profile] : Object.values(own)[0];
  if (digest) return { run: digest };
  return { scenario, ...(profile && { profile }), seed: Number(query.get("seed") ?? 0) };
}

/** Fills the page of a frame and returns once its script can run.
 * @returns {Promise<boolean>} whether there is a run */
export async function framed({ channel, root, lang, t }) {
  const query = new URLSearchParams(location.search);
  const looks = chosen(query);
  if (looks.theme !== "auto") document.documentElement.dataset.theme = looks.theme;
  if (looks.panel === "none") at("caption").remove();
  const { seen } = read(location.search);
  let answer;
  try {
    const asked = await named(query, root);
    answer = await channel.ask("open", { ...asked, step: seen.step ?? 0, ahead: FIRST_STEPS });
  } catch (problem) {
    at("problem").textContent =
      problem instanceof Unreadable ? t("folder.link") : problem.message || t("folder.failed");
    at("problem").hidden = false;
    at("framed").textContent = "Highwater";
    return false;
  }
  const { run, facts, steps } = answer;
  at("framed").textContent = facts.scenario.title;
  document.title = `${facts.scenario.title} · Highwater`;
  at("kafka").textContent = query.get("kafka") ?? "";
  const to = Math.min(Number(query.get("to")) || 0, facts.total);
  const step = Math.min(seen.step ?? 0, facts.total);
  const guess = guessOf(query.get("guess"));
  const boot = { run, step, to, guess, lang, facts, steps, ...looks };
  at("boot").textContent = JSON.stringify(boot);
  return true;
}
