// Jobs: what runs by itself, when, and how it went.
import { h } from "./dom.js";
import { get, send } from "./api.js";
import { at, since, clock, name, date, many } from "./words.js";
import { panel, table, pill, model, ask, button, to } from "./parts.js";

export const title = "Jobs";
export const hears = ["cron", "heartbeats"];

export async function load(ctx, signal) {
  const [jobs, calendar, beats] = await Promise.all([get("/cron", {}, signal), get("/calendar", {}, signal), get("/heartbeats", {}, signal)]);
  return { jobs, calendar, beats: beats.heartbeats };
}

export function draw({ jobs, calendar, beats }, ctx) {
  return [
    jobs.enabled ? null : h("p", { class: "headline warn" }, "No job runs by itself: cron.enabled is off in the config. Jobs can still be run by hand."),
    panel("All jobs", h("p", { class: "sub" }, `${many(jobs.running, "job")} running, ${jobs.waiting} waiting.`), table("Jobs", [
      ["Job", (j) => [h("a", { href: to(["job", j.id]) }, j.name || j.id), j.description ? h("div", { class: "small" }, j.description) : null]],
      ["State", (j) => [date(j.runningSince) ? pill("ok", "runs") : j.enabled ? pill("on") : pill("off"), j.offWhy ? h("div", { class: "mend" }, j.offWhy) : null]],
      ["Schedule", (j) => j.schedule], ["Next", (j) => j.enabled && j.next.length ? at(j.next[0]) : "–"], ["Last run", (j) => last(j)], ["Model", (j) => j.model ? model(j.model) : "the agent's"],
      ["Actions", (j) => jobActions(j, ctx)],
    ], jobs.jobs, "There are no jobs. Make one with standin cron add, or ask an agent to.", (j) => j.id)),
    panel("Heartbeats", table("Heartbeats", [
      ["Agent", (b) => b.agent], ["State", (b) => date(b.runningSince) ? pill("ok", "runs") : b.off ? pill("off", "switched off") : b.every ? pill("on", "every " + b.every) : pill("none", "no interval")],
      ["Next", (b) => b.off ? "–" : at(b.due)], ["Last", (b) => date(b.last) ? [since(b.last), " ", pill(b.status), b.says ? h("div", { class: "small" }, b.says) : null] : "never"], ["Model", (b) => model(b.model)],
      ["Where it goes", (b) => b.goes], ["Actions", (b) => beatActions(b, ctx)],
    ], beats, "No agent has a heartbeat.", (b) => b.agent)),
    panel("The next seven days", agenda(calendar)),
  ];
}

function last(j) {
  if (!date(j.lastRun)) return "never";
  return [since(j.lastRun), " ", j.lastStatus ? pill(j.lastStatus) : null, j.lastError ? h("div", { class: "mend" }, j.lastError) : null, j.errorsInARow > 1 ? h("div", { class: "small" }, `${j.errorsInARow} errors in a row`) : null];
}

// jobActions are what can be done to a job.
export function jobActions(j, ctx) {
  const path = `/cron/${encodeURIComponent(j.id)}`, who = j.name || j.id;
  const act = (what, said, text, done) => button(said, `${said}: ${who}`, () => ask({ title: `${said}: ${who}?`, text, button: said, as: ctx.who(), run: async () => {
    const told = await send("POST", `${path}/${what}`, what === "run" ? {} : undefined);
    ctx.refresh();
    return told.says || done;
  } }));
  return h("span", { class: "actions" }, act("run", "Run now", "It runs once, beside its schedule. What it has to say goes where its answers always go.", `${who} runs.`),
    j.enabled ? act("disable", "Disable", "Its schedule stops until it is enabled again. A run that is under way is not stopped.", `${who} is disabled.`) : act("enable", "Enable", "Its schedule begins again; what it missed is not made up for.", `${who} is enabled.`));
}

function beatActions(b, ctx) {
  const path = `/heartbeats/${encodeURIComponent(b.agent)}`;
  const act = (what, said, title, text, body, done) => button(said, `${said}: heartbeat of ${b.agent}`, () => ask({ title, text, button: said, as: ctx.who(), run: async () => {
    const told = await send("POST", `${path}/${what}`, body);
    ctx.refresh();
    return done(told);
  } }));
  const beaten = (told) => `Heartbeat of ${b.agent}: ${told.says || name(told.status)}${told.text ? " It said: " + told.text : ""}`;
  return h("span", { class: "actions" },
    act("run", "Try", `Try the heartbeat of ${b.agent}?`, "A model is asked, which may cost money, and you see what it would say. Nothing is posted or kept.", { trial: true }, beaten),
    act("run", "Run now", `Run the heartbeat of ${b.agent} now?`, `It runs as if it were due: ${b.goes}.`, {}, beaten),
    b.off ? act("enable", "Enable", `Enable the heartbeat of ${b.agent}?`, "Its schedule runs again.", undefined, () => `The heartbeat of ${b.agent} is enabled.`)
      : act("disable", "Disable", `Disable the heartbeat of ${b.agent}?`, "Its schedule stops until it is enabled, also over restarts.", undefined, () => `The heartbeat of ${b.agent} is disabled.`));
}

// agenda shows what fires by days; what fires often in one day is one line.
function agenda(calendar) {
  if (!calendar.fires.length) return h("p", { class: "empty" }, "Nothing is due in this time.");
  const days = new Map();
  for (const f of calendar.fires) {
    const day = date(f.at).toDateString();
    if (!days.has(day)) days.set(day, new Map());
    const of = days.get(day), key = f.kind + " " + f.id;
    if (!of.has(key)) of.set(key, { ...f, times: [] });
    of.get(key).times.push(f.at);
  }
  return [h("ol", { class: "agenda" }, [...days].map(([day, of]) => h("li", { key: day },
    h("h3", {}, new Date(day).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "short" })),
    h("ul", {}, [...of.values()].map((f) => h("li", {}, h("span", { class: "times" }, times(f.times)), " ", f.kind === "job" ? h("a", { href: to(["job", f.id]) }, f.name || f.id) : `heartbeat of ${f.id}`, f.model ? [" ", model(f.model)] : null)))))),
  calendar.more ? h("p", { class: "empty" }, "More is due than is shown.") : null];
}

function times(list) {
  const hour = (t) => clock(t).slice(-5);
  return list.length <= 3 ? list.map(hour).join(", ") : `${hour(list[0])} to ${hour(list.at(-1))}, ${list.length} times`;
}
