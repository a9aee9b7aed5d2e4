// Steps a to b as a GIF: how many frames, how long, how large; made while one watches, or stopped.

import { html } from "htm/preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { SHORTEST_MS, WORD_MS } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { download } from "../core/dom.js";
import { beats } from "../core/history.js";
import { film, records, strip } from "../export/film.js";
import { clear } from "../export/frame.js";
import { animate, estimate } from "../export/gif.js";
import { lasts, plan, range, WIDEST } from "../export/plan.js";
import { countWords } from "../i18n/words.js";
import { why } from "./common.js";

const AROUND = 5;
const kilo = (bytes) => Math.max(1, Math.round(bytes / 1000));
const within = (value, low, high) => Math.min(high, Math.max(low, Math.round(Number(value)) || 0));

/** Which step of the run it begins or ends with. */
const StepField = ({ label, value, set, total, off, t }) =>
  html`<label class="field"
    >${t(label)}${" "}<input
      type="number"
      min="0"
      max=${total}
      value=${value}
      disabled=${off}
      onChange=${(e) => set(within(e.target.value, 0, total))}
  /></label>`;

/** How far it is, and the way to stop it. */
function Making({ told, stop, t }) {
  return html`<div class="row">
    <progress max=${told.of || 1} value=${told.done} aria-label=${t("export.gif")}></progress
    ><span class="num" data-ms=${told.ms ? Math.round(told.ms) : null}
      >${
        told.of ? t("export.gif.told", { done: told.done, of: told.of, kb: kilo(told.bytes) }) : "…"
      }</span
    ><button type="button" class="btn" onClick=${stop}>${t("export.gif.stop")}</button>
  </div>`;
}

/** Long work, one at a time: what it tells, what went wrong, and how it is stopped. */
function useWork(words) {
  const [told, setTold] = useState(null);
  const [bad, setBad] = useState(null);
  const current = useRef(null);
  const stop = () => current.current?.abort();
  useEffect(
    () => () => {
      stop();
      clear();
    },
    [],
  );
  const run = async (work) => {
    setBad(null);
    current.current = new AbortController();
    try {
      await work({ width: WIDEST, words, signal: current.current.signal });
    } catch (problem) {
      setBad(why(problem));
    } finally {
      current.current = null;
      setTold(null);
      clear();
    }
  };
  return { told, setTold, bad, run, stop };
}

/** Something that is done, or not. */
const Check = ({ label, on, set, off, t }) =>
  html`<label class="field"
    ><input
      type="checkbox"
      checked=${on}
      disabled=${off}
      onChange=${(e) => set(e.target.checked)}
    />${" "}${t(label)}</label
  >`;

/** How long a frame is shown: as long as its caption is read. */
function readIn(n, on, words) {
  const step = on.steps.get(n);
  const said = step ? words(step).lines[0] : "";
  return Math.max(SHORTEST_MS, countWords(said) * WORD_MS);
}

/** The files that can be made of the frames: GIF, film, strip. */
const Makers = ({ make, measure, frames, t }) =>
  html`<div class="row">
    <button type="button" class="btn" onClick=${() => make(animate, "gif", frames)}>
      ${t("export.gif.make")}</button
    >${
      records() &&
      html`<button
        type="button"
        class="btn"
        title=${t("export.film.why")}
        onClick=${() => make(film, "webm", frames)}
      >
        ${t("export.film.make")}
      </button>`
    }<button
      type="button"
      class="btn"
      onClick=${() =>
        make(
          strip,
          "png",
          frames.filter(({ p }) => p === 1),
        )}
    >
      ${t("export.strip.make")}</button
    ><button type="button" class="btn quiet" onClick=${measure}>${t("export.gif.measure")}</button>
  </div>`;

export function Animation({ name, words }) {
  const t = s.t.value;
  const on = s.tapeNow.value;
  const total = on.facts.total;
  const [a, setA] = useState(Math.max(0, s.n.value - AROUND));
  const [b, setB] = useState(Math.min(total, s.n.value + AROUND));
  const [motion, setMotion] = useState(true);
  const [size, setSize] = useState(null);
  const { told: work, setTold, bad, run, stop } = useWork(words);
  const told = [...new Set([...beats(on.facts), total])].sort((x, y) => x - y);
  const [story, setStory] = useState(told.length > 1);
  const frames = useMemo(() => {
    const steps = story ? told : range(Math.min(a, b), Math.max(a, b));
    return plan(steps, { motion, rest: (n) => readIn(n, on, words) });
  }, [a, b, motion, story, on.digest, s.revision.value]);
  useEffect(() => setSize(null), [frames]);
  const measure = () =>
    run(async (options) => {
      setTold({ done: 0, of: 0 });
      setSize(await estimate(on, frames, options));
    });
  const make = (maker, ending, shown) =>
    run(async (options) => {
      const made = await maker(on, shown, { ...options, told: setTold });
      if (!made) return;
      download(made, name(ending));
      if (ending === "gif") setSize(made.size);
    });
  const off = work !== null;
  const number = (label, value, set) =>
    html`<${StepField} ...${{ label, value, set, total, off, t }} />`;
  return html`<div class="gif">
    <b>${t("export.gif")}</b>
    <div class="row">
      <${Check} ...${{ label: "export.gif.story", on: story, set: setStory, off, t }} />
      ${!story && number("export.gif.from", a, setA)}${!story && number("export.gif.to", b, setB)}
      <${Check} ...${{ label: "export.gif.motion", on: motion, set: setMotion, off, t }} />
    </div>
    <p class="soft">
      ${t("export.gif.plan", {
        frames: frames.length,
        s: Math.round(lasts(frames) / 100) / 10,
      })}${" "}${size !== null && t("export.gif.size", { kb: kilo(size) })}
    </p>
    ${
      work === null
        ? html`<${Makers} ...${{ make, measure, frames, t }} />`
        : html`<${Making} told=${work} stop=${stop} t=${t} />`
    }
    ${bad && html`<p class="bad" role="status">${bad}</p>`}
  </div>`;
}
