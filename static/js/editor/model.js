// A script as rows and back, and small changes of lists.  Pure.

const LINE = /^\s*(?:\[([^\]]*)\]\s*)?(.*?)\s*(?:(?:^|\s)#\s?(.*))?$/;
const COLUMN = 30;

/** The lines of a script as {prefix, move, comment}; one row is one line, so numbers agree. */
export function rowsOf(script) {
  if (script === "") return [];
  return script.split("\n").map((line) => {
    const [, prefix = "", move = "", comment = ""] = LINE.exec(line) ?? [null, "", line, ""];
    return { prefix: prefix.trim(), move: move.trim(), comment: comment.trim() };
  });
}

/** The rows as a script, comments in one column as in the library. */
export function scriptOf(rows) {
  return rows
    .map(({ prefix, move, comment }) => {
      const text = `${prefix ? `[${prefix}] ` : ""}${move}`;
      if (!comment) return text;
      return text ? `${text.padEnd(COLUMN - 1)} # ${comment}` : `# ${comment}`;
    })
    .join("\n");
}

/** Of each chapter of a run [first step, move, ...] the row it was played from; -1 for none. */
export function rowsPlayed(rows, chapters) {
  let at = -1;
  return chapters.map(([, move]) => {
    const found = rows.findIndex((row, i) => i > at && row.move === move);
    if (found >= 0) at = found;
    return found;
  });
}

/** Where a move goes that was made at step `n`: after the row that was being played there. */
export function placeAt(rows, facts, n) {
  if (!facts || n >= facts.total) return rows.length;
  const played = rowsPlayed(rows, facts.chapters);
  return 1 + facts.chapters.reduce((at, [first], i) => (first <= n ? played[i] : at), -1);
}

/** A list with one entry moved to another place. */
export function moved(list, from, to) {
  if (to < 0 || to >= list.length || from === to) return list;
  const rest = list.filter((_, i) => i !== from);
  return [...rest.slice(0, to), list[from], ...rest.slice(to)];
}

export const replaced = (list, at, change) =>
  list.map((one, i) => (i === at ? { ...one, ...change } : one));
export const without = (list, at) => list.filter((_, i) => i !== at);

/** The number a field holds; what is no number is sent as it is, so that the answer can say so. */
export function numberOf(text) {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}

/** "A B C" -> the ids of these brokers; a name that is none stays, so that it is refused. */
export function idsOf(text, brokers) {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => {
      const known = brokers.find((b) => b.name === word || String(b.id) === word);
      return known ? known.id : numberOf(word);
    });
}

/** Consumers one by one; a scenario may say how many there are. */
export const readers = (consumers) =>
  Array.isArray(consumers)
    ? consumers
    : Array.from({ length: consumers }, () => ({ epochs: true, reset: "earliest", rack: "" }));
const labelOf = (id, brokers) => {
  const b = brokers.find((one) => one.id === id);
  return b ? b.name || String(b.id) : String(id);
};
export const labels = (ids, brokers) => ids.map((id) => labelOf(id, brokers)).join(" ");

/** Three brokers become four: the new one gets the next free id, and a replica of the first
 *  partition if all have one. */
export function grown(doc) {
  const id = Math.max(0, ...doc.brokers.map((b) => b.id)) + 1;
  const all = doc.partitions.map((replicas) =>
    replicas.length === doc.brokers.length ? [...replicas, id] : replicas,
  );
  return { brokers: [...doc.brokers, { id, name: "", rack: "" }], partitions: all };
}

/** One broker less, everywhere it was named. */
export function shrunk(doc, at) {
  const { id } = doc.brokers[at];
  const partitions = doc.partitions
    .map((replicas) => replicas.filter((one) => one !== id))
    .filter((replicas) => replicas.length);
  const faults = doc.faults
    .map((f) => (f.brokers ? { ...f, brokers: f.brokers.filter((one) => one !== id) } : f))
    .filter((f) => !f.brokers || f.brokers.length);
  return { brokers: without(doc.brokers, at), partitions, faults };
}

/** A fault of another kind: what only the former kind had goes, what this one needs comes.
 *  `kinds` are those that the engine offers. */
export function ofKind(fault, kind, kinds, brokers = []) {
  const special = new Set(kinds.flatMap((one) => one.own.map(({ name }) => name)));
  const named = (/** @type {string} */ name) => kinds.find((one) => one.name === name);
  const { own, together, whole, plays } = named(kind);
  /** @type {Record<string, any>} */
  const made = {
    ...Object.fromEntries(Object.entries(fault).filter(([name]) => !special.has(name))),
    kind,
    delay_ms: 0,
  };
  for (const { name, usual } of own) if (usual !== null) made[name] = fault[name] || usual;
  if (plays) made.moves = fault.moves ?? ["elect preferred"];
  else delete made.moves;
  if (whole) {
    const { brokers: _, racks: __, together: ___, ...bare } = made;
    return bare;
  }
  const before = named(fault.kind);
  if (before.whole) made.brokers = brokers.map((b) => b.id);
  if (before.whole || together !== before.together) made.together = together;
  const all = made.brokers && brokers.length > 1 && made.brokers.length >= brokers.length;
  return kind === "partition" && all ? { ...made, brokers: made.brokers.slice(0, 1) } : made;
}

/** An operator's moves, as they are typed: "elect preferred; reassign 2 3". */
export const movesOf = (/** @type {string} */ text) =>
  text.split(/\s*;\s*/).filter((line) => line.trim());

/** The same fault, of brokers or of racks. */
export function aimed(fault, racks, brokers) {
  const { brokers: _, racks: __, ...rest } = fault;
  if (!racks) return { ...rest, brokers: brokers.map((b) => b.id) };
  return { ...rest, racks: [...new Set(brokers.map((b) => b.rack).filter(Boolean))] };
}

/** The same fault by a rate or a schedule; only a rate has an importance. */
export function timed(fault, how) {
  const { mtbf_ms: rate, at_ms: moment, importance, ...rest } = fault;
  return {
    ...rest,
    [how]: rate ?? moment,
    ...(how === "mtbf_ms" && importance ? { importance } : {}),
  };
}

/** A fault with an importance factor; one, or nothing, is no factor. */
export function weighted(fault, factor) {
  const { importance: _, ...rest } = fault;
  return factor === null || factor === 1 ? rest : { ...rest, importance: factor };
}

/** A delay of the other form: [least, most], or {median, p99}. */
export function delayed(delay, form) {
  if (form === "even") return Array.isArray(delay) ? delay : [delay.median, delay.p99];
  if (!Array.isArray(delay)) return delay;
  const median = Math.max(1, delay[0]);
  return { median, p99: Math.max(median, delay[1]) };
}

/** "violates I7 I6" | "holds" -> what the scenario keeps: the word, or the list of what breaks. */
export function verdictOf(text) {
  const words = text.trim().split(/[\s,]+/);
  return words[0] === "violates" ? words.slice(1) : words[0];
}

export const verdictText = (verdict) =>
  Array.isArray(verdict) ? `violates ${verdict.join(" ")}` : (verdict ?? "");

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)?$/;

/** "30d" -> ms; what is no span of time is sent as it is, so that the answer can say so. */
export function msOf(text) {
  const found = SPAN.exec(text.trim());
  return found ? Math.round(Number(found[1]) * UNITS[found[2] ?? "ms"]) : text;
}

/** 5400000 -> "90m": the largest unit of which it is a whole number. */
export function spanText(ms) {
  if (typeof ms !== "number" || ms === 0) return ms ?? "";
  const unit = Object.keys(UNITS)
    .reverse()
    .find((one) => ms % UNITS[one] === 0);
  return unit ? `${ms / UNITS[unit]}${unit}` : ms;
}
