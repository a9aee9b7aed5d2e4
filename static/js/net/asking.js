// Questions about a run, and what to do when the server no longer knows it.

import { Refused } from "./socket.js";

let link = null; // {ask, connected}

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
