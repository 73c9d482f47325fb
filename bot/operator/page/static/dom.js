// Elements are made here and nowhere else. Text becomes text nodes: nothing that
// the daemon tells is ever read as markup.

const handlers = ["onclick", "onsubmit", "onchange", "oninput", "onkeydown"];

// h makes an element. Props are attributes; a handler (onclick …) is a function;
// vars are custom properties of its style; false, null and undefined are left out.
export function h(tag, props, ...kids) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (handlers.includes(name)) el[name] = value;
    else if (name === "key") el.dataset.key = value;
    else if (name === "vars") for (const [v, to] of Object.entries(value)) el.style.setProperty(v, to);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  add(el, kids);
  return el;
}

function add(el, kids) {
  for (const kid of kids) {
    if (kid === null || kid === undefined || kid === false || kid === "") continue;
    if (Array.isArray(kid)) add(el, kid);
    else el.append(kid instanceof Node ? kid : document.createTextNode(String(kid)));
  }
}

// morph makes old look like fresh and keeps what a person has done to it: focus,
// what was typed, what was folded out, where it was scrolled to.
export function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  const own = (name) => name === "style" || (name === "open" && old.nodeName === "DETAILS");
  for (const { name, value } of fresh.attributes) {
    if (!own(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!own(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  // By its properties: the policy forbids the attribute.
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
  for (const name of handlers) if (old[name] !== fresh[name]) old[name] = fresh[name];
  morphKids(old, [...fresh.childNodes]);
}

function morphKids(old, fresh) {
  const byKey = new Map();
  for (const kid of old.childNodes) if (keyOf(kid)) byKey.set(keyOf(kid), kid);
  let at = old.firstChild;
  for (const kid of fresh) {
    const known = keyOf(kid) && byKey.get(keyOf(kid));
    if (known && known !== at) old.insertBefore(known, at);
    else if (!known && keyOf(kid)) { old.insertBefore(kid, at); continue; }
    const here = known || at;
    if (!here) { old.append(kid); continue; }
    if (!known && keyOf(here)) { old.insertBefore(kid, here); continue; }
    at = here.nextSibling;
    morph(here, kid);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function keyOf(node) {
  return node.dataset ? node.dataset.key : undefined;
}
