// Rehearse: play an outage by the running config, and ask what a message would do
// now. Nobody is asked and nothing is written.
import { h } from "./dom.js";
import { get, send } from "./api.js";
import { length, name, many, date, at, sentence } from "./words.js";
import { panel, pill, model, field, select, agentChoice } from "./parts.js";

export const title = "Rehearse";
export const hears = [];

const whole = 8000, slowest = 350; // ms that a play takes, and at most between two steps

export async function load(ctx, signal) {
  return get("/rehearse", {}, signal);
}

export function draw({ outages }, ctx) {
  const mine = ctx.keep("rehearse", { shown: 0 });
  const picked = outages.find((o) => o.id === mine.outage) || outages[0];
  return [
    h("p", {}, "An outage is played by the running config on a clock that runs ahead. No vendor is asked, no room hears of it, nothing is written."),
    outages.length ? panel("Play an outage", h("form", { class: "filters", onsubmit: (e) => play(e, ctx, mine) },
      field("Outage", select("outage", outages.map((o) => [o.id, o.title]), picked.id, { onchange: (e) => { mine.outage = e.target.value; ctx.redraw(); } })),
      field("Agent", agentChoice(ctx, "", "the default agent")), h("button", { type: "submit", class: "primary" }, "Play")),
    h("p", { class: "sub" }, picked.story), mine.fault ? h("p", { class: "fault", role: "alert" }, mine.fault) : null, played(ctx, mine)) : h("p", { class: "empty" }, "There is no outage to rehearse."),
    panel("What would a message do now?", explainForm(ctx, mine), mine.explained ? explained(mine.explained) : null),
  ];
}

async function play(e, ctx, mine) {
  e.preventDefault();
  clearTimeout(mine.timer);
  const ask = Object.fromEntries(new FormData(e.currentTarget));
  mine.fault = "";
  mine.result = null;
  mine.busy = true;
  ctx.redraw();
  try {
    mine.result = await send("POST", "/rehearse", { outage: ask.outage, agent: ask.agent || undefined });
    mine.shown = matchMedia("(prefers-reduced-motion: reduce)").matches ? mine.result.steps.length : 0;
  } catch (err) {
    mine.fault = err.message;
  }
  mine.busy = false;
  ctx.redraw();
  if (mine.result) step(ctx, mine);
}

function step(ctx, mine) {
  if (mine.shown >= mine.result.steps.length) return;
  mine.shown++;
  ctx.redraw();
  mine.timer = setTimeout(() => step(ctx, mine), Math.min(slowest, whole / mine.result.steps.length));
}

function played(ctx, mine) {
  if (mine.busy) return h("p", { role: "status" }, "It is played…");
  const r = mine.result;
  if (!r) return null;
  const over = mine.shown >= r.steps.length;
  return h("div", { class: "played", key: "played" },
    h("p", {}, "The chain of ", h("strong", {}, r.agent), ": ", r.chain.map((m, i) => [i ? " → " : "", model(m)])),
    h("ol", { class: "story play" }, r.steps.slice(0, mine.shown).map((s, i) => h("li", { class: "step " + s.event, key: i },
      h("div", { class: "line" }, h("span", { class: "offset" }, "+" + length(s.atMs)), event(s), s.model ? model(s.model) : null, s.credential ? h("small", { class: "key" }, s.credential) : null, s.reason ? h("small", {}, name(s.reason)) : null),
      h("p", { class: "said" }, s.text)))),
    over ? h("p", { role: "status" }, `It is over: ${many(r.steps.length, "step")}, ${length(r.steps.length ? r.steps.at(-1).atMs : 0)} on its clock, ${length(r.tookMs)} on ours.`)
      : h("p", {}, h("button", { type: "button", onclick: () => { clearTimeout(mine.timer); mine.shown = r.steps.length; ctx.redraw(); } }, "Show all at once")));
}

// event says what kind of step it was.
function event(s) {
  if (s.event === "attempt") return s.reason ? pill("failed", "refused") : pill("ok", "answered");
  const [said, as] = { say: ["somebody says", "none"], reply: ["the agent says", "good"], notice: ["notice", "warn"], failure: ["no answer", "bad"], skip: ["passed over", "warn"], override: ["choice changed", "none"],
    cooldown: ["rests", "warn"], disabled: ["disabled", "bad"], blocked: ["blocked", "bad"], vendor: ["a vendor changes", "none"] }[s.event] || [name(s.event), "none"];
  return pill(s.event, said, as);
}

function explainForm(ctx, mine) {
  return h("form", { class: "filters", onsubmit: async (e) => {
    e.preventDefault();
    const ask = Object.fromEntries(new FormData(e.currentTarget));
    try {
      mine.explained = (await get("/explain", ask)).explanation;
      mine.why = "";
    } catch (err) {
      mine.explained = null;
      mine.why = err.message;
    }
    ctx.redraw();
  } },
  field("Session", h("input", { name: "session", placeholder: "direct chats", autocomplete: "off" })), field("Agent", agentChoice(ctx, "", "the default agent")),
  field("Let vendors fail", h("input", { name: "simulate", placeholder: "openai/*=429", autocomplete: "off" })), h("button", { type: "submit" }, "Explain"),
  mine.why ? h("p", { class: "fault", role: "alert" }, mine.why) : null);
}

function explained(x) {
  const s = x.simulation;
  return h("div", { key: "explained" },
    h("p", {}, model(x.selected), " is meant to answer: ", x.chosen, ". ", sentence(x.policy)),
    x.standsIn ? h("p", {}, model(x.standsIn.model), ` stands in (${name(x.standsIn.reason)}) since `, at(x.standsIn.since), ".") : null,
    h("ol", { class: "story" }, (x.candidates || []).map((c) => h("li", { class: "step" },
      h("div", { class: "line" }, pill(c.do === "skip" ? "skipped" : c.do === "probe" ? "probe" : "ok", { try: "would be asked", probe: "would be probed", skip: "passed over: " + name(c.why) }[c.do]), model(c.model), date(c.until) ? h("small", {}, "until ", at(c.until)) : null),
      c.reason || c.mend ? h("p", {}, [name(c.reason), c.mend].filter(Boolean).join(". ")) : null))),
    s ? [h("h3", {}, "If vendors failed so"), h("ol", { class: "story" }, (s.steps || []).map((t) => h("li", { class: "step" }, h("p", {}, t.text)))),
      s.notice ? h("p", { class: "notice-line" }, s.notice) : null, s.answeredBy ? h("p", {}, model(s.answeredBy), " would answer.") : h("p", {}, s.failure || s.silent || "Nobody would answer.")] : null);
}
