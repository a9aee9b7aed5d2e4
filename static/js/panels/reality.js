// Real brokers beside the run, or in its place: the same cursor, drawn by the stage's own hand from
// what was read of them, and the first fact that is not as in the model, with its why.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { complain } from "../animator/player.js";
import { release } from "../animator/reality.js";
import { roomBelow } from "../animator/sizing.js";
import * as s from "../animator/state.js";
import { patch } from "../scene/draw.js";
import { momentAt, realView } from "../scene/reality.js";
import { layer, PATTERNS, textures } from "../scene/sheet.js";
import { tanks } from "../scene/tanks/picture.js";

const found = signal({ kafka: null, moments: [], lost: [] });

async function load(kafka) {
  const { slug } = s.boot.value.scenario;
  try {
    const answer = await fetch(`/s/${slug}/real/${kafka}/moments.json?lang=${s.lang.value}`);
    found.value = { kafka, ...(await answer.json()) };
  } catch (problem) {
    complain(problem);
  }
}

/** The picture, as wide as there is room. */
function Picture({ step, view, highest }) {
  const host = useRef(null);
  const sheet = useRef(null);
  const [room, setRoom] = useState(null);
  useEffect(() => {
    const place = host.current;
    sheet.current = layer(place, "logs");
    sheet.current.svg.setAttribute("aria-hidden", "true");
    sheet.current.svg.insertAdjacentHTML("afterbegin", `<defs>${PATTERNS}${textures()}</defs>`);
    const resized = new ResizeObserver(() => {
      if (place.isConnected) setRoom([place.clientWidth, roomBelow(place)]);
    });
    resized.observe(place);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    if (!room?.[0]) return;
    const [width, height] = room;
    // Recordings have no clients: the row of those of the run stays empty.
    const reserve = step.view.clients.length > 0;
    const how = { width: Math.max(280, width), height, highest, reserve };
    const words = { layers: s.layers.value, t: s.t.value, name: s.name.value };
    const { geo, logs } = tanks(
      { ...step, view, changed: new Set(), was: {} },
      { ...how, ...words },
    );
    const { svg, root } = sheet.current;
    svg.setAttribute("viewBox", `0 0 ${geo.width} ${geo.height}`);
    svg.setAttribute("width", geo.width);
    svg.setAttribute("height", geo.height);
    patch(root, logs);
  });
  return html`<div class="scene" ref=${host}></div>`;
}

/** Equal, or the first difference and why; in the middle of a move nothing is compared. */
function Verdict({ moment, rests, t }) {
  const after = moment.move ? t("beside.after", { move: moment.move }) : t("beside.begin");
  if (!rests) return html`<p class="verdict mid">${t("beside.mid", { moment: after })}</p>`;
  const { of, differ } = moment;
  const [first] = differ;
  if (!first) return html`<p class="verdict same">${t("beside.same", { of })}</p>`;
  const broker = first.broker && t("card.name", { name: first.broker });
  const who = broker || first.whose ? `${broker || first.whose} ` : "";
  const what = who + t(`seen.fact.${first.key}`);
  return html`<p class="verdict differs">
    ${t("beside.differ", { n: differ.length, of })} <b>${what}</b>${" "}
    ${t("beside.against", { real: first.real, model: first.model })}
    <span class="why" lang=${first.lang}>${first.why}</span>
  </p>`;
}

export function Reality() {
  const t = s.t.value;
  const kafka = release.value;
  const step = s.step.value;
  useEffect(() => {
    if (kafka && found.peek().kafka !== kafka) load(kafka);
  }, [kafka]);
  const { moments } = found.value;
  if (!step || found.value.kafka !== kafka || !moments?.length) return null;
  const { number, rests } = momentAt(moments, s.n.value);
  const moment = moments[number];
  const lost = number === moments.length - 1 ? found.value.lost : [];
  const view = realView(step.view, moment, marks(moments, number), lost);
  return html`<section class="reality" aria-label=${t("beside.real", { kafka })}>
    <h2>${t("beside.real", { kafka })}</h2>
    <${Picture} step=${step} view=${view} highest=${s.tapeNow.value?.highest ?? {}} />
    <footer>
      <${Verdict} moment=${moment} rests=${rests} t=${t} />
      ${
        lost.length > 0 && html`<p class="lost">${t("beside.lost", { names: lost.join(", ") })}</p>`
      }
      <p class="soft">
        ${t("beside.read")}${" "}
        <a href=${`/s/${s.boot.value.scenario.slug}/real/${kafka}?at=${number}`}
          >${t("beside.all")}</a
        >
      </p>
    </footer>
  </section>`;
}

/** The last mark that was read of each broker, up to a moment: {replicas: {id: {hw}}}. */
function marks(moments, number) {
  const replicas = {};
  for (const { replicas: read } of moments.slice(0, number))
    for (const [id, { hw }] of Object.entries(read)) if (hw !== null) replicas[id] = { hw };
  return { replicas };
}
