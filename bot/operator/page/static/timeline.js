// Timeline: which model answered when, and what switched and why.
import { h } from "./dom.js";
import { get } from "./api.js";
import { at, many, name, date } from "./words.js";
import { panel, table, pill, model, sessionLink, runLink, filters, field, select, agentChoice, to } from "./parts.js";
import { lanes, legend, byModel, reasoned } from "./picture.js";
import { runFilters, runTable, loadRuns } from "./runs.js";

export const title = "Timeline";
export const hears = ["decision"];

const spans = [["1", "1 hour"], ["6", "6 hours"], ["24", "1 day"], ["168", "7 days"], ["720", "30 days"]];
const fewSessions = 12;

export async function load(ctx, signal) {
  const q = ctx.query;
  const hours = Number(q.hours) || 24;
  const end = date(q.to) || new Date();
  const from = new Date(end - hours * 3600e3).toISOString(), until = end.toISOString();
  const [time, runs] = await Promise.all([
    get("/timeline", { from, to: until, agent: q.agent, session: q.session }, signal),
    loadRuns(ctx, { ...q, from, to: q.to ? until : "" }, signal),
  ]);
  return { time, runs, hours };
}

export function draw({ time, runs, hours }, ctx) {
  const q = ctx.query, from = date(time.from), end = date(time.to);
  const shift = (by) => to(["timeline"], { ...q, to: new Date(+end + by * hours * 3600e3).toISOString() });
  const sessions = q.all ? time.sessions : time.sessions.slice(0, fewSessions);
  return [
    filters("Time and agent", ["timeline"], ctx.go,
      field("Time", select("hours", spans, String(hours))), field("Agent", agentChoice(ctx, q.agent, "all agents")),
      field("Session", h("input", { name: "session", value: q.session || "", placeholder: "any", autocomplete: "off" })),
      q.to ? h("input", { type: "hidden", name: "to", value: q.to }) : null),
    h("p", { class: "steps" }, h("a", { href: shift(-1) }, "← Earlier"), " ", at(time.from), " to ", at(time.to), " ",
      q.to ? [h("a", { href: shift(1) }, "Later →"), " ", h("a", { href: to(["timeline"], { ...q, to: "" }) }, "Now")] : null),
    time.agents.map((a) => h("section", { class: "panel", "aria-label": "Agent " + a.agent, key: "agent " + a.agent }, h("h2", {}, "Agent " + a.agent),
      a.intervals.length ? lanes(byModel(reasoned(a, time.sessions)), from, end, (l) => `${l.label}: ${many(l.turns, "turn")} in ${many(l.intervals.length, "stretch", "stretches")}`) : h("p", { class: "empty" }, "Nobody asked it anything in this time."),
      a.intervals.length ? legend() : null)),
    time.agents.length ? null : h("p", { class: "empty" }, "Nothing was asked in this time."),
    time.sessions.length ? panel("Sessions", lanes(sessions.map((s) => ({ key: s.session, session: s.session, label: sessionLink(s.session), intervals: s.intervals })), from, end,
      (l) => `${l.session}: ` + l.intervals.map((i) => i.model || "no model").join(", then ")),
    time.sessions.length > sessions.length ? h("p", {}, h("a", { href: to(["timeline"], { ...q, all: "1" }) }, `All ${time.sessions.length} sessions`)) : null) : null,
    panel("Switches", table("Switches of models", [
      ["When", (s) => at(s.at, true)], ["What", (s) => pill(s.kind, { fallback: "fell back", recovered: "returned", chosen: "chosen", cleared: "cleared" }[s.kind])],
      ["From", (s) => model(s.from)], ["To", (s) => model(s.to)], ["Why", (s) => [name(s.reason), s.by ? (s.reason ? ", " : "") + "by " + s.by : ""].filter(Boolean).join("") || "–"],
      ["Session", (s) => sessionLink(s.session)], ["Run", (s) => runLink(s.run)],
    ], time.switches, "No model was switched in this time."), time.more ? h("p", { class: "empty" }, "There was more than is shown. Choose a shorter time.") : null),
    panel("Runs", runFilters(ctx), runTable(runs, ctx)),
  ];
}
