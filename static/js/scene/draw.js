// Makes a picture visible: patches keyed SVG elements so that only what differs is touched.
// This is the one module of the scene that knows the DOM.

export const SVG = "http://www.w3.org/2000/svg";

function create(n) {
  const el = document.createElementNS(SVG, n.t);
  el.__node = { a: {}, c: [] };
  el.__kids = new Map();
  update(el, n);
  return el;
}

function update(el, n) {
  const old = el.__node;
  if (old === n) return;
  for (const name in n.a) if (old.a[name] !== n.a[name]) el.setAttribute(name, n.a[name]);
  for (const name in old.a) if (!(name in n.a)) el.removeAttribute(name);
  if (n.x !== undefined && old.x !== n.x) el.textContent = n.x;
  if (n.c) patch(el, n.c);
  el.__node = n;
}

/** Makes the children of `parent` show `nodes`, in their order. */
export function patch(parent, nodes) {
  parent.__kids ??= new Map();
  const kids = parent.__kids;
  const wanted = new Map(nodes.map((n) => [n.k, n.t]));
  for (const [key, el] of kids) {
    if (wanted.get(key) === el.localName) continue;
    el.remove();
    kids.delete(key);
  }
  let cursor = parent.firstChild;
  for (const n of nodes) {
    let el = kids.get(n.k);
    if (el) update(el, n);
    else {
      el = create(n);
      kids.set(n.k, el);
    }
    if (el === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(el, cursor);
  }
}
