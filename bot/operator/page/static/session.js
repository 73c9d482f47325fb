// One session: its facts, its last change told, what was said in it, and what can
// be done to it.
import { h } from "./dom.js";
import { get, send } from "./api.js";
import { at, since, due, name, many, length, date } from "./words.js";
import { panel, pill, model, runLink, facts, ask, field, select, button, more, room, pieces, to } from "./parts.js";
import { state } from "./sessions.js";

export const title = "Session";
export const heading = ({ session }) => [h("span", { class: "kind" }, "Session "), pieces(session.key)];
export const hears = ["sessions", "decision", "chat"];

export async function load(ctx, signal) {
  const path = "/sessions/" + encodeURIComponent(ctx.path[1]);
  const [session, said] = await Promise.all([get(path, {}, signal), get(path + "/transcript", { limit: 50 }, signal)]);
  for (let pages = ctx.pages("transcript"); pages > 0 && said.next; pages--) {
    const page = await get(path + "/transcript", { limit: 50, cursor: said.next }, signal);
    said.entries.push(...page.entries);
    said.next = page.next;
  }
  return { session, said };
}

export function draw({ session: s, said }, ctx) {
  return [
    h("p", { class: "back" }, h("a", { href: to(["sessions"]) }, "← Sessions"), " ", h("a", { href: to(["timeline"], { session: s.key }) }, "Its timeline")),
    h("div", { class: "actions" }, choose(s, ctx), reset(s, ctx), forget(s, ctx)),
    facts([["State", state(s)], ["Answers", model(s.active)], ["Selected", model(s.selected)], ["Because of", { default: "the default", agent: "its agent", channel: "its channel", auto: "a fallback", user: "a person's choice", legacy: "an older choice" }[s.source] || s.source],
      ["Since", date(s.since) ? [at(s.since), " (", since(s.since), ")"] : ""], ["Strict", s.strict ? "no other model may answer" : ""], ["Credential", s.credential ? s.credential + (s.credentialChosen ? ", chosen by a person" : "") : ""],
      ["Agent", s.agent], ["Where", room(s.room)], ["Turns", String(s.turns)], ["Compactions", s.compactions ? String(s.compactions) : ""], ["Began", at(s.startedAt)], ["Last spoken to", since(s.lastSpoken)],
      ["Next message asks", s.chain.length ? h("span", {}, s.chain.map((m, i) => [i ? ", then " : "", model(m)])) : ""]]),
    panel("Its last change of model", story(s.story)),
    panel("Transcript", more(said.next, () => ctx.another("transcript"), "Show what was said before"),
      said.entries.length ? h("ol", { class: "transcript" }, said.entries.toReversed().map(entry)) : h("p", { class: "empty" }, "Nothing has been said since it began.")),
  ];
}

function entry(e) {
  const who = { user: "People", assistant: "Agent", summary: "Summary of what was before" }[e.role] || e.role;
  return h("li", { class: "entry " + e.role, key: e.seq },
    h("div", { class: "line" }, h("strong", {}, who), at(e.at), e.model ? model(e.model) : null, e.turn ? runLink(e.turn) : null),
    e.text ? h("p", { class: "said" }, e.text) : null,
    e.tools && e.tools.length ? h("p", { class: "small" }, "asked for tools: " + e.tools.join(", ")) : null,
    e.results ? h("p", { class: "small" }, many(e.results, "tool result")) : null);
}

const changes = { fallback: "Another model stands in", recovered: "The selected model answers again", chosen: "A person chose", reset: "It was begun anew", rule: "A stored choice had become stale" };

function story(s) {
  const c = s.change;
  if (!c) return h("p", { class: "empty" }, date(s.recordSince) ? ["No change since ", at(s.recordSince), ", as far back as the record goes."] : "No change is on record.");
  return [
    h("p", {}, h("strong", {}, changes[c.kind] || c.kind), " since ", at(c.at, true), c.from || c.to ? [": ", c.from ? [model(c.from), " → "] : "", c.to ? model(c.to) : "what the config says"] : "",
      c.reason ? `, because of ${name(c.reason)}` : "", c.by ? `, by ${c.by}${c.command ? " with " + c.command : ""}` : "", ". ", c.run ? runLink(c.run, "Steps of the run") : ""),
    c.events && c.events.length ? h("ol", { class: "story" }, c.events.map((e) => h("li", { class: "step" }, h("div", { class: "line" }, pill(e.what === "rests" ? "resting" : e.what), model(e.model), e.profile ? h("small", { class: "key" }, e.profile) : null),
      h("p", {}, [name(e.reason), e.status && "HTTP " + e.status, name(e.why), e.detail].filter(Boolean).join(" · "), date(e.until) ? [" until ", at(e.until)] : "")))) : null,
    c.notice ? h("p", { class: "notice-line" }, c.notice) : null,
    s.active !== s.selected ? h("p", {}, "The selected model is asked again ", due(s.next), ".") : null,
    s.looks && s.looks.asked ? h("p", {}, `It has been asked again ${many(s.looks.asked, "time")}, last `, at(s.looks.lastAsked.at), ".") : null,
    date(c.stoodSince) ? h("p", {}, "The stand-in stood for " + length(date(c.at) - date(c.stoodSince)) + ".") : null,
    s.unanswered ? h("p", {}, pill("failed", many(s.unanswered.count, "message") + " unanswered"), " the last ", at(s.unanswered.at), ". ", runLink(s.unanswered.run)) : null,
  ];
}

function choose(s, ctx) {
  const path = "/sessions/" + encodeURIComponent(s.key);
  return button("Choose model", "Choose model", () => ask({
    title: "Choose a model", button: "Choose", as: ctx.who(), text: `The next message in ${s.key} is answered by it.`,
    extra: [field("Model", select("model", [["default", "default: what the config says"], ...s.models], s.source === "user" ? s.selected : "default")),
      field("Or by name", h("input", { name: "other", autocomplete: "off", placeholder: "provider/model, or an alias" }), "With @credential behind it, that credential is chosen too.")],
    run: async (v) => {
      const told = await send("PATCH", path, { model: v.other.trim() || v.model });
      ctx.refresh();
      return `${s.key}: ${told.selected} is selected.`;
    } }), "primary");
}

function reset(s, ctx) {
  return button("Begin anew", "Begin anew", () => ask({
    title: "Begin this session anew?", button: "Begin anew", danger: true, as: ctx.who(), text: "As /new does: what was said is not told to the model any more. A model that a person chose stays, unless the config says otherwise.",
    run: async () => {
      const told = await send("POST", `/sessions/${encodeURIComponent(s.key)}/reset`);
      ctx.refresh();
      return `${s.key} begins anew with ${told.selected}.`;
    } }), "plain");
}

function forget(s, ctx) {
  return button("Forget", "Forget this session", () => ask({
    title: "Forget this session?", button: "Forget", danger: true, as: ctx.who(), text: "Its transcript and its choice of model are deleted. This cannot be undone.",
    run: async () => {
      const told = await send("DELETE", "/sessions/" + encodeURIComponent(s.key));
      ctx.go(to(["sessions"]));
      return told.says;
    } }), "danger");
}
