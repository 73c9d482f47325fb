// Times, lengths and numbers as people read them.
import { h } from "./dom.js";

const day = 24 * 3600e3;

// date reads a time of the API; a zero or absent one is null.
export function date(t) {
  if (!t) return null;
  const d = new Date(t);
  return isNaN(d) || d.getUTCFullYear() < 1971 ? null : d;
}

const two = (n) => String(n).padStart(2, "0");

// clock says a time: of today by the clock, else with its day.
export function clock(t, withSeconds) {
  const d = date(t);
  if (!d) return "–";
  const time = `${two(d.getHours())}:${two(d.getMinutes())}${withSeconds ? ":" + two(d.getSeconds()) : ""}`;
  const now = new Date();
  if (d.toDateString() === now.toDateString()) return time;
  const near = Math.abs(d - now) < 6 * day;
  return d.toLocaleDateString("en-GB", near ? { weekday: "short" } : { day: "numeric", month: "short" }) + " " + time;
}

// length says how long a time is, in its two largest units.
export function length(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10000 && ms % 1000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min` + (s % 60 && s < 600 ? ` ${s % 60} s` : "");
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h` + (Math.floor(s % 3600 / 60) ? ` ${Math.floor(s % 3600 / 60)} min` : "");
  return `${Math.floor(s / 86400)} days`;
}

// at shows a time; pointing at it tells it in full.
export function at(t, withSeconds) {
  const d = date(t);
  if (!d) return "–";
  return h("time", { datetime: d.toISOString(), title: d.toLocaleString() }, clock(d, withSeconds));
}

// since shows how long ago something was, and keeps up with the clock.
export function since(t) {
  const d = date(t);
  if (!d) return "–";
  return h("time", { datetime: d.toISOString(), title: d.toLocaleString(), "data-since": +d }, ago(d));
}

// until counts down to a time, and says the time itself too.
export function until(t) {
  const d = date(t);
  if (!d) return "–";
  return h("span", { class: "until" }, "until ", at(d), " ", h("span", { class: "count", "data-until": +d }, left(d)));
}

// due counts down to when something is asked again; what is past comes with the next message.
export function due(t) {
  const d = date(t);
  if (!d || d <= new Date()) return "with the next message";
  return h("span", { class: "until" }, at(d), " ", h("span", { class: "count", "data-until": +d }, left(d)));
}

function ago(d) {
  const ms = Date.now() - d;
  if (ms < 2000) return "just now";
  return length(ms < 60e3 ? Math.floor(ms / 1000) * 1000 : Math.floor(ms / 60e3) * 60e3) + " ago";
}

function left(d) {
  const ms = d - Date.now();
  return ms <= 0 ? "(over)" : `(${length(Math.ceil(ms / 1000) * 1000)} left)`;
}

// tick brings all running times up to date and says whether a countdown has ended.
export function tick() {
  let ended = false;
  for (const el of document.querySelectorAll("[data-since]")) put(el, ago(+el.dataset.since));
  for (const el of document.querySelectorAll("[data-until]")) {
    if (put(el, left(new Date(+el.dataset.until))) && el.textContent === "(over)") ended = true;
  }
  return ended;
}

function put(el, text) {
  if (el.textContent === text) return false;
  el.textContent = text;
  return true;
}

// usd says an amount; small ones keep the digits that matter.
export function usd(n) {
  if (!n) return "$0";
  return "$" + (Math.abs(n) < 0.1 ? n.toPrecision(2) : n.toFixed(2));
}

// count says a number.
export function count(n) {
  return (n || 0).toLocaleString("en-US");
}

// many says how many there are of something.
export function many(n, one, more) {
  return `${count(n)} ${n === 1 ? one : more || one + "s"}`;
}

// sentence begins what is told in half a sentence with a capital and ends it.
export function sentence(text) {
  if (!text) return "";
  const whole = text[0].toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : whole + ".";
}

// name makes words of a name of the API.
export function name(word) {
  return (word || "").replaceAll("_", " ").replaceAll("-", " ");
}
