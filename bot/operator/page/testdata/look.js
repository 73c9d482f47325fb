// What a person with other eyes or hands would stumble over, as a list of
// sentences. Evaluated in the page by the browser tests.
(() => {
  const faults = [];
  const seen = (el) => el.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && el.getClientRects().length > 0;
  const brief = (el) => `<${el.nodeName.toLowerCase()}${el.className && typeof el.className === "string" ? "." + el.className.trim().replaceAll(" ", ".") : ""}> "${(el.textContent || "").trim().slice(0, 40)}"`;

  // Headings and landmarks.
  const h1 = [...document.querySelectorAll("h1")].filter(seen);
  if (h1.length !== 1) faults.push(`there are ${h1.length} h1`);
  let level = 0;
  for (const el of [...document.querySelectorAll("main h1, main h2, main h3, main h4")].filter(seen)) {
    const l = +el.nodeName[1];
    if (l > level + 1) faults.push(`${brief(el)} follows a heading of level ${level}`);
    level = l;
  }
  for (const mark of ["header", "main", "footer"]) if (document.querySelectorAll(`body > ${mark}`).length !== 1) faults.push(`the landmark ${mark} is not there once`);
  if (!document.documentElement.lang) faults.push("the language is not named");
  if (!document.title) faults.push("the document has no title");

  // Names of controls.
  const text = (id) => (document.getElementById(id) || {}).textContent || "";
  const nameOf = (el) => {
    const by = el.getAttribute("aria-labelledby");
    const label = el.getAttribute("aria-label") || (by && by.split(/\s+/).map(text).join(" ")) || "";
    if (label.trim()) return label.trim();
    if (el.labels && el.labels.length) return [...el.labels].map((l) => l.textContent).join(" ").trim();
    if (["INPUT", "SELECT", "TEXTAREA"].includes(el.nodeName)) return "";
    return (el.textContent + [...el.querySelectorAll("img")].map((i) => i.alt).join("")).trim();
  };
  for (const el of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0'], [role=img], meter, dialog[open], nav")) {
    if (!seen(el) && el.nodeName !== "DIALOG") continue;
    if (!nameOf(el)) faults.push(`${brief(el)} has no name`);
    if (el.matches("button, a[href], summary") && el.getAttribute("aria-label")) {
      const said = el.textContent.trim().toLowerCase();
      // Those who speak to their machine say the words that they see.
      if (said && !el.getAttribute("aria-label").toLowerCase().includes(said)) faults.push(`${brief(el)} is called "${el.getAttribute("aria-label")}", which is not what it says`);
    }
    const box = el.getBoundingClientRect();
    if (el.matches("button, select, input, textarea, nav a") && (box.height < 24 || box.width < 24)) faults.push(`${brief(el)} is ${Math.round(box.width)}×${Math.round(box.height)} px: too small to be hit`);
  }
  for (const el of document.querySelectorAll("img")) if (!el.hasAttribute("alt")) faults.push("an image has no alt");
  for (const el of document.querySelectorAll("[tabindex]")) if (+el.getAttribute("tabindex") > 0) faults.push(`${brief(el)} jumps the order of focus`);
  const ids = [...document.querySelectorAll("[id]")].map((el) => el.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`the id ${id} is there twice`);
  for (const el of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]")) {
    for (const id of `${el.getAttribute("aria-labelledby") || ""} ${el.getAttribute("aria-describedby") || ""} ${el.getAttribute("for") || ""}`.trim().split(/\s+/)) {
      if (id && !document.getElementById(id) && (el.nodeName !== "DIALOG" || el.open)) faults.push(`${brief(el)} points to ${id}, which is not there`);
    }
  }
  for (const el of document.querySelectorAll("table")) if (!el.caption) faults.push("a table has no caption");
  for (const el of document.querySelectorAll("table")) if (seen(el) && el.getBoundingClientRect().right > el.parentElement.getBoundingClientRect().right + 1) faults.push(`the table ${el.caption.textContent} is wider than its place`);

  // Contrast of every text to what is behind it.
  const rgba = (color) => {
    const n = color.match(/[\d.]+/g).map(Number);
    return color.startsWith("color(") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = (el) => {
    const layers = [];
    for (let e = el; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255, 1]);
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const el = n.parentElement;
    if (!n.nodeValue.trim() || !seen(el) || el.closest(".unseen, .skip, noscript, [disabled]") || el.nodeName === "OPTION") continue;
    texts++;
    const style = getComputedStyle(el);
    const back = ground(el), front = over(rgba(style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faults.push(`${brief(el)} has a contrast of ${ratio.toFixed(2)} (${style.color})`);
  }
  if (texts < 5) faults.push(`only ${texts} texts were looked at`);

  // Nothing is to be scrolled to the side.
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    const worst = [...document.querySelectorAll("body *")].filter((el) => seen(el) && el.getBoundingClientRect().right > innerWidth + 1 && !el.closest(".unseen, .skip, thead")).slice(0, 3).map(brief);
    faults.push(`the page is ${wide} px wide in a window of ${innerWidth}: ${worst.join(", ")}`);
  }
  return faults;
})()
