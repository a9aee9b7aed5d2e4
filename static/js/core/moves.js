// Moves as they are written: those of one message, and those of the keys k, r and x.  Pure.

/** The text of a verb for a message: `delay` takes its time between the way and the kind. */
export function surgeryText(verb, way, ms) {
  const [ends, kind] = way.split(" ");
  return verb === "delay"
    ? [verb, ends, `${ms}ms`, kind].filter(Boolean).join(" ")
    : `${verb} ${way}`;
}

/** What may be done with a message: the moves of the server, all refused while another goes
 *  first. */
export function surgeryMoves(message, moves, { behind }) {
  const found = (verb) => moves.find((m) => m.text === surgeryText(verb, message.way, 500));
  const list = ["deliver", "drop", "hold", "release", "delay", "duplicate"]
    .map(found)
    .filter(Boolean);
  return message.behind === undefined
    ? list
    : list.map((m) => ({ ...m, enabled: false, why: behind }));
}

/** Of hold and release the one that fits; what is impossible stays, with its reason. */
export function fitting(list, message) {
  const other = message.held && !message.deliverable ? "hold" : "release";
  return list.filter((m) => m.enabled || !m.text.startsWith(`${other} `));
}
/** "kill A", "heal A B", "cut A K", or null where the key means nothing; `message`: of the view,
 *  where one is selected; `called`: how a node is named in moves. */
export function faultMove(key, id, message, called) {
  const link =
    /^link:(.+):(.+)$/.exec(id ?? "")?.slice(1) ??
    (message && [message.from, message.to].map(String));
  const broker = /^(?:b|log:|lane:)(-?\d+)$/.exec(id ?? "")?.[1];
  if (key === "k") {
    if (message) return message.way ? `drop ${message.way}` : null;
    return id === "K" ? "kill K" : broker === undefined ? null : `kill ${called(broker)}`;
  }
  if (link) return `${key === "r" ? "heal" : "cut"} ${link.map(called).join(" ")}`;
  if (id === "K") return key === "r" ? "restart K" : null;
  if (broker === undefined) return null;
  return key === "r" ? `restart ${called(broker)}` : `cut ${called(broker)} K`;
}
