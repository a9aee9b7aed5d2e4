// Which move the keys k, r and x make of the thing selected.  Pure.

/** "kill A", "heal A B", "cut A K", or null where the key means nothing; `message`: of the view, where one is
 *  selected; `called`: how a node is named in moves. */
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
