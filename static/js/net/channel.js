// The live channel: ask and be answered, again when the answer got lost, and come back after a
// loss.

import { io } from "socket.io-client";

import { sleep } from "../core/debounce.js";
import { Refused } from "../core/post.js";

const PATIENCE_MS = 4000;
const TRIES = 3;
const SOONEST_MS = 300;
const LATEST_MS = 5000;

/** Connects and returns {ask, connected, on}.  Without a server the page has a channel of its own,
 *  to the engine in its Web Worker. */
export const connect = (how) => globalThis.highwaterSite?.connect(how) ?? overSocket(how);

function overSocket({ onConnect, onLost }) {
  const { csrf } = document.body.dataset;
  const transports = document.body.dataset.transports?.split(",") ?? ["websocket"];
  const socket = io({
    transports,
    auth: { csrf, lang: document.documentElement.lang },
    reconnection: false,
  });
  let failed = 0;
  let timer = 0;
  // The page itself decides when to try again, so that it can say when; some sooner, some later,
  // since many pages may have lost the same server.
  const again = () => {
    const ms = Math.min(LATEST_MS, SOONEST_MS * 2 ** failed) * (0.6 + 0.8 * Math.random());
    failed += 1;
    clearTimeout(timer);
    timer = setTimeout(() => socket.connect(), ms);
    onLost(performance.now() + ms);
  };
  socket.on("connect", () => {
    failed = 0;
    onConnect();
  });
  socket.on("disconnect", again);
  socket.on("connect_error", again);
  return {
    /** One question; repeated after four seconds, since (run, step, move) names one result, and
     *  when it came a little too soon. */
    async ask(event, payload) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const answer = await socket.timeout(PATIENCE_MS).emitWithAck(event, payload);
          if (!answer?.ok) throw new Refused(answer ?? { code: "engine" });
          return answer;
        } catch (problem) {
          const refused = problem instanceof Refused;
          const early = refused && problem.code === "slow_down" && problem.args.ms <= PATIENCE_MS;
          if ((refused && !early) || attempt >= TRIES || !socket.connected) throw problem;
          if (early) await sleep(problem.args.ms);
        }
      }
    },
    get connected() {
      return socket.connected;
    },
    on: (event, heard) => socket.on(event, heard),
  };
}

/** @type {{ask: (event: string, payload?: object) => Promise<any>, connected: boolean,
 *   on: (event: string, heard: (data: any) => void) => void}} */
let link;

export function use(made) {
  link = made;
}
export const channel = () => link;

/** How a run is named to a server that has forgotten it: by its text, or by what it was made of. */
export function nameOf({ text, facts }) {
  if (text) return { text };
  const { scenario, profile, seed } = facts;
  return facts.script
    ? { scenario: scenario.slug || scenario.digest, profile, seed }
    : { run: facts.digest };
}

/** Asks about a run.  A server that was restarted is told the run again, and nothing is lost. */
export async function askAbout(on, event, payload) {
  try {
    return await link.ask(event, { run: on.digest, ...payload });
  } catch (problem) {
    if (!(problem instanceof Refused) || problem.code !== "gone") throw problem;
    await link.ask("open", { ...nameOf(on), step: 0, ahead: 0 });
    return link.ask(event, { run: on.digest, ...payload });
  }
}
