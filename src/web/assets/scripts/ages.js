// Ages on the page: "12 s ago" stays true while the page is open.
import { text } from "./texts.js";

const serverNow = Number(document.documentElement.dataset.now);
// The clock of this computer may be wrong; that of the server made the page.
const clockOffset = serverNow ? serverNow - Date.now() : 0;

// The largest units of a duration in seconds, at most two; as `format_coarse_duration` of the server.
export function formatDuration(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

function ageText(element) {
  const elapsed = (Date.now() + clockOffset - Date.parse(element.dateTime)) / 1000;
  const isUntil = element.dataset.age === "until";
  const duration = formatDuration(Math.max(0, Math.floor(isUntil ? -elapsed : elapsed)));
  return element.dataset.age === "ago" ? text("{duration} ago", { duration }) : duration;
}

function updateAges() {
  for (const element of document.querySelectorAll("time[data-age]")) {
    const age = ageText(element);
    if (element.textContent !== age) element.textContent = age;
  }
}

export function keepAgesTrue() {
  if (!document.querySelector("time[data-age]") && !document.getElementById("live")) return;
  setInterval(updateAges, 1000);
  document.addEventListener("htmx:after:swap", updateAges);
}
