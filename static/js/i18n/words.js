// Words: a catalogue and a way to fill it.  Pure; sentences of the engine come as key and entities.

/** A sentence with its {places} filled; a place without a value stays as it is. */
export const fill = (text, args, say = (name, value) => String(value)) =>
  text.replace(/\{(\w+)\}/g, (place, name) => (name in args ? say(name, args[name]) : place));

/** t(key, args) for a catalogue; unknown keys show themselves, so that a gap is seen and not
 *  hidden.  A Kafka or a promise that is named by its code is told in words. */
export function translator(words, lang = "en") {
  const plural = new Intl.PluralRules(lang);
  // To choose a form takes long, and few keys have forms.
  const forms = (key) => `${key}.one` in words || `${key}.other` in words;
  const t = (key, args = {}) => {
    const entry =
      (args.n !== undefined && forms(key) && words[`${key}.${plural.select(Number(args.n))}`]) ||
      words[key];
    if (entry === undefined) return key;
    if (!entry.includes("{")) return entry;
    return fill(entry, args, (name, value) => TOLD[name]?.(t, value) ?? String(value));
  };
  return t;
}

/** A language as it stands in addresses: zh-Hans is zh. */
export const inAddress = (lang) => lang.split("-")[0];

/** "K39+elr" as people say it: Kafka 3.9.1 + elr. */
export function kafka(t, name) {
  for (let base = String(name), flags = ""; base;) {
    const told = t(`kafka.${base}`);
    if (told !== `kafka.${base}`) return told + flags;
    const found = /^(.+)([+-])([a-z_]+(?:=\w+)?)$/.exec(base);
    if (!found) break;
    base = found[1];
    flags = ` ${found[2] === "-" ? "−" : "+"} ${found[3]}${flags}`;
  }
  return String(name);
}

/** A text with the codes of releases replaced by their names. */
export const versioned = (t, text) => text.replace(/\b[KZ]\d{2,4}\b/g, (code) => kafka(t, code));

/** What is so where an invariant is broken: "An acknowledged record is gone". */
export function promise(t, name) {
  const told = t(`broken.${name}`);
  return told === `broken.${name}` ? String(name) : told.replace(/[.。]$/, "");
}

const TOLD = { profile: kafka, other: kafka, invariant: promise };

const CJK = /[\u3400-\u9fff]/g;
/** Words of a text, for the time it takes to read; two Chinese characters count as one. */
export const countWords = (text) =>
  text.replace(CJK, " ").split(/\s+/).filter(Boolean).length + (text.match(CJK)?.length ?? 0) / 2;

export const knows = (words, key) => key in words;

/** What an entity is called: {text, ref}, where ref is the data-id of what it names on the
 *  stage. */
function entity(value, { t, name }) {
  if (value === null || typeof value !== "object") return { text: String(value), ref: null };
  const [kind] = Object.keys(value);
  const v = value[kind];
  switch (kind) {
    case "b":
      return { text: name(v), ref: isNaN(v) || Number(v) >= 0 ? `b${v}` : "K" };
    case "bs":
      return {
        text: `[${[v]
          .flat()
          .map((b) => name(b, true))
          .join(", ")}]`,
        ref: null,
      };
    case "v":
      return { text: `C${v}`, ref: `K${v}` };
    case "k":
      return { text: t("ent.controller"), ref: "K" };
    case "m":
      return { text: String(v), ref: `rec:${v}` };
    case "o":
      return { text: String(v), ref: `o${v}` };
    case "e":
      return { text: String(v), ref: `e${v}` };
    case "c":
      return { text: name(v), ref: String(v) };
    default:
      return { text: Array.isArray(v) ? v.join(t("list.comma")) : String(v), ref: null };
  }
}

/** A list of records or brokers is several entities, with a comma or an "and" between them. */
function entities(value, env) {
  const kind = value && typeof value === "object" ? Object.keys(value)[0] : "";
  const one = { ms: "m", bl: "b" }[kind];
  if (!one) return [entity(value, env)];
  const between = (i) => ({
    text: env.t(i === value[kind].length - 1 ? "list.and" : "list.comma"),
    ref: null,
  });
  return value[kind].flatMap((v, i) => [...(i ? [between(i)] : []), entity({ [one]: v }, env)]);
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const PARTITION = /^[\w.-]+-\d+$/;

/** A told sentence as parts, strings and entities in turn; the first letter is made a capital,
 *  unless it is a partition's, whose name is written as it is. */
export function told(words, { key, args = {} }, env) {
  const pattern = words[key];
  if (pattern === undefined) {
    const rest = Object.entries(args)
      .map(([n, v]) => `${n} ${entity(v, env).text}`)
      .join(", ");
    return [{ text: rest ? `${key} (${rest})` : key, ref: null }];
  }
  const parts = pattern
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .flatMap((bit) => {
      const found = /^\{(\w+)\}$/.exec(bit);
      return found && found[1] in args ? entities(args[found[1]], env) : { text: bit, ref: null };
    });
  if (parts.length && !PARTITION.test(parts[0].text))
    parts[0] = {
      ...parts[0],
      text: capital(parts[0].text),
    };
  return parts;
}

/** The same as plain text, for live regions and lists. */
export const plain = (words, entry, env) =>
  told(words, entry, env)
    .map((part) => part.text)
    .join("");

/** Sentences one after the other: after a full-width stop there is room enough. */
export const inTurn = (sentences) => sentences.join(" ").replaceAll(/([。！？；]) /g, "$1");

/** How brokers and the others are called: name(2) "Broker 2", name(2, true) "2". */
export function namer(t, brokers = []) {
  const names = new Map(brokers.map((b) => [String(b.id), b.name ?? String(b.id)]));
  return (id, short = false) => {
    const key = String(id);
    if (key === "-1" || key === "K") return short ? "K" : t("ent.controller");
    if (/^K\d$/.test(key)) return `C${key[1]}`; // a voter, as moves name it
    const client = /^([PC])(\d+)$/.exec(key);
    if (client) return t(client[1] === "P" ? "ent.producer" : "ent.consumer", { n: client[2] });
    if (Number(id) <= -31) return t("ent.consumer", { n: -30 - Number(id) });
    if (Number(id) <= -11) return t("ent.producer", { n: -10 - Number(id) });
    if (!names.has(key) && isNaN(id)) return key;
    const own = names.get(key) ?? key;
    return short ? own : t("ent.broker", { name: own });
  };
}
