// Links worth drawing: those in use, and those somebody has cut, slowed, made lossy or holds.

import { along, anchor } from "./layout.js";
import { circle, g, icon, path, rect, text, textWidth, title } from "./node.js";

/** The arcs in the gutter, with a label where something is wrong; on a phone only the labels. */
export function links(geo, view, { t, name }) {
  const out = [];
  const used = new Set(
    geo.narrow ? [] : view.messages.map((m) => [String(m.from), String(m.to)].sort().join("/")),
  );
  for (const pair of used) {
    const [a, b] = pair.split("/");
    if (a !== b) out.push(path(`use-${pair}`, arc(geo, a, b), "link"));
  }
  view.links.forEach((l) =>
    out.push(...(geo.narrow ? chip(geo, l, { t, name }) : odd(geo, l, { t, name }))),
  );
  return out;
}

function odd(geo, l, { t, name }) {
  const words = linkWords(l, t, name);
  const cut = l.cut && l.cut !== "none";
  const a = anchor(geo, l.a);
  const b = anchor(geo, l.b);
  const wide = textWidth(words, 11) + 30;
  // The label sits on the arc where that is farthest out.
  const x = Math.max(16, a[0] - 0.75 * bowOf(geo, a[1], b[1]) - wide / 2 + 12);
  const y = (a[1] + b[1]) / 2;
  const head = l.cut === "a>b" ? b : l.cut === "b>a" ? a : null;
  return [
    g(
      `link-${l.a}-${l.b}`,
      [
        path("l", arc(geo, l.a, l.b), `link ${cut ? "cut" : "odd"}`),
        // One way: the arrowhead that nothing reaches any more is crossed out.
        head && path("head", `M${head[0] - 12} ${head[1] - 5}l9 5l-9 5`, "linkhead"),
        head && path("crossed", `M${head[0] - 14} ${head[1] - 6}l12 12m0-12l-12 12`, "linkcross"),
        ...label(x - 12, y - 10, wide, words, l, cut),
        title("title", `${name(l.a, true)} – ${name(l.b, true)}: ${words}`),
      ],
      { class: "linkmark", "data-id": `link:${l.a}:${l.b}`, "data-cut": l.cut ?? "none" },
    ),
  ];
}

function label(x, y, wide, words, l, cut) {
  const sign = cut ? "scissors" : l.held ? "hand" : l.loss ? "cross" : "clock";
  return [
    rect("bg", x, y, wide, 20, "linkbox", { rx: 10 }),
    icon("i", sign, x + 6, y + 3, 14, cut ? "bad" : "warn"),
    text("t", x + 23, y + 14, words, `small ${cut ? "bad" : "warn"}`),
  ];
}

/** On a phone there is no gutter: the label stands on the upper one of the two cards. */
function chip(geo, l, { t, name }) {
  const lanes = [geo.lanes.get(Number(l.a)), geo.lanes.get(Number(l.b))]
    .filter(Boolean)
    .sort((p, q) => p.y - q.y);
  if (!lanes.length || !geo.cardH) return [];
  const cut = l.cut && l.cut !== "none";
  const words = `${name(l.a, true)}–${name(l.b, true)} ${linkWords(l, t, name)}`;
  const wide = textWidth(words, 11) + 30;
  return [
    g(
      `link-${l.a}-${l.b}`,
      label(geo.width - wide - 14, lanes[0].y + geo.cardH - 27, wide, words, l, cut),
      { class: "linkmark", "data-id": `link:${l.a}:${l.b}`, "data-cut": l.cut ?? "none" },
    ),
  ];
}

/** Everything that is odd about a link, the gravest first. */
export function linkWords(l, t, name) {
  const words = [];
  if (l.cut === "both") words.push(t("link.cut"));
  else if (l.cut && l.cut !== "none") {
    const [from, to] = l.cut === "a>b" ? [l.a, l.b] : [l.b, l.a];
    words.push(`${name(from, true)}→${name(to, true)} ${t("link.cut")}`);
  }
  if (l.held) words.push(t("link.held"));
  if (l.loss) words.push(t("link.loss", { n: Math.round(l.loss * 100) }));
  if (l.delay && l.delay !== 0)
    words.push(t("link.slow", { n: Array.isArray(l.delay) ? l.delay.join("–") : l.delay }));
  return words.join(" · ");
}

const bowOf = (geo, y1, y2) => Math.min((geo.gutter - 14) / 0.75, 44 + Math.abs(y2 - y1) * 0.3);

function arc(geo, a, b) {
  const [x1, y1] = anchor(geo, a);
  const [x2, y2] = anchor(geo, b);
  const bow = bowOf(geo, y1, y2);
  return `M${x1} ${y1}C${x1 - bow} ${y1} ${x2 - bow} ${y2} ${x2} ${y2}`;
}

/** Heartbeats and metadata fetches: dots on their way, only where somebody asked to see them. */
export function beats(geo, view, { layers }) {
  if (geo.narrow || !layers.has("heartbeats")) return [];
  return (view.beats ?? []).slice(0, 60).map((m) => {
    const from = anchor(geo, m.from);
    const to = anchor(geo, m.to);
    const f =
      m.due > m.sent ? Math.min(0.9, Math.max(0.1, (view.t - m.sent) / (m.due - m.sent))) : 0.5;
    const [x, y] = along([from[0] - 14, from[1]], [to[0] - 14, to[1]], f, 10);
    return circle(`beat-${m.id}`, Math.round(x), Math.round(y), 3, "beat", {
      "data-id": `beat:${m.id}`,
    });
  });
}
