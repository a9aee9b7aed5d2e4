// What a hand draws over the stage: elements of SVG, and the mark of an answer beside the truth.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes) {
  const one = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  return one;
}

/** Draws where somebody said a mark would be: {who, at}. */
export function guessed(host, guess, { geo, zoom }, t) {
  host.parentElement.querySelector(".guess")?.remove();
  const lane = geo.kind === "tanks" ? geo.lanes.get(guess.who) : null;
  if (!lane) return;
  const svg = el("svg", {
    class: "guess answering",
    viewBox: `0 0 ${geo.width} ${geo.height}`,
    width: Math.round(geo.width * zoom),
    height: Math.round(geo.height * zoom),
    "aria-hidden": "true",
  });
  const y = geo.y(Math.max(guess.at, geo.base), lane);
  const words = el("text", { x: lane.x - 12, y: y - 5, "text-anchor": "start" });
  words.textContent = t("hand.guess", { n: guess.at });
  svg.append(el("line", { x1: lane.x - 12, x2: lane.x + lane.w + 12, y1: y, y2: y }), words);
  host.append(svg);
}
