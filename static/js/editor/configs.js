// The form's part about configuration: what differs from its default.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { kafka } from "../i18n/words.js";
import { Add, Choice, Num, Small, Text } from "./fields.js";
import * as e from "./state.js";

export function Configs({ doc, t }) {
  const [chosen, choose] = useState("");
  const set = Object.entries(doc.configs);
  const known = e.offers.value.configs;
  const put = (name, value) => e.change({ configs: { ...doc.configs, [name]: value } });
  const drop = (name) =>
    e.change({ configs: Object.fromEntries(set.filter(([one]) => one !== name)) });
  const usual = (one) =>
    [
      t("edit.default", { value: one.default, unit: one.unit }),
      ...Object.entries(one.defaults)
        .filter(([p]) => doc.profiles.includes(p))
        .map(([p, v]) => `${kafka(t, p)}: ${v}`),
    ].join(" · ");
  return html`<ul class="lines">
      ${set.map(([name, value]) => {
        const one = known.find((c) => c.name === name);
        return html`<li key=${name}>
          <div class="row">
            <code>${name}</code>${
              one?.unit === "list"
                ? html`<${Text}
                    hidden
                    label=${name}
                    value=${value}
                    onChange=${(v) => put(name, v)}
                  />`
                : html`<${Num}
                    hidden
                    label=${name}
                    value=${value}
                    unit=${one?.unit}
                    onChange=${(v) => (v === null ? drop(name) : put(name, v))}
                  />`
            }
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: name })}
              onClick=${() => drop(name)}
            />
          </div>
          <p class="soft">${one?.meaning} ${one && usual(one)}</p>
        </li>`;
      })}
    </ul>
    <div class="row">
      <${Choice}
        label=${t("edit.config")}
        value=${chosen}
        options=${[
          ["", "…"],
          ...known.filter((one) => !(one.name in doc.configs)).map((one) => [one.name, one.name]),
        ]}
        onChange=${choose}
      />
      <${Add}
        label=${t("edit.set")}
        onClick=${() => {
          const one = known.find((c) => c.name === chosen);
          if (one) {
            put(one.name, one.default);
            choose("");
          }
        }}
      />
    </div>
    ${known
      .filter((one) => one.name === chosen)
      .map((one) => html`<p key=${one.name} class="soft">${one.meaning} ${usual(one)}</p>`)}`;
}
