// A link to this moment, or to the start: short, or with the whole run inside.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import { seeing } from "../animator/address.js";
import * as s from "../animator/state.js";
import { labRelease, short, whole } from "../core/link.js";
import { alone, shared } from "../core/place.js";
import { kafka } from "../i18n/words.js";
import { Choice, Code, Copied, isKept, packedOf, save } from "./common.js";

/** The same run on real brokers of one's own machine: one command, with the run inside. */
const Lab = ({ packed, profile, t }) => {
  const release = labRelease(kafka(t, profile));
  if (release === null) return null;
  const link = shared(whole("", packed, {}));
  const command = `highwater lab '${link}' --kafka ${release}`;
  return html`<details>
    <summary>${t("share.lab")}</summary>
    <p class="soft">${t("share.lab.why")}</p>
    <${Copied} label=${t("share.lab.label")} text=${command} quiet />
  </details>`;
};

const LONG = 2_000; // characters: what chat tools carry whole

/** A link that chat tools would cut; the file of the run can be sent in its place. */
const Long = ({ on, n, t }) =>
  html`<p class="soft">
    ${t("share.long", { n, most: LONG })}${" "}<a href=${`/r/${on.digest}.json`} download
      >${t("share.long.file")}</a
    >
  </p>`;

/** The links that can be had: without a server, the one that carries its run. */
const kinds = (kept, packed, t) => [
  ...(alone()
    ? []
    : [
        [
          "short",
          t("share.kind.short"),
          t(kept ? "share.kind.short.kept" : "share.kind.short.why"),
        ],
      ]),
  [
    "whole",
    t("share.kind.whole"),
    t(alone() ? "share.kind.whole.alone" : "share.kind.whole.why", {
      chars: packed?.length ?? "…",
    }),
  ],
];

export function Link() {
  const t = s.t.value;
  const on = s.tapeNow.value;
  void s.revision.value;
  const [where, setWhere] = useState("here");
  const [kind, setKind] = useState(alone() ? "whole" : "short");
  const [packed, setPacked] = useState(on.packed ?? null);
  useEffect(() => {
    setPacked(on.packed ?? null);
    packedOf(on)
      .then(setPacked)
      .catch(() => {
        /* the short link is still to be had */
      });
  }, [on.digest]);
  const seen = seeing(where === "here" ? s.n.value : 0);
  const kept = isKept(on);
  const url =
    kind === "short"
      ? short(location.origin, on.digest, seen)
      : packed && shared(whole("", packed, seen));
  const prepare = async () => {
    if (kind === "short" && !kept) await save(on);
    return url;
  };
  return html`<div class="stack">
    <div class="sides">
      <${Choice}
        name="where"
        legend=${t("share.where")}
        value=${where}
        onChange=${setWhere}
        options=${[
          ["here", t("share.where.here", { step: s.n.value }), t("share.where.here.why")],
          ["start", t("share.where.start"), null],
        ]}
      />
      <${Choice}
        name="kind"
        legend=${t("share.kind")}
        value=${kind}
        onChange=${setKind}
        options=${kinds(kept, packed, t)}
      />
    </div>
    ${
      url &&
      html`<${Copied}
        key=${kind}
        label=${t("share.link.label")}
        text=${url}
        prepare=${prepare}
        action=${kind === "short" && !kept ? t("share.save") : null}
      />`
    }
    ${url?.length > LONG && html`<${Long} on=${on} n=${url.length} t=${t} />`}
    ${url && (kind === "whole" || kept) && html`<${Code} text=${url} />`}
    ${packed && html`<${Lab} packed=${packed} profile=${s.facts.value.profile} t=${t} />`}
  </div>`;
}
