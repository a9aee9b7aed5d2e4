// What a hand draws over the stage: elements of SVG, and the mark of an answer beside the truth.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes) {
  const one = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  return one;
}

/** Where the words of a mark stand: in the air of its tank, over all records and over the mark. */
export const aloft = (lane, y) => Math.min(lane.top + 22, y - 8);

/** Draws where a visitor or a pupil predicted a mark: {who, at}. */
export function guessed(host, guess, { geo }, t) {
  host.parentElement.querySelector(".guess")?.remove();
  const lane = geo.lanes.get(guess.who);
  if (!lane) return;
  const svg = el("svg", {
    class: "guess answering",
    viewBox: `0 0 ${geo.width} ${geo.height}`,
    width: Math.round(geo.width),
    height: Math.round(geo.height),
    "aria-hidden": "true",
  });
  const y = geo.y(Math.max(guess.at, geo.base), lane);
  const words = el("text", { x: lane.mid, y: aloft(lane, y), "text-anchor": "middle" });
  words.textContent = t("hand.guess", { n: guess.at });
  svg.append(el("line", { x1: lane.x - 12, x2: lane.x + lane.w + 12, y1: y, y2: y }), words);
  host.append(svg);
}
