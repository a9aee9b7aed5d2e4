// The form: what the scenario is called, its cluster, configuration, workload and faults.

import { html } from "htm/preact";

import { Configs } from "./configs.js";
import { Faults } from "./faults.js";
import { Add, Check, Choice, Num, Small, Text } from "./fields.js";
import { grown, idsOf, labels, readers, replaced, shrunk, without } from "./model.js";
import { Network } from "./network.js";
import { Promises } from "./promises.js";
import { Script } from "./script.js";
import * as e from "./state.js";
import { Verbs } from "./verbs.js";
import { Workload } from "./workload.js";

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

export function Form() {
  const t = e.t.value;
  const doc = e.doc.value;
  if (!doc) return html`<p class="soft">${t("edit.unreadable")}</p>`;
  const all = { doc, t };
  return html`<${Part} title=${t("edit.script")} open><${Script} ...${all} /><//>
    <${Part}
      title=${t("edit.verbs")}
      note=${t("edit.verbs.note", { n: e.offers.value.verbs.length })}
      ><${Verbs} ...${all}
    /><//>
    <${Part} title=${t("edit.about")} open><${About} ...${all} /><//>
    <${Part}
      title=${t("edit.cluster")}
      note=${t("edit.cluster.note", { n: doc.brokers.length, p: doc.partitions.length })}
      ><${Cluster} ...${all}
    /><//>
    <${Part} title=${t("edit.configs")} note=${Object.keys(doc.configs).join(", ")}
      ><${Configs} ...${all}
    /><//>
    <${Part} title=${t("edit.promises")} open><${Promises} ...${all} /><//>
    <${Part} title=${t("edit.network")} note=${t(`title.fetching.${doc.fetching}`)}
      ><${Network} ...${all}
    /><//>
    <${Part}
      title=${t("edit.workload")}
      note=${t("edit.workload.note", {
        n: doc.workload.producers.length,
        c: readers(doc.workload.consumers).length,
      })}
      ><${Workload} ...${all}
    /><//>
    <${Part} title=${t("edit.faults")} note=${String(doc.faults.length || "")}
      ><${Faults} ...${all}
    /><//>`;
}
