// Credentials with their windows, and what can be done to them.
import { h } from "./dom.js";
import { send } from "./api.js";
import { at, until, name, date } from "./words.js";
import { pill, ask, button } from "./parts.js";

const states = { usable: "usable", partly: "rests for a model", resting: "rests", disabled: "disabled", blocked: "blocked until its reset", off: "switched off", unlisted: "not in the order", useless: "of no use" };

export function credentialList(list, agent, ctx) {
  return h("ul", { class: "credentials" }, list.map((k) => credential(k, agent, ctx)));
}

function credential(k, agent, ctx) {
  return h("li", { key: k.profile },
    h("div", { class: "line" }, h("strong", { class: "key" }, k.profile), pill(k.state, states[k.state]), k.next ? h("small", {}, "tried first") : k.place ? h("small", {}, `place ${k.place}`) : null,
      h("small", {}, [name(k.type), k.account].filter(Boolean).join(" · ")), actions(k, agent, ctx)),
    k.windows && k.windows.length ? h("ul", { class: "windows" }, k.windows.map((w) =>
      h("li", {}, h("strong", {}, name(w.kind)), w.model ? [" for ", h("code", {}, w.model)] : " for all models", `, ${name(w.reason)}, `, until(w.until)))) : null,
    k.state === "off" && date(k.since) ? h("p", {}, "Switched off ", at(k.since), ".") : null,
    k.reason && !(k.windows && k.windows.length) ? h("p", {}, name(k.reason)) : null,
    date(k.accessExpires) ? h("p", {}, k.renews ? "Its access token is renewed by itself; the present one ends " : "It expires ", at(k.accessExpires), ".") : null);
}

function actions(k, agent, ctx) {
  const act = (what, title, text, said, danger) => button(said, `${said}: ${k.profile}`, () => ask({
    title: `${title} ${k.profile}`, text, button: said, danger, as: ctx.who(),
    run: async () => {
      const told = await send("POST", `/credentials/${encodeURIComponent(k.profile)}/${what}`, { agent });
      ctx.refresh();
      return told.says || `${k.profile}: done.`;
    } }));
  return h("span", { class: "actions" },
    k.windows && k.windows.length ? act("clear", "Use again now:", "Its windows end, and the next turn may use it. If the vendor still refuses it, the windows come back.", "Use again now") : null,
    k.state === "off" ? act("enable", "Switch on", "Turns may use it again.", "Switch on")
      : act("disable", "Switch off", "No turn uses it until somebody switches it on again. A turn that runs now is not stopped.", "Switch off", true));
}
