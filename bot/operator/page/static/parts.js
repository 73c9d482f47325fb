// What several views are made of.
import { h, morph } from "./dom.js";
import { name } from "./words.js";

// link makes an address inside the page.
export function to(path, query) {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(query || {})) if (value) q.set(key, value);
  return "#/" + path.map(encodeURIComponent).join("/") + (q.size ? "?" + q : "");
}

// tones says how a state is meant: its colour and its sign. The word itself is
// always there too, so nobody needs the colour.
const tones = {
  good: ["healthy", "ready", "answers now", "usable", "ok", "answered", "ran", "settled", "delivered", "recovered", "connected", "on"],
  warn: ["degraded", "probe", "partly", "resting", "starting", "leaving", "connecting", "reconnecting", "skipped", "fallback", "queued", "waiting", "unlisted", "open", "stands in", "unknown"],
  bad: ["exhausted", "down", "disabled", "blocked", "useless", "failed", "error", "not-delivered", "over"],
};
const signs = { good: "●", warn: "▲", bad: "■", none: "○" };

export function tone(state) {
  for (const [t, states] of Object.entries(tones)) if (states.includes(state)) return t;
  return "none";
}

// pill shows a state in a word.
export function pill(state, said, as) {
  const t = as || tone(state);
  return h("span", { class: "pill " + t }, h("span", { "aria-hidden": "true" }, signs[t] + " "), said || name(state));
}

// pieces lets a long name break behind its colons and slashes, and nowhere else
// as long as there is room.
export function pieces(long) {
  return long.split(/(?<=[:/])/).flatMap((part, i) => i ? [h("wbr"), part] : [part]);
}

// model shows a model.
export function model(m) {
  return m ? h("code", { class: "model" }, pieces(m)) : "–";
}

export function sessionLink(key) {
  return key ? h("a", { class: "key", href: to(["session", key]) }, pieces(key)) : "–";
}

export function runLink(run, said) {
  return run ? h("a", { href: to(["run", run]), "aria-label": said ? null : "Steps of run " + run }, said || "Steps") : "–";
}

// panel is a part of a view with its heading.
export function panel(title, ...kids) {
  return h("section", { class: "panel", "aria-label": title, key: "panel " + title }, h("h2", {}, title), kids);
}

// table shows rows; columns are [heading, cell(row), "num"?]. On a narrow screen a
// row becomes a card, which is why the roles are said aloud.
export function table(caption, columns, rows, empty, keyOf) {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  return h("table", { role: "table" },
    h("caption", { class: "unseen" }, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(([head, , kind]) => h("th", { role: "columnheader", scope: "col", class: kind || null }, head === "Actions" ? h("span", { class: "unseen" }, head) : head)))),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row", key: keyOf ? keyOf(row) : undefined },
      columns.map(([head, cell, kind]) => h("td", { role: "cell", "data-label": head, class: kind || null }, cell(row)))))));
}

// field is a labelled control of a form.
export function field(label, control, note) {
  return h("label", { class: "field" }, h("span", {}, label), control, note ? h("small", {}, note) : null);
}

// select offers [value, said] or plain words.
export function select(name, options, value, props) {
  return h("select", { name, ...props }, options.map((o) => {
    const [v, said] = Array.isArray(o) ? o : [o, o];
    return h("option", { value: v, selected: v === (value || "") }, said);
  }));
}

// filters is a form whose fields become the query of the address: what is looked
// at can be sent to somebody, and the browser's way back works.
export function filters(label, path, go, ...fields) {
  const apply = (e) => {
    e.preventDefault();
    go(to(path, Object.fromEntries(new FormData(e.currentTarget))));
  };
  return h("form", { class: "filters", role: "search", "aria-label": label, onsubmit: apply,
    onchange: (e) => { if (e.target.nodeName === "SELECT") e.currentTarget.requestSubmit(); } },
  fields, h("button", { type: "submit" }, "Show"));
}

// more is the way to the next page of a list.
export function more(next, load, said) {
  if (!next) return null;
  return h("p", { class: "more" }, h("button", { type: "button", onclick: (e) => { e.currentTarget.disabled = true; load(next); } }, said || "Show more"));
}

// say tells a person, and a screen reader, what was done.
export function say(text, bad) {
  const place = document.getElementById("said");
  morph(place, h("div", { id: "said", role: "status", "aria-live": "polite", class: bad ? "bad shown" : "shown" },
    h("span", {}, text), h("button", { type: "button", onclick: () => hush() }, "Close")));
  clearTimeout(say.timer);
  say.timer = setTimeout(hush, bad ? 30000 : 12000);
}

function hush() {
  morph(document.getElementById("said"), h("div", { id: "said", role: "status", "aria-live": "polite" }));
}

// ask has an action confirmed once. run does it and gives back what to tell; what
// goes wrong is told in the dialog, which stays. extra are further fields, whose
// values run is given.
export function ask({ title, text, button, danger, extra, as, run }) {
  const box = document.getElementById("ask");
  const fault = h("p", { role: "alert", class: "fault", hidden: true });
  const yes = h("button", { type: "submit", class: danger ? "danger" : "primary" }, button);
  const no = h("button", { type: "button", onclick: () => box.close() }, "Cancel");
  const form = h("form", { onsubmit: async (e) => {
    e.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    yes.disabled = true;
    fault.hidden = true;
    try {
      const told = await run(values);
      box.close();
      say(as ? `${told} (by ${as})` : told);
    } catch (err) {
      fault.textContent = err.message;
      fault.hidden = false;
      yes.disabled = false;
    }
  } },
  h("h2", { id: "ask-title" }, title), h("p", {}, text), extra || null,
  as ? h("p", { class: "as" }, "It will be recorded as done by ", h("strong", {}, as), ".") : null, fault,
  h("div", { class: "buttons" }, no, yes));
  box.replaceChildren(form);
  box.showModal();
  (danger ? no : form.querySelector("select, input, textarea") || yes).focus();
}

// button is an action of a row: its words are short, its label is whole.
export function button(said, label, onclick, kind) {
  return h("button", { type: "button", class: kind || "small", "aria-label": label === said ? null : label, onclick }, said);
}

// facts is a list of names and values; empty values are left out.
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== "–")
    .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))));
}

// room says where a session was last spoken to.
export function room(r) {
  return [r.channel, r.account, r.conversation, r.thread].filter(Boolean).join(" · ") || "–";
}

// agentChoice offers the agents; the first choice is all of them, or none named.
export function agentChoice(ctx, value, first, onpick) {
  return select("agent", [["", first], ...ctx.agents.map((a) => [a.id, a.name ? `${a.name} (${a.id})` : a.id])], value, onpick ? { onchange: (e) => onpick(e.target.value) } : {});
}
