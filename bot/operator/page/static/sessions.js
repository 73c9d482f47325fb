// Sessions: who talks with which model.
import { h } from "./dom.js";
import { get } from "./api.js";
import { since, name, many } from "./words.js";
import { table, pill, model, sessionLink, filters, field, select, more, agentChoice, room } from "./parts.js";

export const title = "Sessions";
export const hears = ["sessions"];

const states = [["", "any"], ["standin", "on a stand-in"], ["chosen", "model chosen by a person"], ["running", "being answered"]];

export async function load(ctx, signal) {
  const { q, agent, channel, state } = ctx.query;
  const got = await get("/sessions", { q, agent, channel, state, limit: 50 }, signal);
  for (let pages = ctx.pages("sessions"); pages > 0 && got.next; pages--) {
    const page = await get("/sessions", { q, agent, channel, state, limit: 50, cursor: got.next }, signal);
    got.sessions.push(...page.sessions);
    got.next = page.next;
  }
  return got;
}

export function draw(got, ctx) {
  const q = ctx.query;
  return [
    filters("Sessions", ["sessions"], ctx.go,
      field("Name contains", h("input", { type: "search", name: "q", value: q.q || "", autocomplete: "off" })), field("Agent", agentChoice(ctx, q.agent, "all agents")),
      field("Channel", select("channel", [["", "any"], ...ctx.channels], q.channel)), field("State", select("state", states, q.state))),
    table("Sessions", [
      ["Session", (s) => sessionLink(s.key)], ["State", (s) => state(s)], ["Answers", (s) => model(s.active)], ["Selected", (s) => s.selected === s.active ? "the same" : model(s.selected)],
      ["Turns", (s) => s.turns, "num"], ["Last spoken to", (s) => since(s.lastSpoken)], ["Where", (s) => room(s.room)],
    ], got.sessions, "No session fits. Sessions appear when somebody talks to an agent.", (s) => s.key),
    more(got.next, () => ctx.another("sessions"), "Show older sessions"),
  ];
}

// state says in a word how a session is.
export function state(s) {
  return [
    s.active !== s.selected ? pill("stands in", "stand-in" + (s.reason ? ": " + name(s.reason) : "")) : s.source === "user" ? pill("none", "chosen") : pill("ok", "as selected"),
    s.running ? [" ", pill("none", "being answered")] : null, s.waiting ? " " + many(s.waiting, "message") + " waiting" : null,
  ];
}
