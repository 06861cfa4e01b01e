"use strict";
// Keys, and what changes while a page is open. Pages work without this file.

const main = () => document.getElementById("main");
const items = () => [...document.querySelectorAll("[data-item]")].filter((item) => item.offsetParent);
const find = document.getElementById("find");
const home = document.body.dataset.top; // before the addresses of this workspace
const GO = { h: "/", t: "/timeline", r: "/review", g: "/graph", p: "/projects" };
let isGoing = false;

function step(by) {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((item) => item.classList.contains("here"));
  const to = Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by));
  all[at]?.classList.remove("here");
  all[to].classList.add("here");
  const inside = all[to].tabIndex < 0 && all[to].matches("article") ? all[to] : all[to].querySelector("a, summary, button");
  (inside || all[to]).focus({ preventScroll: true });
  all[to].scrollIntoView({ block: "nearest" });
}

/** The button that a key stands for: in the item that was chosen, else in the first one, else on the page. */
function buttonFor(key) {
  const chosen = document.querySelector("[data-item].here") || document.querySelector("[data-item]");
  const within = `[data-key="${key}"]`;
  return chosen?.querySelector(within) || document.querySelector(within);
}

function isTyping(target) {
  return target.matches("input:not([type=checkbox]), textarea, select");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const key = event.key;
  if (isGoing && GO[key]) location.assign(home + GO[key]);
  else if (key === "/") find?.focus();
  else if (key === "?") document.getElementById("help").showModal();
  else if (key === "j") step(1);
  else if (key === "k") step(-1);
  else if (/^[a-z]$/.test(key) && key !== "g" && buttonFor(key)) buttonFor(key).click();
  else {
    isGoing = key === "g";
    return;
  }
  isGoing = false;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-help]")) document.getElementById("help").showModal();
  if (event.target.closest("[data-reload]")) location.reload();
});

// filters apply at once; their button is for those without a script
document.querySelector(".filters")?.addEventListener("change", (event) => event.currentTarget.requestSubmit());

function isSearch() {
  return location.pathname === `${home}/search`;
}

// the answer takes the place of whatever page this is, to which Back leads
function goToSearch() {
  if (isSearch()) return;
  history.pushState(null, "", `${home}/search`);
  document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
}
find?.addEventListener("input", goToSearch);
// a page may have been shown anew since the question was sent
find?.addEventListener("htmx:beforeOnLoad", (event) => { event.detail.target = main(); });
// somebody may type before this file is there
document.addEventListener("DOMContentLoaded", () => {
  if (!find || find.value === find.defaultValue) return;
  goToSearch();
  htmx.trigger(find, "typed");
});
window.addEventListener("popstate", () => location.reload());
if (isSearch() && find) {
  find.focus();
  find.setSelectionRange(find.value.length, find.value.length);
}

/** A receipt leads to a turn, whose words may be folded away. */
function unfold() {
  const named = decodeURIComponent(location.hash.slice(1));
  const target = named && (document.getElementById(location.hash.slice(1)) || document.getElementById(named));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}
window.addEventListener("hashchange", unfold);
unfold();
window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll(".exchanges details")) folded.open = true;
});

// what changed in memory is shown where nobody is in the middle of something, and offered elsewhere
function show() {
  const isBusy = scrollY > 200 || document.querySelector("details[open], dialog[open], form.dirty, .here");
  if (main().hasAttribute("data-live") && !isBusy) {
    htmx.ajax("GET", location.href, { target: "#main", select: "#main", swap: "outerHTML" });
  } else document.getElementById("changed").hidden = false;
}
document.addEventListener("input", (event) => event.target.form?.classList.add("dirty"));

// a browser keeps six connections: a page that nobody sees gives its own back, and says now and then that it is there
let feed = null;
const ended = document.getElementById("ended");
function listen() {
  if (feed || document.hidden) return;
  feed = new EventSource(`${home}/events`);
  feed.addEventListener("changed", show);
  feed.onopen = () => { ended.hidden = true; };
  feed.onerror = () => { ended.hidden = false; };
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return listen();
  feed?.close();
  feed = null;
});
window.addEventListener("pagehide", () => { feed?.close(); feed = null; });
window.addEventListener("pageshow", listen);
setInterval(() => { if (document.hidden) fetch(`${home}/alive`).catch(() => {}); }, 60000);
listen();
