// Cost: what calls have cost, and how far limits are used.
import { h } from "./dom.js";
import { get } from "./api.js";
import { usd, count, at, many } from "./words.js";
import { panel, table, pill, filters, field, select, pieces } from "./parts.js";

export const title = "Cost";
export const hears = [];

const by = [["model", "model"], ["purpose", "purpose"], ["agent", "agent"], ["day", "day"], ["job", "job"]];
const spans = [["1", "1 day"], ["7", "7 days"], ["30", "30 days"], ["90", "90 days"]];

export async function load(ctx, signal) {
  const now = await get("/now", {}, signal);
  ctx.meet(now);
  if (!now.cost) return null; // not kept: asking would only fail
  const days = Number(ctx.query.days) || 30;
  const [cost, budgets] = await Promise.all([
    get("/cost", { by: ctx.query.by, from: new Date(Date.now() - days * 864e5).toISOString() }, signal), get("/budgets", {}, signal)]);
  return { cost, budgets: budgets.budgets, days };
}

export function draw(got, ctx) {
  if (!got) return h("p", { class: "empty" }, "Costs are not kept by this daemon, so there is nothing to add up.");
  const { cost, budgets, days } = got;
  const most = Math.max(...cost.rows.map((r) => r.usd), 0);
  return [
    filters("Costs", ["cost"], ctx.go, field("By", select("by", by, cost.by)), field("Time", select("days", spans, String(days)))),
    h("p", { class: "total" }, h("strong", {}, usd(cost.total.usd)), ` in ${many(cost.total.calls, "call")}, ${count(cost.total.inputTokens)} tokens in, ${count(cost.total.outputTokens)} out`,
      cost.total.unpriced ? `. ${many(cost.total.unpriced, "call")} of unknown price not counted.` : "."),
    panel("By " + cost.by, table("Costs by " + cost.by, [
      [cost.by[0].toUpperCase() + cost.by.slice(1), (r) => h("span", { class: "key" }, r.key ? pieces(r.key) : "none")],
      ["Cost", (r) => usd(r.usd), "num"], ["Share", (r) => h("span", { class: "share", role: "img", "aria-label": share(r, cost) + " of all" }, h("span", { class: "bar plain", vars: { "--at": "0%", "--wide": (most ? r.usd / most * 100 : 0) + "%" } }), h("span", { class: "share-word", "aria-hidden": "true" }, share(r, cost)))],
      ["Calls", (r) => count(r.calls), "num"], ["Failed", (r) => count(r.failed), "num"], ["Tokens in", (r) => count(r.inputTokens), "num"], ["Cached", (r) => count(r.cachedTokens), "num"], ["Tokens out", (r) => count(r.outputTokens), "num"], ["Price unknown", (r) => count(r.unpriced), "num"],
    ], cost.rows, "No call was made in this time.")),
    panel("Budgets", budgets.length ? h("ul", { class: "budgets" }, budgets.map((b) => h("li", { key: b.name },
      h("div", { class: "line" }, h("strong", {}, b.name), b.over ? pill("over", "used up") : pill("ok", "within"), h("span", {}, `${usd(b.spentUsd)} of ${usd(b.limitUsd)} a ${b.period}`), h("small", {}, "begins again ", at(b.resets))),
      h("meter", { min: 0, max: b.limitUsd, value: Math.min(b.spentUsd, b.limitUsd), low: b.limitUsd * 0.8, high: b.limitUsd * 0.999, optimum: 0, "aria-label": `${b.name}: ${usd(b.spentUsd)} of ${usd(b.limitUsd)}` }),
      h("p", { class: "small" }, b.about, b.over ? " Models that cost money are passed over until then." : "")))) : h("p", { class: "empty" }, "No limit is set. Limits stand in the config under budgets.")),
  ];
}

function share(r, cost) {
  return cost.total.usd ? Math.round(r.usd / cost.total.usd * 100) + " %" : "0 %";
}
