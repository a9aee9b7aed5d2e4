// The small things of the stage one can ask about: high watermark, ISR pill, crown, a write that
// waits.

/** Every node of a picture. */
export function* nodes(list) {
  for (const one of list ?? []) {
    yield one;
    yield* nodes(one.c);
  }
}

const LEAST = 24; // px, the smallest target

/** A box as large as a finger needs it. */
export function around({ x, y, width, height }) {
  const w = Math.max(LEAST, width);
  const h = Math.max(LEAST, height);
  return { x: x - (w - width) / 2, y: y - (h - height) / 2, w, h };
}

/** [{id, subject, label, x, y, w, h}] of a picture; `t` and `name` put them into words. */
export function spots({ logs, step, geo }, { t, name }) {
  const found = [];
  const part = geo.part;
  for (const one of nodes(logs)) {
    const id = one.a?.["data-id"] ?? "";
    const mark = /^b(\d+):(hw|isr)$/.exec(id);
    const box = one.c?.find((child) => child.t === "rect" && child.k === "r")?.a;
    if (mark && box) {
      const who = name(Number(mark[1]), true);
      const key =
        mark[2] === "isr"
          ? part.record.isr.includes(Number(mark[1]))
            ? "whynot.isr.in"
            : "whynot.isr.out"
          : "whynot.hw";
      if (mark[2] === "hw" || part.ar.includes(Number(mark[1])))
        found.push({
          id: `why:${id}`,
          subject: `${mark[2]} ${who}`,
          label: t(key, { b: t("card.name", { name: who }) }),
          ...around(box),
        });
    } else if (id.startsWith("wait:") && box) {
      const m = id.slice(5).split(" ")[0].replace(/,$/, "");
      found.push({
        id: `why:${id}`,
        subject: `ack ${m}`,
        label: t("whynot.ack", { m: id.slice(5) }),
        ...around(box),
      });
    }
    const card = /^card(\d+)$/.exec(one.k ?? "")?.[1];
    const crown = card && one.c?.find((child) => child.k === "crown")?.a;
    if (crown) {
      const who = name(Number(card), true);
      found.push({
        id: `why:b${card}:crown`,
        subject: `leader ${who}`,
        label: t("whynot.crown", { b: t("card.name", { name: who }) }),
        ...around(crown),
      });
    }
  }
  // Pills of one broker after another have the same name: the first one is asked about.
  const seen = new Set();
  return step ? found.filter((one) => !seen.has(one.id) && seen.add(one.id)) : [];
}
