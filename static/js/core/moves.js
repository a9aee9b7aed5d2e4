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

/** Does a move speak of this thing? */
export function concerns(move, id, step) {
  const tokens = move.text.split(/[\s]+/).slice(1);
  const broker = /^b(-?\d+)$/.exec(id);
  if (broker) {
    const own = step.view.brokers.find((b) => String(b.id) === broker[1]);
    const names = [broker[1], own?.name].filter((v) => v !== undefined && v !== null).map(String);
    return tokens.some((token) => token.split(/->|>/).some((part) => names.includes(part)));
  }
  const log = /^log:(-?\d+)$/.exec(id);
  if (log) {
    const own = step.view.brokers.find((b) => String(b.id) === log[1])?.name || log[1];
    return (
      (/^produce .* to /.test(move.text) && tokens.at(-1) === own) ||
      (/^(checkpoint|flush) /.test(move.text) && tokens[0] === own) ||
      /^delete records /.test(move.text)
    );
  }
  const link = /^link:(.+):(.+)$/.exec(id);
  if (link) {
    const label = (node) => step.view.brokers.find((one) => String(one.id) === node)?.name || node;
    const [a, b] = [label(link[1]), label(link[2])];
    const said = tokens.slice(0, 2).join(" ");
    return (
      said === `${a} ${b}` ||
      said === `${b} ${a}` ||
      [`${a}->${b}`, `${b}->${a}`].includes(tokens[0]) ||
      (b === "K" && /^(md|alter)$/.test(tokens[0]) && tokens[1] === a)
    );
  }
  if (id === "K") return tokens.includes("K") || /^(elect|set|reassign)\b/.test(move.text);
  const client = step.view.clients.find((one) => String(one.id) === id);
  if (!client) return false;
  const verbs = CLIENT_VERBS[client.kind] ?? [];
  const named = tokens.find((token) => /^[PC]\d+$/.test(token));
  const unnamed = client.kind === "producer" || id === "C1"; // `read` alone means C1
  return named ? named === id : unnamed && verbs.includes(move.text.split(" ")[0]);
}

/** The verbs of moves that a client makes. */
const CLIENT_VERBS = {
  producer: ["produce"],
  consumer: ["read", "seek", "join", "process", "commit", "leave", "die"],
};
