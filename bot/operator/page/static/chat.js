// Chat: talk to an agent. What standin itself says stands apart from what the
// agent says.
import { h } from "./dom.js";
import { get, send, id } from "./api.js";
import { at } from "./words.js";
import { agentChoice, field, runLink, pill, more, to } from "./parts.js";

export const title = "Chat";
export const hears = ["chat"];

export async function load(ctx, signal) {
  const agent = ctx.query.agent;
  const got = await get("/chat", { agent, limit: 50 }, signal);
  for (let pages = ctx.pages("chat"); pages > 0 && got.next; pages--) {
    const page = await get("/chat", { agent, limit: 50, cursor: got.next }, signal);
    got.messages.unshift(...page.messages);
    got.next = page.next;
  }
  return got;
}

export function draw(got, ctx) {
  const mine = ctx.keep("chat " + (ctx.query.agent || ""), { unsent: null });
  return [
    ctx.agents.length > 1 ? h("div", { class: "filters" }, field("Agent", agentChoice(ctx, ctx.query.agent, "the default agent", (agent) => ctx.go(to(["chat"], { agent }))))) : null,
    h("div", { class: "chat" },
      more(got.next, () => ctx.another("chat"), "Show what was said before"),
      h("ol", { class: "log", id: "log", role: "log", "aria-label": "Conversation with " + got.agent, tabindex: "0" },
        got.messages.map((m) => message(m, got.agent)), got.messages.length ? null : h("li", { class: "empty" }, "Nothing has been said yet. Commands such as /status and /model work here too.")),
      h("form", { class: "say", onsubmit: (e) => submit(e, ctx, mine) },
        h("label", { for: "text" }, "Message to ", got.agent),
        h("textarea", { id: "text", name: "text", rows: 2, required: true, "aria-describedby": "keys", onkeydown: enter }),
        mine.fault ? h("p", { class: "fault", role: "alert" }, mine.fault) : null,
        h("div", { class: "line ends" }, h("p", { id: "keys", class: "small" }, "Enter sends, Shift and Enter begins a new line."), h("button", { type: "submit", class: "primary" }, "Send")))),
  ];
}

const whos = { notice: "Notice of standin", failure: "standin", command: "standin" };

function message(m, agent) {
  const mine = m.from === "operator";
  const state = { waiting: "waits for its answer", failed: "not answered", silent: "needs no answer" }[m.state];
  return h("li", { class: `message ${mine ? "mine" : m.kind}`, key: m.id },
    h("div", { class: "line" }, h("strong", {}, mine ? m.who || "You" : whos[m.kind] || agent), at(m.at), m.turn && !mine ? runLink(m.turn) : null, state ? pill(m.state, state) : null),
    h("p", { class: "said" }, m.text));
}

function enter(e) {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  e.currentTarget.form.requestSubmit();
}

async function submit(e, ctx, mine) {
  e.preventDefault();
  const box = e.currentTarget.elements.text, text = box.value.trim();
  if (!text) return;
  // The same words after a failure are the same message: it is not said twice.
  if (!mine.unsent || mine.unsent.text !== text) mine.unsent = { id: id(), text, agent: ctx.query.agent || undefined };
  try {
    await send("POST", "/chat", mine.unsent);
    mine.unsent = null;
    mine.fault = "";
    if (box.value.trim() === text) box.value = "";
  } catch (err) {
    mine.fault = err.message;
  }
  await ctx.refresh();
}

// drawn keeps the latest in sight, unless somebody reads further up.
export function drawn(first, atEnd) {
  const log = document.getElementById("log");
  if (log && (first || atEnd)) log.scrollTop = log.scrollHeight;
}

export function before() {
  const log = document.getElementById("log");
  return !log || log.scrollHeight - log.scrollTop - log.clientHeight < 80;
}
