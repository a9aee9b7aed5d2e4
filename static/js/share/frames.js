// The frame for other pages: its choices, its markup, and the frame itself.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { embed, frame } from "../core/link.js";
import { alone, shared } from "../core/place.js";
import { Choice, Copied, isKept, packedOf, save, why } from "./common.js";

const HEIGHT = { now: 560, none: 470 }; // px, by what stands below the picture

export function Embed() {
  const t = s.t.value;
  const on = s.tapeNow.value;
  void s.revision.value;
  const [controls, setControls] = useState("step");
  const [panel, setPanel] = useState("now");
  const [theme, setTheme] = useState("auto");
  const [bad, setBad] = useState(null);
  const kept = alone() || isKept(on);
  const [packed, setPacked] = useState(on.packed ?? null);
  useEffect(() => {
    if (alone() && on.saved === false) packedOf(on).then(setPacked);
  }, [on.digest]);
  const flat = (name, value, set, all) =>
    html`<${Choice}
      flat
      name=${name}
      legend=${t(`embed.${name}`)}
      value=${value}
      onChange=${set}
      options=${all.map((one) => [one, t(`embed.${name}.${one}`), null])}
    />`;
  const own = packed && on.saved === false ? `#run=${packed}` : "";
  const looks = { step: s.n.value, controls, panel, theme, lang: s.lang.value };
  const url = shared(embed("", on.digest, looks)) + own;
  const high = HEIGHT[panel];
  const keep = async () => {
    setBad(null);
    try {
      await save(on);
    } catch (problem) {
      setBad(why(problem));
    }
  };
  if (!kept)
    return html`<div class="stack">
      <p>${t("embed.save.why")}</p>
      <p><button type="button" class="btn primary" onClick=${keep}>${t("embed.save")}</button></p>
      ${bad && html`<p class="bad" role="status">${bad}</p>`}
    </div>`;
  return html`<div class="stack">
    <div class="sides">
      ${flat("controls", controls, setControls, ["step", "play", "none"])}${flat(
        "panel",
        panel,
        setPanel,
        ["now", "none"],
      )}${flat("theme", theme, setTheme, ["auto", "light", "dark"])}
    </div>
    <${Copied}
      label=${t("embed.markup")}
      text=${frame(url, s.facts.value.scenario.title, high)}
      rows=${3}
    />
    <iframe class="preview" src=${url} title=${t("embed.preview")} height=${high}></iframe>
  </div>`;
}
