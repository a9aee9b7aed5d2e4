// The threads of a run over time: a row for each thread that acts around the current step, its acts
// as blocks that lead to their steps.  A block opens the turn of the loop that it is a part of.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { Jump } from "../panels/common.js";
import { humps } from "./rows.js";
import { keyOf, Table } from "./table.js";

const WIDE = 40; // steps of a window
const HOP = 20; // steps by which it moves on

/** The first step of the window around a step; it moves rarely: the picture stands still. */
const windowAt = (n) => Math.max(1, Math.floor((n - HOP / 2) / HOP) * HOP);

async function load(digest, from, release) {
  const address = `/r/${digest}/threads.json?from=${from}&count=${WIDE}&lens=${release}`;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(address);
  return answer.json();
}

/** The turn of the loop that a block is a part of, and the steps of a fold. */
function Turn({ row, block, chain }) {
  const t = s.t.value;
  const whole = chain.frames.some(([, on]) => !on);
  return html`<div class="turn" id="threadturn" role="status">
    <p class="soft">${t(whole ? "lens.turn" : "lens.turn.other", { thread: row.thread })}</p>
    ${
      block.turns > 0 &&
      html`<p class="soft">${t("lens.turns.what")}</p>
        <p class="jumps">
          ${block.steps.map(
            (n) => html`<${Jump} key=${n} n=${n}>${t("lens.threads.step", { n })}<//>`,
          )}
        </p>`
    }
    <ol class="frames">
      ${chain.frames.map(
        ([name, on], i) =>
          html`<li key=${i} class=${!on ? "besides" : name === chain.acting ? "acting" : ""}>
            <code class="name">${humps(name)}</code>
            ${!on && html`<span class="sr">${t("lens.turn.besides")}</span>`}
          </li>`,
      )}
    </ol>
  </div>`;
}

function Lanes({ release }) {
  const t = s.t.value;
  const [told, setTold] = useState(null);
  const [failed, setFailed] = useState(false);
  const [opened, setOpened] = useState("");
  const from = windowAt(s.n.value);
  useEffect(() => {
    let mine = true;
    load(s.run.value, from, release).then(
      (found) => mine && (setTold(found), setFailed(false)),
      () => mine && setFailed(true),
    );
    return () => {
      mine = false;
    };
  }, [s.run.value, from, release, s.online.value]);
  if (failed) return html`<p class="soft">${t("lens.failed")}</p>`;
  if (!told) return html`<p class="soft" aria-busy="true">…</p>`;
  if (!told.rows.length) return html`<p class="soft">${t("lens.threads.none")}</p>`;
  const open = (key, block) => {
    setOpened(key === opened && block.steps.includes(s.n.value) ? "" : key);
    import("../animator/player.js").then((p) => p.goTo(block.steps[0], { leaveCrumb: true }));
  };
  const found = told.rows
    .flatMap((row) => row.blocks.map((block) => ({ row, block, key: keyOf(row, block) })))
    .find((one) => one.key === opened);
  return html`<p class="soft">${t("lens.threads.lead")}</p>
    <${Table} told=${told} wide=${WIDE} opened=${opened} open=${open} />
    ${
      found &&
      html`<${Turn}
        row=${found.row}
        block=${found.block}
        chain=${told.chains[found.block.chain]}
      />`
    }`;
}

/** Closed until it is wanted: nothing is asked before. */
export function Threads({ release }) {
  const [open, setOpen] = useState(false);
  return html`<details
    class="threads"
    open=${open}
    onToggle=${(e) => setOpen(e.currentTarget.open)}
  >
    <summary>${s.t.value("lens.threads")}</summary>
    ${open && html`<${Lanes} release=${release} />`}
  </details>`;
}
