// "Break it": the five things that most visitors want to do to a cluster, the leader first.

import { html } from "htm/preact";
import { useEffect } from "preact/hooks";

import { act, loadPossible } from "../animator/acting.js";
import { LevelMoves } from "../animator/on_request.js";
import { pause } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { partOf } from "../core/partition.js";
import { useSheet } from "./more.js";

const MOST = 5;
/** What is offered, in this order: [words of the button, form of the move].
 * @type {[string, RegExp][]} */
const OFFERS = [
  ["kill", /^kill (?!K)/],
  ["cut", /^cut \S+ K$/],
  ["pause", /^pause /],
  ["restart", /^restart /],
  ["heal", /^heal /],
  ["resume", /^resume /],
  ["send", /^produce (?!.* to ).*acks=all/],
  ["power", /^power /],
];

/** The first possible move of each kind: that of the leader where it has one. */
function offers(moves, leader) {
  const can = moves.filter((one) => one.enabled);
  return OFFERS.flatMap(([key, form]) => {
    const fitting = can.filter((one) => form.test(one.text));
    const first = fitting.find((one) => one.text.split(" ")[1] === leader) ?? fitting[0];
    return first ? [[key, first]] : [];
  }).slice(0, MOST);
}

function Offers({ done }) {
  const t = s.t.value;
  useEffect(() => {
    loadPossible();
  }, [s.n.value, s.run.value, s.online.value]);
  const ready = s.possible.value.key === `${s.run.value}@${s.n.value}`;
  const part = partOf(s.step.value.view, s.partition.value);
  const leader = part.record.leader >= 0 ? s.name.value(part.record.leader, true) : "";
  const told = (key, move) => {
    const [, who] = move.text.split(" ");
    const b = t("card.name", { name: who });
    return t(`break.${key}`, { b: who === leader ? t("break.leads", { b }) : b });
  };
  return html`${!ready && html`<p class="soft" aria-busy="true">…</p>`}
    ${
      ready &&
      offers(s.possible.value.moves, leader).map(
        ([key, move]) =>
          html`<button
            key=${key}
            type="button"
            class="btn"
            title=${`${move.text}: ${move.help}`}
            disabled=${!s.online.value}
            onClick=${() => {
              done();
              act(move.text);
            }}
          >
            ${told(key, move)}
          </button>`,
      )
    }
    <button
      type="button"
      class="btn quiet"
      onClick=${() => {
        s.sheet.value = "palette";
      }}
    >
      ${t("break.type")} <kbd>/</kbd>
    </button>
    <p class="soft">${t("break.press")}</p>`;
}

function openBreak() {
  pause();
  s.held.value = true;
  s.sheet.value = "break";
}

export function BreakIt() {
  const t = s.t.value;
  const { box, open, close, keys } = useSheet("break");
  useEffect(() => {
    if (!open) return undefined;
    return () => {
      s.held.value = false;
    };
  }, [open]);
  return html`<div class="breakit" ref=${box} onKeyDown=${keys}>
    <button
      type="button"
      class="btn"
      id="breakit"
      aria-expanded=${open ? "true" : "false"}
      aria-controls="breaksheet"
      onClick=${() => (open ? close() : openBreak())}
    >
      ${t("break.go")}
    </button>
    ${
      open &&
      s.step.value &&
      html`<div class="oversheet" id="breaksheet" role="dialog" aria-label=${t("break.go")}>
        ${
          s.level.value
            ? html`<${LevelMoves}
                make=${(text) => {
                  close();
                  act(text);
                }}
              />`
            : html`<${Offers} done=${close} />`
        }
      </div>`
    }
  </div>`;
}
