// One job: what it would do next and why, and its log.
import { h } from "./dom.js";
import { get } from "./api.js";
import { at, length, name, usd, count, date } from "./words.js";
import { panel, pill, model, table, facts, sessionLink, runLink, more, to } from "./parts.js";
import { jobActions } from "./jobs.js";

export const title = "Job";
export const heading = ({ job }) => [h("span", { class: "kind" }, "Job "), job.name || job.id];
export const hears = ["cron"];

export async function load(ctx, signal) {
  const path = "/cron/" + encodeURIComponent(ctx.path[1]);
  const [job, log] = await Promise.all([get(path, {}, signal), get(path + "/runs", { limit: 25 }, signal)]);
  for (let pages = ctx.pages("jobruns"); pages > 0 && log.next; pages--) {
    const page = await get(path + "/runs", { limit: 25, cursor: log.next }, signal);
    log.runs.push(...page.runs);
    log.next = page.next;
  }
  return { job, log };
}

export function draw({ job: j, log }, ctx) {
  return [
    h("p", { class: "back" }, h("a", { href: to(["jobs"]) }, "← Jobs")),
    j.description ? h("p", {}, j.description) : null, h("div", { class: "actions" }, jobActions(j, ctx)),
    j.refused ? h("p", { class: "headline bad" }, j.refused) : null,
    facts([["State", j.enabled ? pill("on") : pill("off")], ["Switched off because", j.offWhy], ["Schedule", j.schedule], ["Next", j.next.length ? h("span", {}, j.next.map((t, i) => [i ? ", " : "", at(t)])) : ""],
      ["Agent", j.agent], ["Session", sessionLink(j.session)], ["Its answer goes", j.delivery], ["Spread over", j.staggerMs ? length(j.staggerMs) : ""], ["Why this chain", j.why]]),
    panel("What it would ask", j.chain.length ? h("ol", {}, j.chain.map((c) => h("li", {}, model(c.model), " ", c.why))) : h("p", { class: "empty" }, "No model.")),
    panel("Its runs", table("Runs of the job", [
      ["Started", (r) => at(r.started, true)], ["By", (r) => r.trigger], ["Result", (r) => [r.status ? pill(r.status) : pill("none", "runs"), r.error ? h("div", { class: "mend" }, r.error) : null]],
      ["Requested", (r) => model(r.requested)], ["Used", (r) => used(r)], ["Answer", (r) => [r.delivery ? pill(r.delivery, name(r.delivery)) : "–", r.summary ? h("div", { class: "small" }, r.summary) : null, r.deliveryError ? h("div", { class: "mend" }, r.deliveryError) : null]],
      ["Took", (r) => r.tookMs ? length(r.tookMs) : "–", "num"], ["Cost", (r) => [r.costUsd ? usd(r.costUsd) : "–", r.inputTokens || r.outputTokens ? h("div", { class: "small" }, count((r.inputTokens || 0) + (r.outputTokens || 0)), " tokens") : null], "num"], ["Run", (r) => runLink(r.turn)],
    ], log.runs, date(j.lastRun) ? "Its log is empty." : "It has never run."), more(log.next, () => ctx.another("jobruns"), "Show older runs")),
    h("details", {}, h("summary", {}, "The job as it is written"), h("pre", { tabindex: "0", role: "group", "aria-label": "The job as it is written" }, JSON.stringify(j.spec, null, 2))),
  ];
}

function used(r) {
  const tried = r.tried || [];
  return [model(r.used), r.used && r.requested && r.used !== r.requested ? [" ", pill("stands in", "stand-in")] : null,
    tried.length ? h("details", {}, h("summary", {}, `${tried.length} did not answer`), h("ul", {}, tried.map((t) => h("li", {}, model(t.model), " ", [name(t.skipped) && "passed over: " + name(t.skipped), name(t.reason), t.detail].filter(Boolean).join(", "))))) : null];
}
