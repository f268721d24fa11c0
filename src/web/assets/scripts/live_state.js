// Tells whether the page is up to date: htmx reads the stream of updates, and this says how that goes.
import { text } from "./texts.js";

const RETRY_MILLISECONDS = 10000;

function show(state, message, link) {
  const indicator = document.getElementById("live-state");
  if (!indicator || indicator.dataset.state === state) return;
  indicator.dataset.state = state;
  indicator.textContent = text(message);
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link.href;
    anchor.textContent = text(link.name);
    indicator.append(" ", anchor);
  }
}

function showFailure(status) {
  const here = location.pathname + location.search;
  if (status === 401 || status === 403) {
    const href = `/sign-in?next=${encodeURIComponent(here)}`;
    show("signed-out", "Signed out: this page is no longer up to date.", { href, name: "Sign in" });
  } else if (status === 404) {
    show("gone", "This page no longer exists.", { href: "/", name: "Monitors" });
  } else {
    show("reconnecting", "Not connected, trying again …");
  }
}

function isLive(event) {
  return event.target instanceof Element && event.target.id === "live";
}

export function showLiveState() {
  document.addEventListener("htmx:sse:after:connection", (event) => {
    if (isLive(event)) show("live", "Live");
  });
  document.addEventListener("htmx:sse:error", (event) => {
    if (isLive(event)) showFailure(event.detail.status);
  });
  // The first answer was no stream: nothing tries again by itself.
  document.addEventListener("htmx:after:request", (event) => {
    if (!isLive(event) || event.target._htmx?.sse) return;
    showFailure(event.detail.ctx?.response?.status);
    setTimeout(() => htmx.trigger(event.target, "reconnect"), RETRY_MILLISECONDS);
  });
}
