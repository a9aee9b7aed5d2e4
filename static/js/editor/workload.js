// The form's part about the workload: producers and consumers.

import { html } from "htm/preact";

import { Add, Check, Choice, Num, Small, Text } from "./fields.js";
import { idsOf, labels, readers, replaced, without } from "./model.js";
import * as e from "./state.js";

/** What is added: a client as most of them are. */
const USUAL = {
  rate_per_s: 5,
  acks: -1,
  retries: true,
  timeout_ms: 30000,
  idempotent: false,
  partition: -1,
  batch: 1,
  steady: false,
};

function Producers({ producers, put, t }) {
  const one = (at, more) => put({ producers: replaced(producers, at, more) });
  return html`<ul class="lines">
      ${producers.map(
        (p, i) =>
          html`<li key=${i} class="row">
            <b class="n">${t("ent.producer", { n: i + 1 })}</b>
            <${Num}
              label=${t("edit.rate")}
              unit="/s"
              value=${p.rate_per_s}
              onChange=${(v) => one(i, { rate_per_s: v ?? 1 })}
            />
            <${Num}
              label=${t("edit.batch")}
              value=${p.batch}
              onChange=${(v) => one(i, { batch: v ?? 1 })}
            />
            <${Choice}
              label="acks"
              value=${p.acks}
              options=${[
                [-1, "all"],
                [1, "1"],
                [0, "0"],
              ]}
              onChange=${(v) => one(i, { acks: Number(v) })}
            />
            <${Check}
              label=${t("edit.retries")}
              value=${p.retries}
              onChange=${(retries) => one(i, { retries })}
            /><${Check}
              label=${t("edit.idempotent")}
              value=${p.idempotent}
              onChange=${(idempotent) => one(i, { idempotent })}
            /><${Check}
              label=${t("edit.steady")}
              value=${p.steady}
              onChange=${(steady) => one(i, { steady })}
            />
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: t("ent.producer", { n: i + 1 }) })}
              onClick=${() => put({ producers: without(producers, i) })}
            />
          </li>`,
      )}
    </ul>
    <div class="row">
      <${Add}
        label=${t("edit.producer")}
        onClick=${() =>
          put({
            producers: [...producers, USUAL],
          })}
      />
    </div>`;
}

function Consumers({ consumers, put, t }) {
  const reader = (at, more) => put({ consumers: replaced(consumers, at, more) });
  return html`<ul class="lines">
      ${consumers.map(
        (c, i) =>
          html`<li key=${i} class="row">
            <b class="n">${t("ent.consumer", { n: i + 1 })}</b>
            <${Choice}
              label="auto.offset.reset"
              value=${c.reset}
              options=${["earliest", "latest", "none"].map((one) => [one, one])}
              onChange=${(reset) => reader(i, { reset })}
            /><${Text}
              label=${t("field.rack")}
              size="6"
              value=${c.rack}
              onChange=${(rack) => reader(i, { rack })}
            /><${Check}
              label=${t("edit.epochs")}
              value=${c.epochs}
              onChange=${(epochs) => reader(i, { epochs })}
            />
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: t("ent.consumer", { n: i + 1 }) })}
              onClick=${() => put({ consumers: without(consumers, i) })}
            />
          </li>`,
      )}
    </ul>
    <${Add}
      label=${t("edit.consumer")}
      onClick=${() =>
        put({ consumers: [...consumers, { epochs: true, reset: "earliest", rack: "" }] })}
    />`;
}

/** Consumer groups: members as moves name them, and the replicas of __consumer_offsets. */
function Groups({ doc, t }) {
  const groups = doc.groups ?? [];
  const put = (changed) => e.change({ groups: changed });
  const group = (at, more) => put(replaced(groups, at, more));
  const all = doc.brokers.map((b) => b.id).slice(0, 3);
  const words = (text) => text.split(/[\s,]+/).filter(Boolean);
  return html`<ul class="lines">
      ${groups.map(
        (one, i) =>
          html`<li key=${i} class="row">
            <${Text}
              label=${t("edit.group")}
              size="10"
              value=${one.name}
              onChange=${(name) => group(i, { name })}
            /><${Text}
              label=${t("edit.group.members")}
              size="10"
              value=${one.members.join(" ")}
              onChange=${(text) => group(i, { members: words(text) })}
            /><${Text}
              label="__consumer_offsets"
              size="10"
              value=${labels(one.offsets ?? all, doc.brokers)}
              onChange=${(text) => group(i, { offsets: idsOf(text, doc.brokers) })}
            /><${Choice}
              label=${t("edit.group.commit")}
              value=${one.commit ?? "after"}
              options=${["after", "before", "auto"].map((way) => [way, t(`edit.group.${way}`)])}
              onChange=${(commit) => group(i, { commit })}
            />
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: one.name })}
              onClick=${() => put(without(groups, i))}
            />
          </li>`,
      )}
    </ul>
    <${Add}
      label=${t("edit.group.add")}
      onClick=${() =>
        put([
          ...groups,
          { name: `group${groups.length + 1}`, members: [`C${groups.length + 1}`], offsets: all },
        ])}
    />`;
}

export function Workload({ doc, t }) {
  const { producers } = doc.workload;
  const consumers = readers(doc.workload.consumers);
  const put = (more) => e.change({ workload: { producers, consumers, ...more } });
  return html`<${Producers} producers=${producers} put=${put} t=${t} />
    <${Consumers} consumers=${consumers} put=${put} t=${t} />
    <${Groups} doc=${doc} t=${t} />`;
}
