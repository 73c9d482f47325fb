// Runs: all that was tried to answer one message, job or beat.
import { h } from "./dom.js";
import { get } from "./api.js";
import { at, length, name, many, until, date } from "./words.js";
import { panel, table, pill, model, sessionLink, facts, filters, field, select, more, to } from "./parts.js";

export const title = "Run";
export const heading = (run) => [h("span", { class: "kind" }, "Run "), run.id];
export const hears = ["decision"];

const kinds = [["", "any"], "chat", "cron", "heartbeat", "compaction", "probe"];
const outcomes = [["", "any"], "answered", "failed", "changed", "open"];
const reasons = [["", "any"], ...["rate_limit", "overloaded", "timeout", "billing", "auth", "auth_permanent", "server_error", "model_not_found", "format", "context_overflow", "empty_response", "session_expired", "unclassified", "budget"].map((r) => [r, name(r)])];

// loadRuns reads the first page, or as many as a person has asked to see.
export async function loadRuns(ctx, q, signal) {
  const ask = { session: q.session, agent: q.agent, kind: q.kind, model: q.model, reason: q.reason, outcome: q.outcome, from: q.from, to: q.to };
  const got = await get("/runs", { ...ask, limit: 25 }, signal);
  for (let pages = ctx.pages("runs"); pages > 0 && got.next; pages--) {
    const page = await get("/runs", { ...ask, limit: 25, cursor: got.next }, signal);
    got.runs.push(...page.runs);
    got.next = page.next;
  }
  return got;
}

export function runFilters(ctx) {
  const q = ctx.query;
  return filters("Runs", ["timeline"], ctx.go, ["hours", "agent", "session", "to"].map((n) => q[n] ? h("input", { type: "hidden", name: n, value: q[n] }) : null),
    field("Outcome", select("outcome", outcomes, q.outcome)), field("Reason", select("reason", reasons, q.reason)), field("Kind", select("kind", kinds, q.kind)),
    field("Answered by", h("input", { name: "model", value: q.model || "", placeholder: "any model", autocomplete: "off" })));
}

export function runTable(got, ctx) {
  return [table("Runs", [
    ["Began", (r) => h("a", { href: to(["run", r.id]) }, at(r.began, true))], ["Kind", (r) => r.kind], ["Outcome", (r) => pill(r.outcome, r.outcome === "changed" ? "choice changed" : "")],
    ["Requested", (r) => model(r.requested)], ["Answered", (r) => model(r.answered)], ["First failure", (r) => name(r.reason) || "–"],
    ["Attempts", (r) => r.attempts, "num"], ["Passed over", (r) => r.skips, "num"], ["Took", (r) => length(r.tookMs), "num"], ["Session", (r) => sessionLink(r.session)],
  ], got.runs, "No run fits."), more(got.next, () => ctx.another("runs"), "Show older runs")];
}

export async function load(ctx, signal) {
  return get("/runs/" + encodeURIComponent(ctx.path[1]), {}, signal);
}

export function draw(run) {
  const start = date(run.began);
  // The log's records say once more what the steps have said, in its own words.
  const told = run.steps.filter((s) => s.what !== "decision"), logged = run.steps.filter((s) => s.what === "decision");
  return [
    h("p", { class: "back" }, h("a", { href: to(["timeline"]) }, "← Timeline")),
    facts([["Outcome", pill(run.outcome)], ["Kind", run.kind], ["Session", sessionLink(run.session)], ["Agent", run.agent], ["Requested", model(run.requested)], ["Answered by", model(run.answered)],
      ["First failure", name(run.reason)], ["Began", at(run.began, true)], ["Took", length(run.tookMs)], ["Tried", [many(run.attempts, "attempt"), run.skips && many(run.skips, "model") + " passed over", run.probes && many(run.probes, "probe")].filter(Boolean).join(", ")]]),
    panel("Steps", h("ol", { class: "story" }, told.map((s) => step(s, start))), logged.length ? h("details", {}, h("summary", {}, "As the log has it"), h("ol", { class: "story" }, logged.map((s) => step(s, start)))) : null, run.steps.length ? null : h("p", { class: "empty" }, "Nothing is on record of this run any more.")),
  ];
}

function step(s, start) {
  const state = s.outcome || s.what;
  return h("li", { class: "step " + s.what, key: s.id },
    h("div", { class: "line" }, h("span", { class: "offset" }, "+" + length(date(s.at) - start)), pill(state, s.what === "attempt" ? { ok: "answered", failed: "failed" }[s.outcome] || "attempt" : { skip: "passed over", override: "choice " + (s.act || "changed"), cooldown: "rests", disabled: "disabled", blocked: "blocked" }[s.what] || s.what, s.what === "attempt" ? "" : { skip: "warn", cooldown: "warn", disabled: "bad", blocked: "bad" }[s.what] || "none"),
      s.model ? model(s.model) : null, s.credential ? h("small", { class: "key" }, s.credential) : null, s.tookMs ? h("small", {}, length(s.tookMs)) : null, s.probe ? h("small", {}, s.probe + " probe") : null),
    h("p", {}, s.text),
    h("p", { class: "small" }, [name(s.reason), s.status && "HTTP " + s.status, s.code, s.request && "vendor's request id " + s.request, s.by && "by " + s.by + (s.command ? " with " + s.command : "")].filter(Boolean).join(" · "), date(s.until) ? [s.reason ? " · " : "", until(s.until)] : null),
    s.detail && !s.text.includes(s.detail) ? h("pre", { tabindex: "0", role: "group", "aria-label": "What the vendor said" }, s.detail) : null);
}
