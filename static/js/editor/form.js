// The form: what the scenario is called, its cluster, configuration, workload and faults.

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Faults } from "./faults.js";
import { Add, Check, Choice, Num, Small, Text } from "./fields.js";
import { grown, idsOf, labels, readers, replaced, shrunk, without } from "./model.js";
import { Network } from "./network.js";
import { Promises } from "./promises.js";
import { Script } from "./script.js";
import * as e from "./state.js";

function Part({ title, open = false, note = "", children }) {
  return html`<details class="part" open=${open}>
    <summary>
      <h2>${title}</h2>
      ${note && html`<span class="soft">${note}</span>`}
    </summary>
    <div class="partbody">${children}</div>
  </details>`;
}

function About({ doc, t }) {
  const tags = (tag, on) =>
    e.change({ tags: on ? [...doc.tags, tag] : doc.tags.filter((one) => one !== tag) });
  return html`<${Text}
      wide
      label=${t("edit.question")}
      value=${doc.title}
      onChange=${(title) => e.change({ title })}
    />
    <${Text}
      wide
      label=${t("edit.teaches")}
      value=${doc.teaches}
      onChange=${(teaches) => e.change({ teaches })}
    />
    <div class="row">
      <${Choice}
        label=${t("filter.difficulty")}
        value=${doc.difficulty}
        options=${[
          [1, "1"],
          [2, "2"],
          [3, "3"],
        ]}
        onChange=${(d) => e.change({ difficulty: Number(d) })}
      />
      ${e.offers.value.tags.map(
        (tag) =>
          html`<${Check}
            key=${tag}
            label=${t(`tag.${tag}`)}
            value=${doc.tags.includes(tag)}
            onChange=${(on) => tags(tag, on)}
          />`,
      )}
    </div>`;
}

function Cluster({ doc, t }) {
  const broker = (at, more) => e.change({ brokers: replaced(doc.brokers, at, more) });
  const partition = (at, text) =>
    e.change({
      partitions: doc.partitions.map((one, i) => (i === at ? idsOf(text, doc.brokers) : one)),
    });
  return html`<ul class="lines">
      ${doc.brokers.map(
        (one, i) =>
          html`<li key=${one.id} class="row">
            <b class="n">${t("ent.broker", { name: one.id })}</b>
            <${Text}
              label=${t("edit.name")}
              size="6"
              value=${one.name}
              onChange=${(name) => broker(i, { name })}
            /><${Text}
              label=${t("field.rack")}
              size="6"
              value=${one.rack}
              onChange=${(rack) => broker(i, { rack })}
            />
            <${Num}
              label=${t("field.dirs")}
              value=${one.dirs ?? 1}
              onChange=${(dirs) => broker(i, { dirs })}
            />
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: t("ent.broker", { name: one.id }) })}
              off=${doc.brokers.length < 2}
              onClick=${() => e.change(shrunk(doc, i))}
            />
          </li>`,
      )}
    </ul>
    <${Add} label=${t("edit.broker")} onClick=${() => e.change(grown(doc))} />
    <h3>${t("edit.partitions")}</h3>
    <p class="soft">${t("edit.partitions.why")}</p>
    <ul class="lines">
      ${doc.partitions.map(
        (one, i) =>
          html`<li key=${i} class="row">
            <${Text}
              label=${`${t("title.partition")} ${i}`}
              value=${labels(one, doc.brokers)}
              onChange=${(text) => partition(i, text)}
            />
            <${Small}
              icon="close"
              label=${t("edit.remove", { what: `${t("title.partition")} ${i}` })}
              off=${doc.partitions.length < 2}
              onClick=${() => e.change({ partitions: without(doc.partitions, i) })}
            />
          </li>`,
      )}
    </ul>
    <${Add}
      label=${t("title.partition")}
      onClick=${() => e.change({ partitions: [...doc.partitions, doc.brokers.map((b) => b.id)] })}
    />`;
}

function Configs({ doc, t }) {
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
        .map(([p, v]) => `${p}: ${v}`),
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
        options=${[["", "…"], ...known.filter((one) => !(one.name in doc.configs)).map((one) => [one.name, one.name])]}
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

function Workload({ doc, t }) {
  const { producers } = doc.workload;
  const consumers = readers(doc.workload.consumers);
  const reader = (at, more) => put({ consumers: replaced(consumers, at, more) });
  const put = (more) => e.change({ workload: { producers, consumers, ...more } });
  const one = (at, more) => put({ producers: replaced(producers, at, more) });
  return html`<ul class="lines">
      ${producers.map(
        (p, i) =>
          html`<li key=${i} class="row">
            <b class="n">P${i + 1}</b>
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
              label=${t("edit.remove", { what: `P${i + 1}` })}
              onClick=${() => put({ producers: without(producers, i) })}
            />
          </li>`,
      )}
    </ul>
    <div class="row">
      <${Add}
        label=${t("edit.producer")}
        onClick=${() => put({ producers: [...producers, { rate_per_s: 5, acks: -1, retries: true, timeout_ms: 30000, idempotent: false, partition: -1, batch: 1, steady: false }] })}
      />
    </div>
    <ul class="lines">
      ${consumers.map(
        (c, i) =>
          html`<li key=${i} class="row">
            <b class="n">C${i + 1}</b>
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
              label=${t("edit.remove", { what: `C${i + 1}` })}
              onClick=${() => put({ consumers: without(consumers, i) })}
            />
          </li>`,
      )}
    </ul>
    <${Add}
      label=${t("edit.consumer")}
      onClick=${() => put({ consumers: [...consumers, { epochs: true, reset: "earliest", rack: "" }] })}
    />`;
}

export function Form() {
  const t = e.t.value;
  const doc = e.doc.value;
  if (!doc) return html`<p class="soft">${t("edit.unreadable")}</p>`;
  const all = { doc, t };
  return html`<${Part} title=${t("edit.about")} open><${About} ...${all} /><//>
    <${Part}
      title=${t("edit.cluster")}
      note=${t("edit.cluster.note", { n: doc.brokers.length, p: doc.partitions.length })}
      ><${Cluster} ...${all}
    /><//>
    <${Part} title=${t("edit.configs")} note=${Object.keys(doc.configs).join(", ")}
      ><${Configs} ...${all}
    /><//>
    <${Part} title=${t("edit.script")} open><${Script} ...${all} /><//>
    <${Part} title=${t("edit.promises")} open><${Promises} ...${all} /><//>
    <${Part} title=${t("edit.network")} note=${t(`title.fetching.${doc.fetching}`)}
      ><${Network} ...${all}
    /><//>
    <${Part}
      title=${t("edit.workload")}
      note=${t("edit.workload.note", { n: doc.workload.producers.length, c: readers(doc.workload.consumers).length })}
      ><${Workload} ...${all}
    /><//>
    <${Part} title=${t("edit.faults")} note=${String(doc.faults.length || "")}
      ><${Faults} ...${all}
    /><//>`;
}
