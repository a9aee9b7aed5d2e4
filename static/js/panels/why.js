// Why not?  A popover with the guards of what does not happen, and the moves that would make it
// happen.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { act } from "../animator/acting.js";
import { complain, goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { partOf } from "../core/partition.js";
import { later } from "../core/recurrence.js";
import { askAbout } from "../net/channel.js";
import { Icon, Jump, Told } from "./common.js";
import { titleOf } from "./rulecard.js";

const shown = signal(null); // {answer, from, at: [x, y]}

/** Asks about a subject of the step we rest on, and shows the answer beside `from`. */
export async function whyNot(subject, from) {
  const on = s.tapeNow.value;
  if (!on) return;
  const p = s.partition.value;
  const asked = p > 0 && !subject.startsWith("move ") ? `${subject} p=${p}` : subject;
  const home = document.getElementById("why");
  if (!home.firstChild) render(html`<${Why} />`, home);
  try {
    const answer = await askAbout(on, "why", { step: s.n.value, subject: asked });
    if (answer.step === s.n.value && on === s.tapeNow.value) shown.value = { answer, from };
  } catch (problem) {
    complain(problem);
  }
}

/** What `w` asks about: the thing selected, or else the high watermark. */
function subjectOf(id, { view, part, name }) {
  const broker = /^b(\d+)$/.exec(id ?? "")?.[1];
  if (broker !== undefined) {
    const who = name(Number(broker), true);
    return part.record.isr.includes(Number(broker)) ? `hw ${who}` : `isr ${who}`;
  }
  if (id === "K") return "leader";
  const waits = view.clients.find((c) => String(c.id) === id)?.waiting?.[0];
  return waits ? `ack ${waits.m.split(", ")[0]}` : "hw";
}

export function whySelected() {
  const step = s.step.value;
  if (!step) return;
  const part = partOf(step.view, s.partition.value);
  const from = document.querySelector(
    `[data-hit="${CSS.escape(s.selected.value ?? `why:b${part.record.leader}:hw`)}"]`,
  );
  whyNot(subjectOf(s.selected.value, { view: step.view, part, name: s.name.value }), from);
}

/** Makes the move and goes to its end, where what it was for can be looked at. */
async function helpWith(move) {
  if (await act(move)) goTo(s.facts.value.total, { motion: true });
}

function Guard({ one, close }) {
  const t = s.t.value;
  const move = one.cure?.move;
  return html`<li class=${one.ok ? "yes" : "no"}>
    <${Icon} name=${one.ok ? "tick" : "cross"} />
    <div>
      <span class="sr">${t(one.ok ? "whynot.true" : "whynot.false")} </span
      ><${Told} entry=${one.say} />${
        one.rule &&
        html` <a class="rule" href=${`/glossary#${one.rule}`} title=${one.rule}
          >${titleOf(one.rule) || one.rule}</a
        >`
      }
      ${
        one.cure &&
        html`<p class="need">
          <${Told} entry=${one.cure.say} />${
            move &&
            html` <button
              type="button"
              class="movebtn"
              disabled=${!s.online.value}
              onClick=${() => {
                close();
                helpWith(move);
              }}
            >
              <code>${move}</code>
            </button>`
          }
        </p>`
      }
    </div>
  </li>`;
}

/** Beside what was pressed, and wholly in sight. */
function place(box, from) {
  const near = from?.isConnected
    ? from.getBoundingClientRect()
    : new DOMRect(innerWidth / 2, 120, 0, 0);
  const { width, height } = box.getBoundingClientRect();
  const right = near.right + 10 + width <= innerWidth;
  const x = right ? near.right + 10 : near.left - width - 10;
  box.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(8, Math.min(near.top - 8, innerHeight - height - 8))}px`;
}

/** What was asked about, its guards, what would follow, and where it happens. */
function Answer({ answer, next, close }) {
  const t = s.t.value;
  return html`<header>
      <h2 id="whyhead"><${Told} entry=${answer.about} /></h2>
      <button type="button" class="btn quiet square" aria-label=${t("bad.close")} onClick=${close}>
        <${Icon} name="close" />
      </button>
    </header>
    <ul class="guards">
      ${answer.guards.map((one, i) => html`<${Guard} key=${i} one=${one} close=${close} />`)}
    </ul>
    <p class=${answer.holds ? "then yes" : "then"}><${Told} entry=${answer.then} /></p>
    ${
      next !== null &&
      html`<p>
        <${Jump} n=${next}><${Icon} name="next" /> ${t("whynot.later", { n: next })}<//>
      </p>`
    }`;
}

function Why() {
  const box = useRef(null);
  const now = shown.value;
  const step = s.step.value;
  // What is called B on the stage is a number in the views.
  const number = (who) =>
    step?.view.brokers.find((b) => b.name === who || String(b.id) === who)?.id;
  const next =
    now && step
      ? later(s.tapeNow.value, s.n.value, now.answer.subject, s.partition.value, number)
      : null;
  const close = () => box.current?.matches(":popover-open") && box.current.hidePopover();
  const begun = useRef(false); // an answer may be quicker than the first effect
  useEffect(() => {
    if (begun.current) shown.value = null;
    begun.current = true;
  }, [s.n.value, s.run.value]);
  useEffect(() => {
    if (!now) {
      close();
      return;
    }
    if (!box.current.matches(":popover-open")) box.current.showPopover();
    place(box.current, now.from);
    box.current.focus({ preventScroll: true });
  }, [now]);
  const toggled = (event) => {
    if (event.newState !== "closed" || !shown.value) return;
    const { from } = shown.value;
    shown.value = null;
    // The box still has the focus while it closes; a control that was pressed meanwhile keeps it.
    if (document.activeElement === document.body || box.current.contains(document.activeElement))
      from?.focus?.({ preventScroll: true });
  };
  return html`<div
    id="whybox"
    class="whybox"
    popover="auto"
    role="dialog"
    tabindex="-1"
    aria-labelledby="whyhead"
    ref=${box}
    onToggle=${toggled}
  >
    ${now && html`<${Answer} answer=${now.answer} next=${next} close=${close} />`}
  </div>`;
}
