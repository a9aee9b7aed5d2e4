// One drawing becomes the next: what has the same key (data-k) stays, and moves to its new place.

/** "translate(3 4)" as the style that a browser can move. */
function placed(element) {
  const found = /^translate\(([-\d.]+) ([-\d.]+)\)$/.exec(element.getAttribute("transform") ?? "");
  if (found) element.style.transform = `translate(${found[1]}px, ${found[2]}px)`;
}

const keyed = (parent) =>
  new Map([...parent.children].filter((one) => one.dataset.k).map((one) => [one.dataset.k, one]));

/** Makes one element's children those of another; what has the same key stays, and moves. */
export function morph(old, next) {
  const known = keyed(old);
  const kept = [...next.children].map((child) => {
    const same = known.get(child.dataset.k);
    placed(child);
    if (!same) return fresh(child);
    for (const name of same.getAttributeNames()) {
      if (name !== "style" && !child.hasAttribute(name)) same.removeAttribute(name);
    }
    for (const { name, value } of child.attributes) same.setAttribute(name, value);
    if (child.children.length) morph(same, child);
    else same.textContent = child.textContent;
    return same;
  });
  old.replaceChildren(...kept);
}

function fresh(child) {
  for (const one of child.querySelectorAll("[transform]")) placed(one);
  if (child.dataset.k) {
    child.classList.add("fresh");
    requestAnimationFrame(() => requestAnimationFrame(() => child.classList.remove("fresh")));
  }
  return child;
}
