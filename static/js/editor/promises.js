// What is promised for each profile, and beside it what happened when the script was played.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { post } from "../core/post.js";
import { kafka } from "../i18n/words.js";
import { Add, Choice, Small, Text } from "./fields.js";
import { verdictOf, verdictText } from "./model.js";
import * as e from "./state.js";

/** Plays the script under every profile of the scenario. */
const play = () =>
  e.during(async () => {
    const { profiles } = await post("/api/scenarios/play", { yaml: e.text.value });
    e.outcomes.value = profiles;
    const stuck = profiles.find((one) => one.problem?.script);
    if (stuck)
      e.problems.value = [
        {
          ...place(stuck.problem.script),
          sentence: `${stuck.profile}: ${stuck.problem.sentence}`,
          script: stuck.problem.script,
        },
      ];
  });

/** Where a line of the script stands in the text. */
export function place(script) {
  const lines = e.text.value.split("\n");
  const at = lines.findIndex((line) => /^script:/.test(line));
  return { line: at < 0 ? 1 : at + 1 + script, column: 3 };
}

/** What happened becomes what is promised. */
function take(doc, names) {
  const happened = e.outcomes.value.filter((one) => one.verdict && names.includes(one.profile));
  const kept = e.outcomes.value.filter((one) => !names.includes(one.profile));
  const expect = { ...doc.expect };
  for (const { profile, verdict, final } of happened)
    expect[profile] = { ...expect[profile], verdict: verdictOf(verdict), final };
  for (const name of doc.profiles) expect[name] ??= { verdict: "holds" };
  e.change({ expect });
  e.outcomes.value = [...kept, ...happened.map((one) => ({ ...one, complaints: [] }))];
}

function Happened({ doc, name, t }) {
  const one = e.outcomes.value.find((o) => o.profile === name);
  if (!one) return null;
  if (one.problem)
    return html`<p class="bad">
      ${one.problem.script ? `${t("edit.line", { n: one.problem.script })}: ` : ""}${
        one.problem.sentence
      }
    </p>`;
  const same = doc.expect[name] && one.complaints.length === 0;
  const said = one.broken.length
    ? t("edit.breaks", {
        profile: name,
        inv: one.broken.join(" "),
        words: t(`broken.${one.broken.includes("I7") ? "I7" : one.broken[0]}`),
      })
    : t("edit.holds", { profile: name });
  return html`<p class=${same ? "ok" : "differs"}>
      ${said}${" "}${
        same
          ? t("edit.kept")
          : html`${t("edit.meant")}${" "}<button
                type="button"
                class="btn small"
                onClick=${() => take(doc, [name])}
              >
                ${t("edit.yes")}
              </button>`
      }
    </p>
    ${!same && one.complaints.map((text) => html`<p key=${text} class="soft">${text}</p>`)}`;
}

/** Another profile, playing under all of them, and taking what happened as what is promised. */
function More({ doc, t, lists }) {
  const [chosen, choose] = useState("");
  const others = e.offers.value.profiles.filter(([name]) => !doc.profiles.includes(name));
  return html`<div class="row">
    <${Choice}
      label=${t("title.profile")}
      value=${chosen}
      options=${[["", "…"], ...others]}
      onChange=${choose}
    /><${Add}
      label=${t("edit.profile")}
      onClick=${() => {
        if (chosen) {
          lists([...doc.profiles, chosen]);
          choose("");
        }
      }}
    />
    <button
      type="button"
      class="btn small"
      disabled=${!e.readable.value || e.busy.value}
      onClick=${play}
    >
      ${t("edit.play")}
    </button>
    ${
      e.outcomes.value.some((one) => one.verdict) &&
      html`<button type="button" class="btn small" onClick=${() => take(doc, doc.profiles)}>
        ${t("edit.fill")}
      </button>`
    }
  </div>`;
}

export function Promises({ doc, t }) {
  const lists = (profiles) => {
    const expect = Object.fromEntries(
      profiles
        .filter((p) => doc.expect[p] || Object.keys(doc.expect).length)
        .map((p) => [p, doc.expect[p] ?? { verdict: "holds" }]),
    );
    e.change({ profiles, expect });
  };
  const verdict = (name, text) => {
    const next = { ...doc.expect, [name]: { ...doc.expect[name], verdict: verdictOf(text) } };
    for (const other of doc.profiles) next[other] ??= { verdict: "holds" };
    e.change({ expect: next });
  };
  return html`<p class="soft">${t("edit.promises.why")}</p>
    <ul class="lines">
      ${doc.profiles.map(
        (name) =>
          html`<li key=${name}>
            <div class="row">
              <b class="n" title=${name}>${kafka(t, name)}</b>
              <${Text}
                hidden
                label=${t("edit.verdict", { profile: name })}
                list="verdicts"
                placeholder=${t("edit.nothing")}
                value=${verdictText(doc.expect[name]?.verdict)}
                onChange=${(text) => verdict(name, text)}
              />
              <${Small}
                icon="close"
                label=${t("edit.remove", { what: kafka(t, name) })}
                off=${doc.profiles.length < 2}
                onClick=${() => lists(doc.profiles.filter((one) => one !== name))}
              />
            </div>
            <${Happened} doc=${doc} name=${name} t=${t} />
          </li>`,
      )}
    </ul>
    <datalist id="verdicts">
      <option value="holds" />
      <option value="statistical" />
      ${e.offers.value.invariants.map(
        (inv) => html`<option key=${inv} value=${`violates ${inv}`}>${t(`broken.${inv}`)}</option>`,
      )}
    </datalist>
    <${More} doc=${doc} t=${t} lists=${lists} />`;
}
