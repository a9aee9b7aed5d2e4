// A batch that runs: how far, how fast, what so far.  Heard over the socket, asked for without it.

import { first } from "../core/dom.js";
import { connect } from "../net/channel.js";
import { duration, percent, whole } from "./charts/figures.js";
import { inWords } from "./charts/names.js";

const ASK_EVERY_MS = 1000;
const SAY_EVERY_MS = 10_000;
const ANSWER_EVERY_MS = 2000;
/** What has no number yet is asked for as soon as there is one. */
const FIRST_EVERY_MS = 250;

/** How many runs, how fast, how long still: one phrase each.
 * @param {BatchResult} batch */
function figuresOf(batch, t) {
  const figures = [
    t(batch.cycles ? "batch.progress.trees" : "batch.progress.runs", {
      done: whole(batch.done_runs),
      total: whole(batch.total_runs),
    }),
  ];
  if (batch.state === "queued")
    figures.unshift(
      t(batch.before ? "batch.progress.before" : "batch.progress.next", { n: batch.before }),
    );
  if (batch.total_chunks)
    figures.push(
      t("batch.progress.chunks", {
        done: whole(batch.done_chunks),
        total: whole(batch.total_chunks),
      }),
    );
  if (batch.runs_per_s && !batch.cycles)
    figures.push(t("batch.progress.speed", { n: whole(batch.runs_per_s) }));
  if (batch.left_s !== null)
    figures.push(t("batch.progress.left", { time: duration(t, batch.left_s) }));
  return figures;
}

/** Draws how far the batch is; returns when it was last read aloud, as Date.now(). */
function paint(batch, t, charts, said) {
  const state = t(`batch.state.${batch.state}`);
  document.getElementById("state").textContent = state;
  Object.assign(document.getElementById("bar"), {
    max: batch.total_runs,
    value: batch.done_runs,
  });
  const figures = figuresOf(batch, t);
  document.getElementById("figures").textContent = figures.join(" · ");
  document.getElementById("engine").textContent = batch.message;
  const aloud = Date.now() - said > SAY_EVERY_MS;
  if (aloud) document.getElementById("live").textContent = `${state}. ${figures.join(", ")}`;
  if (!batch.cycles) {
    count(batch);
    charts.shares(batch, t);
  }
  return aloud ? Date.now() : said;
}

export function follow(boot, t, charts) {
  const id = boot.batch.id;
  const answer = answering(document.querySelector("#answer[data-live]"));
  let latest = boot.batch;
  let said = 0;
  let waiting = false;
  let ended = false;

  function hear(news) {
    if (news.id !== id || ended) return;
    latest = { ...latest, ...inWords(news, t) };
    answer?.news();
    if (boot.ended.includes(news.state)) {
      ended = true;
      location.reload();
      return;
    }
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        said = paint(latest, t, charts, said);
      });
    }
  }

  const offline = document.getElementById("offline");
  let socket = null;
  const watch = async () => {
    try {
      hear((await socket.ask("watch", { batch: id })).batch);
      offline.hidden = true;
    } catch {
      offline.hidden = false;
    }
  };
  socket = connect({
    onConnect: watch,
    onLost: () => {
      offline.hidden = false;
    },
  });
  socket.on("batch", hear);
  setInterval(async () => {
    if (socket.connected && offline.hidden) return;
    try {
      const answer = await fetch(`/api/batches/${id}`);
      if (answer.ok) hear(await answer.json());
    } catch {
      /* the server is away: asked again in a second */
    }
  }, ASK_EVERY_MS);

  const form = /** @type {HTMLFormElement | null} */ (first("[data-act=cancel]"));
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    button.textContent = t("batch.cancelling");
    try {
      await socket.ask("cancel", { batch: id });
    } catch {
      form.submit();
    }
  });

  said = paint(latest, t, charts, said);
}

/** Keeps up what a study of the advisor says so far, as the server tells it: `news` is called
    whenever something was counted. */
function answering(place) {
  if (!place) return null;
  let asked = 0;
  let open = false;
  async function ask() {
    if (open) return;
    open = true;
    asked = Date.now();
    try {
      const said = await fetch(place.dataset.live);
      if (said.ok) place.innerHTML = await said.text();
    } catch {
      /* the server is away: asked again soon */
    }
    open = false;
  }
  ask();
  setInterval(ask, ANSWER_EVERY_MS);
  return {
    news() {
      if (!place.querySelector("#advice") && Date.now() > asked + FIRST_EVERY_MS) ask();
    },
  };
}

/** The rows of the poster, while they grow. */
function count(batch) {
  const varied = batch.varied.length > 0;
  const rows = batch.cells.map((cell) => {
    const row = document.createElement("tr");
    const add = (tag, text, kind = "") => {
      const made = row.appendChild(document.createElement(tag));
      made.textContent = text;
      made.className = kind;
      return made;
    };
    const [lost, gone] = ["I7", "gone"].map((name) => cell.broken[name] ?? cell.unseen);
    add("th", cell.profile).scope = "row";
    if (varied) add("td", cell.label, "mono");
    add("td", whole(cell.n), "num wide");
    add("td", whole(lost.hits), "num");
    add("td", `${percent(lost.low)} – ${percent(lost.high)}`, "num wide");
    add("td", whole(gone.hits), "num");
    add("td", "");
    return row;
  });
  const table = document.querySelector("#rows");
  if (!table || !rows.length) return;
  table.querySelector("tbody").replaceChildren(...rows);
  table.parentElement.hidden = false;
}
