// Keys for what is done often. The page "Console" of the manual lists them.
import { openPalette } from "./palette.js";

// Keys that follow `g`, and where they lead.
const PLACES = { m: "/", l: "/locations", a: "/account", h: "/manual/" };
// Keys, and what they click on the page.
const CLICKS = {
  n: 'a[href="/monitors/new"]',
  e: '#buttons a[href$="/edit"]',
  r: "#buttons .primary",
};
const SEQUENCE_MILLISECONDS = 1500;

let goUntil = 0;

function isTyping(element) {
  return element.closest("input, textarea, select, [contenteditable]") !== null;
}

function handlePlainKey(event) {
  const key = event.key;
  if (Date.now() < goUntil) {
    goUntil = 0;
    if (key in PLACES) location.href = PLACES[key];
    return key in PLACES;
  }
  if (key === "g") goUntil = Date.now() + SEQUENCE_MILLISECONDS;
  else if (key === "?") location.href = "/manual/console#keys";
  else if (key === "/") document.querySelector('[type="search"]')?.focus();
  else if (key in CLICKS) document.querySelector(CLICKS[key])?.click();
  else return false;
  return true;
}

function handleKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    if (openPalette()) event.preventDefault();
    return;
  }
  if (document.documentElement.dataset.keys === "off") return;
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (hasModifier || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (handlePlainKey(event)) event.preventDefault();
}

export function listenToKeys() {
  document.addEventListener("keydown", handleKey);
}
