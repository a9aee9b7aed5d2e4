// The form's part about faults: what strikes whom, how often, and for how long.

import { html } from "htm/preact";

import { Add, Check, Choice, Num, Small, Span, Text } from "./fields.js";
import { aimed, idsOf, labels, movesOf, ofKind, timed, weighted, without } from "./model.js";
import * as e from "./state.js";

const kindOf = (f) => e.offers.value.faults.find((one) => one.name === f.kind);

/** What only this kind has. */
function Own({ f, put, t }) {
  return kindOf(f).own.map(({ name, unit }) =>
    unit === "ms"
      ? html`<${Span}
          key=${name}
          label=${t(`own.${name}`)}
          value=${f[name]}
          onChange=${(v) => put({ [name]: v })}
        />`
      : html`<${Num}
          key=${name}
          label=${t(`own.${name}`)}
          unit=${unit}
          value=${f[name] ?? 0}
          onChange=${(v) => put({ [name]: v ?? 0 })}
        />`,
  );
}

function Whom({ f, put, set, doc, t }) {
  const racks = doc.brokers.some((b) => b.rack);
  const names = f.racks
    ? html`<${Text}
        hidden
        label=${t("edit.racks")}
        size="8"
        value=${f.racks.join(" ")}
        onChange=${(v) => put({ racks: v.split(/[\s,]+/).filter(Boolean) })}
      />`
    : html`<${Text}
        hidden=${racks}
        label=${t("hits.lanes")}
        size="8"
        value=${labels(f.brokers, doc.brokers)}
        onChange=${(v) => put({ brokers: idsOf(v, doc.brokers) })}
      />`;
  return html`${
      (racks || f.racks) &&
      html`<${Choice}
        hidden
        label=${t("edit.targets")}
        value=${f.racks ? "racks" : "brokers"}
        options=${[
          ["brokers", t("hits.lanes")],
          ["racks", t("edit.racks")],
        ]}
        onChange=${(v) => set(aimed(f, v === "racks", doc.brokers))}
      />`
    }${names}
    <${Check}
      label=${t("edit.together")}
      value=${f.together}
      onChange=${(together) => put({ together })}
    />`;
}

function Line({ f, set, drop, doc, t }) {
  const put = (more) => set({ ...f, ...more });
  const how = "at_ms" in f ? "at_ms" : "mtbf_ms";
  const rolls = f.kind === "rolling_restart";
  return html`<li class="row fault">
    <${Choice}
      hidden
      label=${t("edit.fault")}
      value=${f.kind}
      options=${e.offers.value.faults.map((k) => [k.name, t(`breaks.${k.name}`)])}
      onChange=${(kind) => set(ofKind(f, kind, e.offers.value.faults, doc.brokers))}
    />
    <${Own} f=${f} put=${put} t=${t} />
    ${
      kindOf(f).plays &&
      html`<${Text}
        label=${t("own.moves")}
        size="32"
        value=${f.moves.join("; ")}
        onChange=${(v) => put({ moves: movesOf(v) })}
      />`
    }
    ${!kindOf(f).whole && html`<${Whom} f=${f} put=${put} set=${set} doc=${doc} t=${t} />`}
    <${Choice}
      hidden
      label=${t("edit.when")}
      value=${how}
      options=${[
        ["mtbf_ms", t("edit.mtbf")],
        ["at_ms", t("edit.at")],
      ]}
      onChange=${(v) => set(timed(f, v))}
    />
    <${Span} hidden label=${t("edit.when")} value=${f[how]} onChange=${(v) => put({ [how]: v })} />
    ${
      !["bounce", "operator"].includes(f.kind) &&
      html`<${Span}
        label=${t(rolls ? "edit.patience" : "edit.repair")}
        value=${f.mttr_ms}
        onChange=${(v) => put({ mttr_ms: v })}
      />`
    }
    ${
      how === "mtbf_ms" &&
      html`<${Num}
        label=${t("edit.importance")}
        title=${t("edit.importance.why")}
        value=${f.importance ?? 1}
        onChange=${(v) => set(weighted(f, v))}
      />`
    }
    <${Small}
      icon="close"
      label=${t("edit.remove", { what: t(`breaks.${f.kind}`) })}
      onClick=${drop}
    />
  </li>`;
}

export function Faults({ doc, t }) {
  const set = (at, fault) =>
    e.change({ faults: doc.faults.map((one, i) => (i === at ? fault : one)) });
  const fresh = () => ({
    kind: "kill",
    brokers: doc.brokers.map((b) => b.id),
    together: false,
    mtbf_ms: 30000,
    mttr_ms: 4000,
    delay_ms: 0,
  });
  return html`<p class="soft">${t("edit.span.why")}</p>
    <ul class="lines">
      ${doc.faults.map(
        (f, i) =>
          html`<${Line}
            key=${i}
            f=${f}
            doc=${doc}
            t=${t}
            set=${(fault) => set(i, fault)}
            drop=${() => e.change({ faults: without(doc.faults, i) })}
          />`,
      )}
    </ul>
    <${Add}
      label=${t("edit.fault")}
      onClick=${() => e.change({ faults: [...doc.faults, fresh()] })}
    />`;
}
