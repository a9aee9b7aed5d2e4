// Addresses: what a link says of a run and of how it is looked at.  Pure: no DOM, no signals.

const WHOLE = /^\d{1,15}$/;

/** What an address may say besides its run: name -> the values it may have (null: a whole
 *  number; the languages are those of the page). */
/** Field of a link -> the values it may have; null: a number.
 * @type {Record<string, string[] | null>} */
export const FIELDS = {
  step: null,
  p: null,
  size: ["detail", "event", "moment", "chapter", "story"],
  lang: [],
};

/** How it is looked at, read where it is used: the panel, the view, the layers of the stage, and
 *  real brokers beside it. */
const LOOKS = ["tab", "view", "layers", "show", "kafka"];

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
  const names = [...new Set(left.keys())].filter((name) => name in FIELDS || LOOKS.includes(name));
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
  for (const name of [...Object.keys(FIELDS), ...LOOKS]) out.delete(name);
  const said = new URLSearchParams();
  if (seen.step) said.set("step", seen.step);
  if (seen.p !== undefined) said.set("p", seen.p);
  for (const name of ["size", "tab", "lang", "view", "layers", "show", "kafka"])
    if (seen[name]) said.set(name, seen[name]);
  for (const [name, value] of out) said.append(name, value);
  return said.size ? `?${said}` : "";
}

/** The address of a run that is saved under its digest. */
export const short = (origin, digest, seen) => `${origin}/r/${digest}${query(seen)}`;

/** The address that carries its run whole. */
export const whole = (origin, packed, seen) => `${origin}/r${query(seen)}#run=${packed}`;

/** The address of an embedded run; what is as usual is left out. */
export function embed(
  origin,
  digest,
  { step, controls = "step", panel = "now", theme = "auto", lang },
) {
  const said = new URLSearchParams({ step, controls, panel, theme, lang });
  return `${origin}/e/${digest}?${said}`;
}

const escape = (text) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The markup that puts it into a page. */
export const frame = (url, title, height) =>
  `<iframe src="${escape(url)}" title="${escape(title)}" width="100%" height="${height}" ` +
  'loading="lazy" style="border:0"></iframe>';
