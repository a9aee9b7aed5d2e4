// Message surgery: which moves belong to one message, and how they are written.  Pure.

/** The text of a verb for a message: `delay` takes its time between the way and the kind. */
export function surgeryText(verb, way, ms) {
  const [ends, kind] = way.split(" ");
  return verb === "delay"
    ? [verb, ends, `${ms}ms`, kind].filter(Boolean).join(" ")
    : `${verb} ${way}`;
}

/** What may be done with a message: the moves of the server, all refused while another goes first. */
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
