// Steps a to b as a GIF: how many frames, how long, how large; made while one watches, or stopped.

import { html } from "htm/preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { clear } from "../export/frame.js";
import { animate, estimate } from "../export/gif.js";
import { lasts, plan, WIDEST } from "../export/plan.js";
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

export function Animation({ name, words, hand }) {
  const t = s.t.value;
  const on = s.tapeNow.value;
  const total = on.facts.total;
  const [a, setA] = useState(Math.max(0, s.n.value - AROUND));
  const [b, setB] = useState(Math.min(total, s.n.value + AROUND));
  const [motion, setMotion] = useState(true);
  const [size, setSize] = useState(null);
  const { told, setTold, bad, run, stop } = useWork(words);
  const frames = useMemo(() => {
    const weighty = new Set(on.facts.moments);
    return plan(Math.min(a, b), Math.max(a, b), { motion, weighty: (n) => weighty.has(n) });
  }, [a, b, motion, on.digest]);
  useEffect(() => setSize(null), [frames]);
  const measure = () =>
    run(async (options) => {
      setTold({ done: 0, of: 0 });
      setSize(await estimate(on, frames, options));
    });
  const make = () =>
    run(async (options) => {
      const made = await animate(on, frames, { ...options, told: setTold });
      if (made) {
        hand(made, name("gif"));
        setSize(made.size);
      }
    });
  const number = (label, value, set) =>
    html`<${StepField} ...${{ label, value, set, total, off: told !== null, t }} />`;
  return html`<div class="gif">
    <b>${t("export.gif")}</b>
    <div class="row">
      ${number("export.gif.from", a, setA)}${number("export.gif.to", b, setB)}
      <label class="field"
        ><input
          type="checkbox"
          checked=${motion}
          disabled=${told !== null}
          onChange=${(e) => setMotion(e.target.checked)}
        />${" "}${t("export.gif.motion")}</label
      >
    </div>
    <p class="soft">
      ${t("export.gif.plan", {
        frames: frames.length,
        s: Math.round(lasts(frames) / 100) / 10,
      })}${" "}${size !== null && t("export.gif.size", { kb: kilo(size) })}
    </p>
    ${
      told === null
        ? html`<div class="row">
            <button type="button" class="btn" onClick=${make}>${t("export.gif.make")}</button
            ><button type="button" class="btn quiet" onClick=${measure}>
              ${t("export.gif.measure")}
            </button>
          </div>`
        : html`<${Making} told=${told} stop=${stop} t=${t} />`
    }
    ${bad && html`<p class="bad" role="status">${bad}</p>`}
  </div>`;
}
