// Which model answered when, as lanes of bars over one axis.
import { h } from "./dom.js";
import { clock, date, many, name } from "./words.js";

const place = (t, from, to) => Math.min(100, Math.max(0, (date(t) - from) / (to - from) * 100));

// lanes draws [{label, href, intervals}] over a time. Bars of a kind look alike:
// plain for a model that was asked for, striped for a stand-in, solid red for none.
export function lanes(list, from, to, describe, onpick) {
  return h("div", { class: "lanes" }, list.map((lane) => h("div", { class: "lane", key: lane.key },
    h("div", { class: "lane-label" }, lane.label),
    h("div", { class: "track", role: "img", "aria-label": describe(lane) }, lane.intervals.map((i) => bar(i, from, to, onpick))))), axis(from, to));
}

function bar(i, from, to, onpick) {
  // A moment is seen, too, also one that is just now.
  const wide = Math.max(0.6, place(i.to, from, to) - place(i.from, from, to)), left = Math.min(place(i.from, from, to), 100 - wide);
  const kind = !i.model ? "none" : i.reason ? "stand" : "plain";
  const says = `${i.model || "no model answered"}, ${clock(i.from)} to ${clock(i.to)}, ${many(i.turns, "turn")}${i.reason ? ", " + name(i.reason) : ""}`;
  return h("span", { class: "bar " + kind, title: says, vars: { "--at": left + "%", "--wide": wide + "%" }, onclick: onpick ? () => onpick(i) : null });
}

function axis(from, to) {
  const marks = [0, 0.25, 0.5, 0.75, 1];
  return h("div", { class: "lane axis", "aria-hidden": "true", key: "axis" }, h("div", { class: "lane-label" }), h("div", { class: "ticks" },
    marks.map((m) => h("span", { vars: { "--at": m * 100 + "%" }, class: m === 0 ? "first" : m === 1 ? "last" : m === 0.25 || m === 0.75 ? "odd" : null }, clock(new Date(+from + (to - from) * m))))));
}

// legend says what bars mean.
export function legend() {
  return h("p", { class: "legend" }, h("span", { class: "bar plain" }), "the model that was asked for ", h("span", { class: "bar stand" }), "a stand-in ", h("span", { class: "bar none" }), "no model answered");
}

// reasoned gives an agent's stretches the reasons of its sessions' ones: a model
// that stood in for a session stood in.
export function reasoned(agent, sessions) {
  const stood = sessions.filter((s) => s.agent === agent.agent).flatMap((s) => s.intervals).filter((i) => i.model && i.reason);
  return agent.intervals.map((i) => {
    const one = i.reason ? null : stood.find((s) => s.model === i.model && date(s.from) <= date(i.to) && date(s.to) >= date(i.from));
    return one ? { ...i, reason: one.reason } : i;
  });
}

// byModel makes a lane of each model of an agent, those that answered most first.
export function byModel(intervals) {
  const models = new Map();
  for (const i of intervals) {
    const key = i.model || "";
    if (!models.has(key)) models.set(key, []);
    models.get(key).push(i);
  }
  const turns = (list) => list.reduce((n, i) => n + i.turns, 0);
  return [...models].sort((a, b) => turns(b[1]) - turns(a[1])).map(([key, list]) => ({ key: "model " + key, label: key || "nobody", intervals: list, turns: turns(list) }));
}
