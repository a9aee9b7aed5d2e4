// The code lens: which thread of Kafka is at work at this step, its call chain down to what acts,
// in an exact release; and the same beside another release.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { Stack } from "./stack.js";
import { Threads } from "./threads.js";
import { Forms, loadForms, Slider } from "./through.js";

const known = { lang: "", profile: "", facts: null };

/** Words that only this panel says, and the releases that there are; fetched once. */
async function prepare(lang, profile) {
  if (known.lang !== lang) {
    const words = await fetch(`/i18n/${lang}.json?page=lens`).then((answer) => answer.json());
    s.words.value = { ...s.words.value, ...words };
    known.lang = lang;
  }
  if (known.profile !== profile) {
    const asked = `/api/lens.json?profile=${encodeURIComponent(profile)}`;
    known.facts = await fetch(asked).then((answer) => answer.json());
    known.profile = profile;
  }
  return known.facts;
}

/** The stacks of one step. */
async function load(digest, n, releases) {
  const address = `/r/${digest}/steps.json?from=${n}&count=1&only=lens&lens=${releases.join(",")}`;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(address);
  return (await answer.json()).steps[0]?.lens ?? null;
}

function Chooser({ label, value, onChange, facts, none }) {
  const t = s.t.value;
  const own = (name) => (name === facts.own ? ` · ${t("lens.behaves")}` : "");
  return html`<label class="field"
    >${label}
    <select value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${none && html`<option value="">${none}</option>`}
      ${facts.releases.map(
        ({ name }) => html`<option key=${name} value=${name}>${name}${own(name)}</option>`,
      )}
    </select></label
  >`;
}

function Releases({ a, b, setFirst, choose, facts }) {
  const t = s.t.value;
  return html`<div class="row">
    <${Chooser} label=${t("lens.release")} value=${a} onChange=${setFirst} facts=${facts} />
    <${Chooser}
      label=${t("lens.second")}
      value=${b}
      onChange=${choose}
      facts=${facts}
      none=${t("lens.one")}
    />
    <a href="/code">${t("lens.search")}</a>
  </div>`;
}

/** The releases that the address asks for: lens=2.5.1,4.1.1. */
const linked = (new URLSearchParams(location.search).get("lens") ?? "").split(",");

/** The run's own release and what is remembered of the other, unless others were chosen or
 *  linked to. */
function useReleases(facts) {
  const known = (name) => (facts?.releases.some((one) => one.name === name) ? name : "");
  const [first, setFirst] = useState(null);
  const [second, setSecond] = useState(null);
  const a = (first ?? known(linked[0])) || facts?.own || "";
  const b = second ?? known(linked[1] ?? s.remembered("lens2", ""));
  const choose = (value) => {
    setSecond(value);
    s.remember("lens2", value);
  };
  return { a, b: b === a ? "" : b, setFirst, choose };
}

/** How the step's chains changed from release to release; [] until that is known. */
function useForms(facts) {
  const here = `${s.run.value}@${s.n.value}`;
  const [told, setTold] = useState({ here: "", forms: [] });
  useEffect(() => {
    if (!facts) return undefined;
    const wait = setTimeout(() => {
      loadForms(s.run.value, s.n.value).then(
        (forms) => setTold({ here, forms }),
        () => setTold({ here, forms: [] }),
      );
    }, 120);
    return () => clearTimeout(wait);
  }, [here, Boolean(facts), s.online.value]);
  return told.here === here ? told.forms : [];
}

export function Lens() {
  const t = s.t.value;
  const facts = s.facts.value;
  const step = s.step.value;
  const [about, setAbout] = useState(null);
  /** @type {{key: string, failed?: boolean, lens?: any, cues?: Cue[]}} */
  const nothing = { key: "" };
  const [told, setTold] = useState(nothing);
  const { a, b, setFirst, choose } = useReleases(about);
  const profile = facts?.profile ?? "";
  useEffect(() => {
    prepare(s.lang.value, profile).then(setAbout, () => setTold({ key: "", failed: true }));
  }, [s.lang.value, profile, s.online.value]);
  const key = `${s.run.value}@${s.n.value}@${a},${b}`;
  const forms = useForms(facts);
  useEffect(() => {
    if (!a || !facts) return undefined;
    const wait = setTimeout(() => {
      load(s.run.value, s.n.value, b ? [a, b] : [a]).then(
        (lens) => setTold({ key, lens, cues: step?.cues ?? [] }),
        () => setTold({ key, failed: true }),
      );
    }, 120);
    return () => clearTimeout(wait);
  }, [key, s.online.value]);
  if (!about) return html`<p class="soft">${told.failed ? t("offline.wait") : "…"}</p>`;
  const current = told.key === key;
  const stacks = told.lens?.releases[0].stacks ?? [];
  return html`<div
    class="stack lens"
    id="lens"
    data-key=${told.key}
    aria-busy=${current ? null : "true"}
  >
    <p class="soft">${t("lens.lead")}</p>
    <${Releases} a=${a} b=${b} setFirst=${setFirst} choose=${choose} facts=${about} />
    <${Slider} a=${a} b=${b} choose=${choose} facts=${about} forms=${forms} />
    <${Threads} release=${a} />
    ${current && told.failed && html`<p class="soft">${t("lens.failed")}</p>`}
    ${current && told.lens && stacks.length === 0 && html`<p class="soft">${t("lens.nothing")}</p>`}
    ${
      told.lens &&
      stacks.map(
        (one, at) =>
          html`<${Stack}
            key=${`${told.key}:${at}`}
            at=${at}
            told=${told.lens}
            cues=${told.cues}
            base=${about.base}
          >
            ${
              forms[0]?.stacks[at] &&
              html`<${Forms}
                forms=${forms}
                number=${at}
                facts=${about}
                a=${a}
                b=${b}
                choose=${choose}
              />`
            }
          <//>`,
      )
    }
  </div>`;
}
