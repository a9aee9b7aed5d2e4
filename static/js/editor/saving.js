// The link of a scenario: its digest on a server that keeps it, or the scenario itself, as a run of
// it, where there is no server.

import { whole } from "../core/link.js";
import { alone, shared } from "../core/place.js";
import { post } from "../core/post.js";

async function saved(yaml) {
  const said = await post("/api/scenarios", { yaml });
  history.replaceState(null, "", `/edit/${said.digest}`);
  return shared(said.url);
}

async function carried(yaml) {
  const said = await post("/api/scenarios/try", { yaml });
  const { pack } = await import("../core/packing.js");
  const text = await (await fetch(`/r/${said.run}.json`)).text();
  return shared(whole("", await pack(text), {}));
}

/** The address under which a scenario can be played by others. */
export const linkOf = (yaml) => (alone() ? carried(yaml) : saved(yaml));
