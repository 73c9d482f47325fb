// The page: which view is shown, who looks at it, and what keeps it up to date.
import { h, morph } from "./dom.js";
import { get, send, listen, Failure } from "./api.js";
import { tick } from "./words.js";
import { field, say, ask, button } from "./parts.js";
import * as now from "./now.js";
import * as timeline from "./timeline.js";
import * as run from "./runs.js";
import * as sessions from "./sessions.js";
import * as session from "./session.js";
import * as jobs from "./jobs.js";
import * as job from "./job.js";
import * as cost from "./cost.js";
import * as rehearse from "./rehearse.js";
import * as chat from "./chat.js";

const views = { now, timeline, run, sessions, session, jobs, job, cost, rehearse, chat };
const under = { run: "timeline", session: "sessions", job: "jobs" };

const page = { me: {}, agents: [], channels: [], kept: new Map(), live: null, route: null, data: undefined, stop: null };

// route reads the address: #/view/part?query.
function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map((p) => { try { return decodeURIComponent(p); } catch { return p; } });
  if (!views[parts[0]] || (under[parts[0]] && !parts[1])) parts[0] = "now";
  return { path: parts, query: Object.fromEntries(new URLSearchParams(query || "")), view: views[parts[0]], pages: {} };
}

// context is what a view is given.
function context(r) {
  return {
    path: r.path, query: r.query, agents: page.agents, channels: page.channels,
    go: (hash) => { location.hash = hash; },
    refresh: () => refresh(), redraw: () => { if (page.route === r) draw(r); },
    pages: (name) => r.pages[name] || 0, another: (name) => { r.pages[name] = (r.pages[name] || 0) + 1; refresh(); },
    keep: (name, first) => { if (!page.kept.has(name)) page.kept.set(name, first); return page.kept.get(name); },
    meet, who: () => page.me.name || "operator",
  };
}

// meet notes which agents and channels there are.
function meet(n) {
  page.agents = n.agents.map(({ id, name }) => ({ id, name }));
  page.channels = [...new Set([...n.channels.map((c) => c.channel), "page"])];
}

// show goes to the view of the address.
async function show(first) {
  const r = route();
  page.route = r;
  page.data = undefined;
  for (const a of document.querySelectorAll("#nav a")) {
    const here = a.getAttribute("href") === "#/" + (under[r.path[0]] || r.path[0]);
    if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const done = await refresh();
  if (page.route !== r || !done) return;
  if (r.view.drawn) r.view.drawn(true);
  if (first) return;
  scrollTo(0, 0);
  // What was gone to is what is read next.
  document.querySelector("main h1").focus({ preventScroll: true });
}

// refresh reads what the view shows once more. Of several at once the last wins.
async function refresh() {
  const r = page.route;
  if (!r) return false;
  if (page.stop) page.stop.abort();
  const stop = page.stop = new AbortController();
  try {
    if (!page.agents.length && r.view !== now) meet(await get("/now", {}, stop.signal));
    const data = await r.view.load(context(r), stop.signal);
    if (stop !== page.stop || page.route !== r) return false;
    page.data = data;
    r.fault = null;
  } catch (err) {
    if (err.name === "AbortError" || stop !== page.stop || page.route !== r) return false;
    if (!(err instanceof Failure)) throw err;
    if (err.status === 401) { await start(); return false; }
    r.fault = err;
  }
  draw(r);
  return true;
}

function draw(r) {
  const main = document.getElementById("view");
  const atEnd = r.view.before && r.view.before();
  const title = r.view.title;
  const known = page.data !== undefined;
  const heading = h("h1", { tabindex: "-1" }, known && r.view.heading ? r.view.heading(page.data) : title);
  document.title = `${heading.textContent} · standin`;
  morph(main, h("main", { id: "view", tabindex: "-1", class: r.path[0] }, heading,
    r.fault ? h("p", { class: "headline bad", role: "alert", key: "fault" }, r.fault.message) : null,
    known ? h("div", { class: "view", key: r.path.slice(0, 2).join(" ") }, r.view.draw(page.data, context(r))) : null));
  if (r.view.drawn && atEnd) r.view.drawn(false, true);
}

// heard is something that happened: views that show it read it again, at most
// four times a second however much happens.
function heard(kind, told) {
  const r = page.route;
  if (!r) return;
  const names = kind === "changed" ? [told.what] : [kind];
  if (kind !== "reset" && !names.some((n) => r.view.hears.includes(n))) return;
  if (kind === "chat" && r.view === session && told.session && told.session !== r.path[1]) return;
  clearTimeout(heard.timer);
  heard.timer = setTimeout(refresh, 250);
}

function foot() {
  const live = page.live === null ? "" : page.live ? "Live" : "Not connected: trying again";
  morph(document.getElementById("foot"), h("footer", { id: "foot" },
    h("span", { id: "live", class: page.live === false ? "warn" : null }, live),
    h("span", {}, page.me.version ? "standin " + page.me.version : ""),
    page.me.loggedIn ? h("span", {}, "You are ", h("strong", {}, page.me.name || "operator"), " ",
      page.me.tokenNeeded ? button("Log out", "Log out", leave) : button("Change name", "Change name", rename)) : null));
}

// rename is for a machine that needs no token: what is changed is recorded under
// a name all the same.
function rename() {
  ask({ title: "Who are you?", text: "What you change is recorded under your name.", button: "Save", extra: field("Your name", h("input", { name: "name", autocomplete: "username", maxlength: 64, value: page.me.name || "" })),
    run: async (said) => {
      page.me = await send("POST", "/login", { token: "", name: said.name.trim() });
      foot();
      return `You are ${page.me.name || "operator"}.`;
    } });
}

async function leave() {
  try {
    await send("POST", "/logout");
  } catch (err) {
    say(err.message, true);
    return;
  }
  page.route = null;
  await start();
  say("You are logged out.");
}

// door asks for the token.
function door(fault) {
  document.title = "Log in · standin";
  document.getElementById("nav").hidden = true;
  const form = h("form", { class: "door", onsubmit: async (e) => {
    e.preventDefault();
    const said = Object.fromEntries(new FormData(e.currentTarget));
    try {
      await send("POST", "/login", { token: said.token, name: said.name.trim() || undefined });
      await start();
    } catch (err) {
      if (!(err instanceof Failure)) throw err;
      door(err.message);
      document.querySelector(".door [name=token]").select();
    }
  } },
  h("p", {}, "The token stands in the config under gateway.auth.token, or where that points to."),
  field("Token", h("input", { name: "token", type: "password", required: true, autocomplete: "current-password" })),
  field("Your name", h("input", { name: "name", autocomplete: "username", maxlength: 64 }), "What you change is recorded under it."),
  fault ? h("p", { class: "fault", role: "alert" }, fault) : null,
  h("button", { type: "submit", class: "primary" }, "Log in"));
  morph(document.getElementById("view"), h("main", { id: "view", tabindex: "-1", class: "login" }, h("h1", { tabindex: "-1" }, "Log in"), form));
  if (!fault) document.querySelector(".door [name=token]").focus();
}

// start finds out who is asking, and opens the page or the door.
async function start() {
  if (start.quiet) start.quiet();
  start.quiet = null;
  page.live = null;
  try {
    page.me = await get("/me");
  } catch (err) {
    if (!(err instanceof Failure)) throw err;
    page.me = {};
    morph(document.getElementById("view"), h("main", { id: "view", tabindex: "-1" }, h("h1", { tabindex: "-1" }, "standin"), h("p", { class: "headline bad", role: "alert" }, err.message)));
    if (!err.status || err.status >= 500) setTimeout(start, 5000); // else it waits for somebody to mend it
    return;
  }
  foot();
  if (page.me.tokenNeeded && !page.me.loggedIn) { page.route = null; door(); return; }
  document.getElementById("nav").hidden = false;
  await show(true);
  start.quiet = listen(heard, (up) => {
    const back = page.live === false && up;
    page.live = up;
    foot();
    if (back) refresh(); // what happened meanwhile may be lost
  });
}

addEventListener("hashchange", () => { if (page.route) show(false); });
// A browser jumps to #view by itself, but the address is ours.
document.querySelector(".skip").onclick = (e) => { e.preventDefault(); document.getElementById("view").focus(); };
setInterval(() => { if (tick() && page.route) refresh(); }, 1000);
// Windows end and jobs fall due without an event.
setInterval(() => { if (page.route && !document.hidden) refresh(); }, 60000);
start();
