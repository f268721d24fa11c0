// Units of charts.
import { decimal } from "./texts.js";

// Formats microseconds; as `format_micros` of the server, without digits that are zero.
export function formatMicros(micros) {
  const short = (value, digits) => decimal(Number(value.toFixed(digits)));
  if (micros < 1000) return `${short(micros, 0)} µs`;
  return micros < 1000000 ? `${short(micros / 1000, 1)} ms` : `${short(micros / 1000000, 2)} s`;
}

// Formats a time in `zone` of an axis whose labels are `width` seconds apart: a day at midnight and where there are only days.
export function formatStep(seconds, width, zone) {
  // Swedish has dates as ISO 8601 does.
  const text = new Date(seconds * 1000).toLocaleString("sv-SE", { timeZone: zone });
  return width >= 86400 || text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
}
