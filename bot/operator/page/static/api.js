// The way to the daemon: its JSON API and its events.

const base = "/api/v1";

// Failure is an answer that is none, in words for people.
export class Failure extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// get asks for something. Empty values of the query are left out.
export function get(path, query, signal) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) if (value) q.set(name, value);
  return ask("GET", path + (q.size ? "?" + q : ""), undefined, signal);
}

// send changes something.
export function send(method, path, body) {
  return ask(method, path, body);
}

async function ask(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch(base + path, {
      method, signal, credentials: "same-origin", cache: "no-store",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (err) {
    if (err.name === "AbortError") throw err;
    throw new Failure(0, "unreachable", "The daemon does not answer. Is it running? This page asks again by itself.");
  }
  const text = await answer.text();
  let told;
  try {
    told = text ? JSON.parse(text) : {};
  } catch {
    told = { error: { code: "internal", message: text } };
  }
  if (answer.ok) return told;
  const fault = told.error || {};
  throw new Failure(answer.status, fault.code || "internal", fault.message || `The daemon answered with status ${answer.status} and no reason.`);
}

// id makes a name that nobody else makes, also where the page was not loaded over TLS.
export function id() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

const kinds = ["decision", "chat", "changed", "act", "reset"];

// listen hears what happens until it is told to stop. The browser comes back by
// itself after a lost connection and says where it was; where the daemon refused
// it, it has to be made anew.
export function listen(heard, state) {
  let source, timer, stopped = false;
  const open = () => {
    source = new EventSource(base + "/events");
    source.onopen = () => state(true);
    source.onerror = () => {
      state(false);
      if (source.readyState !== EventSource.CLOSED || stopped) return;
      timer = setTimeout(open, 5000);
    };
    for (const kind of kinds) {
      source.addEventListener(kind, (e) => {
        let told = {};
        try { told = JSON.parse(e.data); } catch { /* an event without data only says that there was one */ }
        heard(kind, told);
      });
    }
  };
  open();
  return () => {
    stopped = true;
    clearTimeout(timer);
    source.close();
  };
}
