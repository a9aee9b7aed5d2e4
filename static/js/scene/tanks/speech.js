// What a message says, in the words of what it does: "from 3?", "HW 5", "ack m3".  Pure.

import { essence } from "../words.js";

const named = (t, key) => {
  const words = t(key);
  return words === key ? null : words;
};

/** {words, records: [{id, e}], tag, ack}: what stands on the slip. */
export function speech(m, part, { t, name }) {
  const f = m.fields ?? {};
  const offset = f.offset ?? f.fetchOffset;
  const plain = { records: [], tag: "", ack: false };
  const kind = named(t, `msg.kind.${m.kind}`) ?? m.kind;
  const wrong = m.error ?? (f.error === "NONE" ? null : f.error);
  if (wrong) return { ...plain, words: kind, tag: wrong };
  if (m.kind === "Produce" && !m.reply)
    return { ...plain, words: "", records: (f.records ?? []).map((id) => ({ id, e: null })) };
  if (m.kind === "Produce")
    return { ...plain, words: t("scene.ack", { m: ackOf(m, part) }), ack: true };
  if (m.kind === "Fetch" && !m.reply && offset >= 0)
    return { ...plain, words: t("scene.from", { o: offset }) };
  if (m.kind === "Fetch" && m.reply && !f.diverging)
    return {
      ...plain,
      words: "",
      records: (m.carries ?? []).map(([, id, e]) => ({ id, e })),
      tag: f.hw === undefined ? essence(m, t, name) || t("scene.nothing") : `HW ${f.hw}`,
    };
  if (f.diverging)
    return { ...plain, words: t("scene.epoch_end", { e: f.diverging[0], o: f.diverging[1] }) };
  if (m.kind === "OffsetForLeaderEpoch")
    return {
      ...plain,
      words: m.reply
        ? t("scene.epoch_end", { e: f.epoch, o: f.end ?? "?" })
        : t("scene.epoch_ask", { e: f.epoch }),
    };
  return { ...plain, words: kind, tag: essence(m, t, name) };
}

/** Which record an acknowledgement is for: the one the leader has where it says. */
function ackOf(m, part) {
  const o = m.fields?.offset;
  const found = part.replicas[m.from]?.records.find((r) => r.o === o);
  return found?.id ?? (o >= 0 ? `@${o}` : "");
}

/** The offset at which a message belongs, or undefined: the height it flies at. */
export function heightOf(m) {
  const f = m.fields ?? {};
  if (m.carries?.length) return m.carries[0][0];
  return f.offset ?? f.fetchOffset ?? (m.reply && m.kind === "Fetch" ? f.hw : undefined);
}

/** How far a message at rest has come: by its clock; at its receiver's edge while it waits for a
 *  hand, half way while its link is held. */
export function progress(m, now) {
  if (m.held) return m.deliverable ? 0.8 : 0.5;
  if (m.due === null || m.due === undefined || m.due <= m.sent) return 0.5;
  return Math.min(0.85, Math.max(0.15, (now - m.sent) / (m.due - m.sent)));
}
