// Addresses: what a link says of a run and of how it is looked at.  Pure: no DOM, no signals.

import { escape } from "./dom.js";

const WHOLE = /^\d{1,15}$/;

/** Field of a link, checked where the link is read -> its values (null: a whole number; the page
 *  adds its languages).
 * @type {Record<string, string[] | null>} */
export const FIELDS = {
  step: null,
  p: null,
  size: ["detail", "event", "moment", "chapter", "story"],
  lang: [],
};

/** All fields in the order of every link.  Those that FIELDS lacks are read where they are used:
 *  the panel, the view, the layers of the stage, and real brokers beside it. */
const ORDER = ["step", "p", "size", "tab", "lang", "view", "layers", "show", "kafka"];

/** {seen, problems}: what can be read of a query, and what cannot, named with its value.
 * @param {string} search
 * @returns {{seen: Record<string, any>, problems: any[]}} */
export function read(search, fields = FIELDS) {
  const seen = {};
  const problems = [];
  for (const [name, value] of new URLSearchParams(search)) {
    if (!(name in fields)) continue;
    const known = fields[name];
    if (known ? known.includes(value) : WHOLE.test(value))
      seen[name] = known ? value : Number(value);
    else
      problems.push({
        key: known ? "link.value" : "link.number",
        args: { name, value: value.slice(0, 40), known: known?.join(", ") },
      });
  }
  return { seen, problems };
}

/** A link whose fields came behind its run ("#run=…&lang=en"), as it was meant: the query with
 *  them and what is left of the fragment.  null where nothing is out of place. */
export function mended(search, hash) {
  const query = new URLSearchParams(search);
  const left = new URLSearchParams(hash.slice(1));
  const names = [...new Set(left.keys())].filter((name) => ORDER.includes(name));
  if (!left.has("run") || !names.length) return null;
  for (const name of names) {
    query.set(name, left.get(name) ?? "");
    left.delete(name);
  }
  return `?${query}#${left}`;
}

/** What a link asks for beyond what the run has: {step, p, problems}; `first` is the partition
 *  that is shown where it names none. */
export function within(seen, { total, partitions, first = 0 }) {
  const problems = [];
  let { step = 0, p = first } = seen;
  if (step > total) {
    problems.push({ key: "link.beyond", args: { step, total } });
    step = total;
  }
  if (p >= partitions) {
    problems.push({ key: "link.partition", args: { p, last: partitions - 1 } });
    p = first;
  }
  return { step, p, problems };
}

/** The query of an address, in an order that never changes; `keep` is what others put there.
 * @param {string | URLSearchParams} keep */
export function query(seen, keep = "") {
  const out = new URLSearchParams(keep);
  const said = new URLSearchParams();
  for (const name of ORDER) {
    out.delete(name);
    if (seen[name] || (name === "p" && seen.p === 0)) said.set(name, seen[name]);
  }
  for (const [name, value] of out) said.append(name, value);
  return said.size ? `?${said}` : "";
}

/** The address of a run that is saved under its digest. */
export const short = (origin, digest, seen) => `${origin}/r/${digest}${query(seen)}`;

/** The address that carries its run whole. */
export const whole = (origin, packed, seen) => `${origin}/r${query(seen)}#run=${packed}`;

/** The release that the laboratory plays a Kafka on: the last one in its name, "Kafka 3.9.1 + elr".
 *  null for what it never starts: a release before 0.10.2, and 3.3 or later with ZooKeeper.
 * @param {string} name */
export function labRelease(name) {
  const release = name.match(/\d+(?:\.\d+)+/g)?.at(-1);
  const never = !release || /^0\.(8|9|10\.[01])\b/.test(release) || name.includes("ZooKeeper");
  return never ? null : release;
}

/** The address of an embedded run; what is as usual is left out. */
export function embed(
  origin,
  digest,
  { step, controls = "step", panel = "now", theme = "auto", lang },
) {
  const said = new URLSearchParams({ step, controls, panel, theme, lang });
  return `${origin}/e/${digest}?${said}`;
}

/** The markup that puts it into a page. */
export const frame = (url, title, height) =>
  `<iframe src="${escape(url)}" title="${escape(title)}" width="100%" height="${height}" ` +
  'loading="lazy" style="border:0"></iframe>';
