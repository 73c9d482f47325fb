// Now: what answers, what keeps others away and until when, who is on a
// stand-in, what is connected.
import { h } from "./dom.js";
import { get } from "./api.js";
import { at, since, until, due, usd, many, name, date, sentence } from "./words.js";
import { panel, table, pill, model, sessionLink, runLink, facts, room, to } from "./parts.js";
import { credentialList } from "./credentials.js";

export const title = "Now";
export const hears = ["decision", "act", "now", "sessions", "credentials", "config"];

export async function load(ctx, signal) {
  const [now, acts] = await Promise.all([get("/now", {}, signal), get("/acts", { limit: 5 }, signal)]);
  ctx.meet(now);
  return { now, acts: acts.acts };
}

export function draw({ now, acts }, ctx) {
  return [
    headline(now),
    now.agents.map((a) => agent(a, ctx)),
    panel("Sessions on a stand-in", standIns(now)),
    h("div", { class: "pair" },
      panel("Channels", table("Channels", [
        ["Channel", (c) => [c.channel, c.account && c.account !== "default" ? " · " + c.account : ""]],
        ["State", (c) => pill(c.state)],
        ["Since", (c) => since(c.since)],
        ["What is wrong", (c) => [c.reason, c.mend ? h("div", { class: "mend" }, c.mend) : null, c.attempt ? h("div", {}, `Attempt ${c.attempt}.`) : null]],
      ], now.channels, "No channel is configured, so nobody can write from Slack or Discord. The chat of this page works.")),
      panel("Work", facts([
        ["Running", many(now.work.running, "turn")],
        ["Waiting", many(now.work.waiting, "message")],
        ["Owed to rooms", now.work.unsent ? [many(now.work.unsent, "post"), date(now.work.oldestUnsent) ? [", the oldest ", since(now.work.oldestUnsent)] : ""] : "nothing"],
        ["Cost today", now.cost ? [h("a", { href: to(["cost"]) }, usd(now.cost.usd)), ` in ${many(now.cost.calls, "call")}`, now.cost.unpriced ? `; ${many(now.cost.unpriced, "call")} of unknown price` : ""] : "not kept"],
        ["Running since", [at(now.startedAt), " (", since(now.startedAt), ")"]],
      ]))),
    now.servers.length ? panel("Tool servers", table("Tool servers", [
      ["Server", (s) => s.name], ["State", (s) => pill(s.state)], ["Tools", (s) => s.tools, "num"],
      ["Since", (s) => since(s.since)], ["What is wrong", (s) => [s.error, date(s.next) ? [" Tried again ", at(s.next), "."] : ""]],
    ], now.servers, "")) : null,
    panel("Last failures", table("Last failures", [
      ["When", (d) => since(d.at)], ["Model", (d) => model(d.model)], ["Reason", (d) => pill("failed", name(d.reason) || "failed")],
      ["What happened", (d) => d.text], ["Run", (d) => runLink(d.run)],
    ], now.failures, "No attempt has failed lately.")),
    panel("What operators did", table("What operators did", [
      ["When", (a) => since(a.at)], ["Who", (a) => a.who], ["What", (a) => a.what], ["About", (a) => a.about], ["In words", (a) => a.detail || "–"],
    ], acts, "Nobody has changed anything here yet.")),
  ];
}

function headline(now) {
  const worst = now.agents.some((a) => a.standing === "exhausted") ? "bad" : now.agents.some((a) => a.standing === "degraded") || now.degraded || now.readiness !== "ready" ? "warn" : "good";
  const ready = { ready: "Messages are taken.", starting: "It is starting: messages are not taken yet.", leaving: "It is leaving: no more messages are taken." }[now.readiness];
  return h("div", { class: "headline " + worst, key: "headline" },
    now.agents.map((a) => h("p", {}, says(a))),
    h("p", { class: "sub" }, ready, now.degraded ? " " + now.degraded : "",
      now.standInsTotal ? ` ${many(now.standInsTotal, "session")} on a stand-in.` : " No session is on a stand-in."));
}

// says tells in one sentence who answers for an agent.
function says(a) {
  const who = h("strong", {}, a.name || a.id);
  const primary = a.chain.length ? a.chain[0].model : "";
  const why = a.why ? [". ", /^[a-z]+ /.test(a.why) ? sentence("it " + a.why) : sentence(a.why)] : ".";
  if (a.standing === "exhausted") return [who, ": no model can answer. The first is ", model(primary), why];
  if (a.standing === "degraded") return [who, ": ", model(a.answers), " stands in for ", model(primary), why];
  return [who, ": ", model(a.answers || primary), " answers."];
}

function agent(a, ctx) {
  return h("section", { class: "panel agent", "aria-label": "Agent " + a.id, key: "agent " + a.id },
    h("h2", {}, a.name || a.id, " ", pill(a.standing), a.default ? h("small", {}, " default agent") : null,
      a.strict ? h("small", {}, " strict: no other model may answer") : null),
    h("ol", { class: "chain" }, a.chain.map((c) => candidate(c, a, ctx))),
    a.chain.length ? null : h("p", { class: "empty" }, "This agent has no model. Name one in the config under agents."));
}

// whys say in words why a model is passed over.
const whys = { cooldown: "it rests", billing: "its vendor wants money", persistent_auth: "its login is refused", no_profile: "no credential", budget: "its budget is used up", operator: "switched off" };

function candidate(c, a, ctx) {
  const answers = c.model === a.answers;
  const state = answers ? pill("answers now", c.position > 1 ? "stands in now" : c.do === "probe" ? "asked again with the next message" : "answers now", c.position > 1 || c.do === "probe" ? "warn" : "good")
    : c.do === "skip" ? pill("failed", "passed over: " + (whys[c.why] || name(c.why || c.reason)), "bad")
    : c.do === "probe" ? pill("probe", "asked again with the next message") : pill("none", c.position === 1 ? "would answer" : "next in line");
  const rests = c.credentials.some((k) => k.state !== "usable");
  return h("li", { class: "candidate" + (answers ? c.position > 1 || c.do === "probe" ? " stands" : " answers" : ""), key: c.model },
    h("div", { class: "line" }, h("span", { class: "place", "aria-hidden": "true" }, c.position), model(c.model), state, date(c.until) ? until(c.until) : null),
    // What the sign says already is not said again.
    c.do === "try" ? null : h("p", {}, sentence(c.says.replace(/^is passed over: /, ""))),
    c.credentials.length ? h("details", { open: rests }, h("summary", {}, many(c.credentials.length, "credential"), " for ", c.model),
      credentialList(c.credentials, a.id, ctx)) : null);
}

function standIns(now) {
  const rest = now.standInsTotal - now.standIns.length;
  return [table("Sessions on a stand-in", [
    ["Session", (s) => sessionLink(s.session)], ["Answers", (s) => model(s.active)], ["Selected", (s) => model(s.selected)],
    ["Reason", (s) => name(s.reason) || "–"], ["Since", (s) => since(s.since)], ["Next asked", (s) => due(s.nextProbe)], ["Where", (s) => room(s.room)],
  ], now.standIns, "None. Each session is answered by the model that is selected for it.", (s) => s.session),
  rest > 0 ? h("p", {}, h("a", { href: to(["sessions"], { state: "standin" }) }, `All ${now.standInsTotal} of them`)) : null];
}
