// Brokers without a tank of their own: a small mark each, with a crown and the number of partitions
// that it leads.

import { fit, g, icon, rect, text, textWidth, title } from "../node.js";

const HIGH = { wide: 28, narrow: 26 };
const APART = 6;

/** Where each mark stands below the tanks: [{id, x, y, w, h, label, led}]; of those without room,
 *  how many there are. */
export function marksOf(geo, view, brokers) {
  const h = HIGH[geo.narrow ? "narrow" : "wide"];
  const y = geo.height - h - 2;
  const { small } = geo.type;
  const marks = [];
  let x = 6;
  for (const [i, { id, name }] of brokers.entries()) {
    const label = String(name || id);
    const led = leads(view, id);
    const crown = led ? small + 6 + textWidth(led, small) : 0;
    const w = Math.max(h, textWidth(label, small, true) + 12) + crown;
    const left = brokers.length - i;
    const more = left > 1 ? textWidth(`+${left}`, small, true) + 12 : 0;
    if (x + w + more > geo.width - 6) {
      marks.push({ id: null, x, y, w: more || w, h, label: `+${left}`, led: 0 });
      break;
    }
    marks.push({ id, x, y, w, h, label, led });
    x += w + APART;
  }
  // In the middle of the stage.
  const end = marks.at(-1);
  const shift = end ? Math.max(0, (geo.width - end.x - end.w - 6) / 2) : 0;
  return marks.map((one) => ({ ...one, x: one.x + shift }));
}

/** How many partitions a broker leads. */
const leads = (view, id) => view.partitions.filter((part) => part.record.leader === id).length;

export function others(geo, view, { t, name }) {
  if (!geo.marks.length) return null;
  const { small } = geo.type;
  const style = { "text-anchor": "middle", style: `font-size:${small}px` };
  const parts = geo.marks.map(({ id, x, y, w, h, label, led }) => {
    const base = y + h / 2 + small * 0.36;
    const count = textWidth(led, small);
    const space = led ? w - small - 6 - count : w;
    const broker = view.brokers.find((one) => one.id === id);
    const down = broker && broker.alive !== "up";
    const words = broker
      ? [name(id), down && t(`alive.${broker.alive}`), t("scene.leads_many", { n: led })]
          .filter(Boolean)
          .join(" · ")
      : t("hit.more", { n: label });
    return g(
      `other${id ?? "more"}`,
      [
        rect("r", x, y, w, h, `othermark ${down ? "down" : ""}`, { rx: 6 }),
        text("t", x + space / 2, base, fit(label, space - 4, small), "small", style),
        led && icon("crown", "crown", x + space - 4, base - small + 1, small + 2, "crown"),
        led && text("n", x + w - 4 - count / 2, base, led, "small", style),
        title("title", words),
      ],
      broker ? { class: "broker", "data-id": `b${id}`, "data-alive": broker.alive } : {},
    );
  });
  return g("others", parts, { class: "others" });
}
