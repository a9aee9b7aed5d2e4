// The live channel: ask and be answered, again when the answer got lost, and come back after a loss.

import { io } from "socket.io-client";

const PATIENCE_MS = 4000;
const TRIES = 3;
const SOONEST_MS = 300;
const LATEST_MS = 5000;

export class Refused extends Error {
  constructor(answer) {
    super(answer.sentence ?? answer.code);
    this.code = answer.code;
    this.args = answer.args ?? {};
  }
}

/** Connects and returns {ask, online}.  `onState(online, first)` hears of every change. */
export function connect({ csrf, onConnect, onLost }) {
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
    /** One question; repeated after four seconds, since (run, step, move) names one result. */
    async ask(event, payload) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const answer = await socket.timeout(PATIENCE_MS).emitWithAck(event, payload);
          if (!answer?.ok) throw new Refused(answer ?? { code: "engine" });
          return answer;
        } catch (problem) {
          if (problem instanceof Refused || attempt >= TRIES || !socket.connected) throw problem;
        }
      }
    },
    get connected() {
      return socket.connected;
    },
    on: (event, heard) => socket.on(event, heard),
  };
}
