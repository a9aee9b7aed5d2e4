// Inspect: everything about the thing selected, with what this step changed.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { partIn, partOf } from "../core/partition.js";
import { capital } from "../i18n/words.js";

const list = (v) =>
  Array.isArray(v)
    ? v.length
      ? v.map((one) => (typeof one === "object" ? list(Object.values(one)) : one)).join(", ")
      : "–"
    : v === null || v === undefined || v === ""
      ? "–"
      : typeof v === "object"
        ? Object.entries(v)
            .map(([k, one]) => `${k} ${list(one)}`)
            .join(" · ")
        : typeof v === "boolean"
          ? v
            ? "✓"
            : "✗"
          : String(v);

/** What is told of each kind of thing, in this order. */
const OF_BROKER = "alive fenced brokerEpoch rack dirs session disk fetchSessions".split(" ");
const OF_REPLICA = (
  "role dir future start leo hw hwCheckpoint flushed epochs epochStart belief fetch isr maximal " +
  "pending blocks waiting throttled"
).split(" ");
const OF_CONTROLLER = "alive epoch waiting".split(" ");
const OF_MESSAGE = "kind from to reply sent due held error records".split(" ");
const OF_CLIENT = "kind sent acked waiting position epoch reset rack preferred failed read".split(
  " ",
);

/** Rows of the fields that `a` has, beside what `b` had. */
const pick = (a, b, keys) =>
  keys
    .filter((k) => a && k in a)
    .map((k) => [s.t.value(`field.${k}`), list(a[k]), b ? list(b[k]) : null]);

function ofBroker(id, view, before, replica, old) {
  const t = s.t.value;
  const broker = view.brokers.find((b) => String(b.id) === id);
  const session = [
    t("field.fetchSession"),
    list(replica?.session),
    old?.session ? list(old.session) : null,
  ];
  return [
    ...pick(
      broker,
      before?.view.brokers.find((b) => b.id === broker?.id),
      OF_BROKER,
    ),
    ...pick(replica, old, OF_REPLICA),
    ...(replica?.session ? [session] : []),
    ...Object.entries(replica?.remote ?? {}).map(([other, memory]) => [
      t("field.remote", { b: s.name.value(Number(other), true) }),
      list(memory),
      old?.remote?.[other] ? list(old.remote[other]) : null,
    ]),
  ];
}

/** The rows [name, value, value before] of a thing on the stage. */
function rows(step, before, id) {
  const view = step.view;
  const part = partOf(view, s.partition.value);
  const old = before && partIn(before.view, part.p);
  const broker = /^b(\d+)$/.exec(id ?? "")?.[1];
  if (broker !== undefined)
    return ofBroker(broker, view, before, part.replicas[broker], old?.replicas[broker]);
  if (id === "K")
    return [
      ...pick(view.controller, before?.view.controller, OF_CONTROLLER),
      ...pick(part.record, old?.record, Object.keys(part.record)),
    ];
  const message = view.messages.find((m) => `m${m.id}` === id);
  if (message)
    return [
      ...pick(message, null, OF_MESSAGE),
      ...Object.entries(s.possible.value.messages?.[message.id] ?? message.fields ?? {}).map(
        ([k, v]) => [k, list(v), null],
      ),
    ];
  const client = view.clients.find((c) => String(c.id) === id);
  return pick(
    client,
    before?.view.clients.find((c) => c.id === id),
    OF_CLIENT,
  );
}

export function Inspect() {
  const t = s.t.value;
  const step = s.step.value;
  if (!step) return null;
  const before = s.tapeNow.value.steps.get(s.n.value - 1);
  const things = [
    ...step.view.brokers.map((b) => [`b${b.id}`, s.name.value(b.id)]),
    ["K", t("ent.controller")],
    ...step.view.clients.map((c) => [String(c.id), capital(s.name.value(c.id))]),
    ...step.view.messages.map((m) => [
      `m${m.id}`,
      `${m.kind} ${s.name.value(m.from, true)} → ${s.name.value(m.to, true)}`,
    ]),
  ];
  const id = things.some(([one]) => one === s.selected.value) ? s.selected.value : things[0]?.[0];
  const found = rows(step, before, id);
  return html`<div class="stack">
    <label class="field"
      >${t("inspect.what")}${" "}<select
        value=${id}
        onChange=${(e) => {
          s.selected.value = e.target.value;
        }}
      >
        ${things.map(([one, label]) => html`<option key=${one} value=${one}>${label}</option>`)}
      </select></label
    >
    <table class="facts">
      <tbody>
        ${found.map(
          ([label, value, was]) =>
            html`<tr key=${label} class=${was !== null && was !== value ? "chg" : ""}>
              <th scope="row">${label}</th>
              <td>
                ${was !== null && was !== value ? html`<s>${was}</s> → <b>${value}</b>` : value}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="soft">${t("inspect.note")}</p>
  </div>`;
}
