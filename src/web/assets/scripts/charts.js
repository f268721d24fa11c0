// Charts of durations, drawn by uPlot from the tables below them, which say the same without scripts.
import { formatMicros, formatStep } from "./units.js";
import { text } from "./texts.js";

const { uPlot } = window;
const HEIGHT = 220;

// The rows of the table of a figure: when each began, its text, and microseconds by column, null for a gap.
function readTable(figure) {
  return [...figure.querySelectorAll("tbody tr")].map((row) => {
    const [time, ...cells] = row.cells;
    const values = cells.map((cell) => (cell.dataset.us === undefined ? null : Number(cell.dataset.us)));
    return { at: Number(row.dataset.at), time: time.textContent, values };
  });
}

function readMarks() {
  return [...document.querySelectorAll("[data-mark]")].map((mark) => ({
    kind: mark.dataset.mark,
    from: Number(mark.dataset.from) / 1000,
    until: Number(mark.dataset.until) / 1000,
  }));
}

// The keys of the legend have the colours and dashes of the theme.
function readKeys(figure) {
  return [...figure.querySelectorAll("[data-key]")].map((key) => {
    const style = getComputedStyle(key);
    const dash = style.strokeDasharray.split(",").map(Number.parseFloat).filter(Number.isFinite);
    return { fill: style.backgroundColor, stroke: style.stroke, dash };
  });
}

// Each layer with all below it, the highest first, so that the lower ones are drawn over it.
function stackedColumns(rows, count) {
  const heights = (row, index) => {
    const present = row.values.slice(0, index + 1).filter((value) => value !== null);
    return row.values.every((value) => value === null) ? null : present.reduce((sum, value) => sum + value, 0);
  };
  return Array.from({ length: count }, (_, back) => rows.map((row) => heights(row, count - 1 - back)));
}

function columns(rows, count) {
  return Array.from({ length: count }, (_, index) => rows.map((row) => row.values[index]));
}

function stackedSeries(keys) {
  const paths = uPlot.paths.bars({ size: [0.9, 60] });
  return [...keys].reverse().map((key) => ({ fill: key.fill, width: 0, paths, points: { show: false } }));
}

// A step between two gaps is no line: it is shown as a point, however narrow the steps are.
function lonelyPoints(plot, series, showsAll) {
  const values = plot.data[series];
  const isLonely = (index) => values[index] !== null && (values[index - 1] ?? values[index + 1] ?? null) === null;
  return showsAll ? null : [...values.keys()].filter(isLonely);
}

function lineSeries(keys) {
  const points = { size: 4, filter: lonelyPoints };
  return keys.map((key) => ({ stroke: key.stroke, width: 1.5, dash: key.dash, points: { ...points, fill: key.stroke } }));
}

function shadeBlackouts(plot, marks, colour) {
  const { ctx, bbox, scales } = plot;
  ctx.save();
  ctx.fillStyle = colour;
  for (const mark of marks.filter((mark) => mark.kind === "blackout")) {
    const [from, until] = [Math.max(mark.from, scales.x.min), Math.min(mark.until, scales.x.max)];
    if (from >= until) continue;
    const [left, right] = [plot.valToPos(from, "x", true), plot.valToPos(until, "x", true)];
    ctx.globalAlpha = 0.25;
    ctx.fillRect(left, bbox.top, Math.max(right - left, 1), bbox.height);
  }
  ctx.restore();
}

// A triangle for an event, a diamond for a change.
function drawMoments(plot, marks, colour) {
  const { ctx, bbox, scales } = plot;
  const size = 5 * devicePixelRatio;
  const shapes = { event: [[-1, -1], [1, -1], [0, 1]], change: [[0, -1], [1, 0], [0, 1], [-1, 0]] };
  ctx.save();
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  for (const { kind, from } of marks) {
    if (!shapes[kind] || from < scales.x.min || from > scales.x.max) continue;
    const [x, y] = [plot.valToPos(from, "x", true), bbox.top + size];
    ctx.beginPath();
    for (const [dx, dy] of shapes[kind]) ctx.lineTo(x + dx * size, y + dy * size);
    ctx.fill();
    ctx.globalAlpha = 0.5;
    ctx.setLineDash(kind === "change" ? [2 * devicePixelRatio, 3 * devicePixelRatio] : []);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  ctx.restore();
}

// The numbers under the pointer.
function showNumbers(figure, row) {
  const readout = figure.querySelector(".readout");
  const labels = [...figure.querySelectorAll(".legend li")].map((item) => item.textContent.trim());
  const parts = row?.values.map((value, index) => (value === null ? null : `${labels[index]} ${formatMicros(value)}`));
  const known = parts?.filter((part) => part !== null) ?? [];
  readout.textContent = row ? `${row.time}: ${known.length > 0 ? known.join(", ") : text("no run passed")}` : "\u00a0";
}

function drawChart(element, marks) {
  const figure = element.closest("figure");
  const rows = readTable(figure);
  const keys = readKeys(figure);
  const step = Number(element.dataset.step);
  const zone = element.dataset.zone;
  const isStacked = "stacked" in element.dataset;
  const [first, last] = [rows[0].at, rows[rows.length - 1].at + step];
  element.hidden = false;
  figure.querySelector(".readout").hidden = false;
  showNumbers(figure, null);
  const style = getComputedStyle(element);
  const axis = { stroke: style.color, grid: { stroke: style.borderTopColor, width: 1 }, ticks: { stroke: style.borderTopColor, width: 1 } };
  const values = isStacked ? stackedColumns(rows, keys.length) : columns(rows, keys.length);
  const options = {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isStacked } },
    scales: { x: { time: true, range: () => [first, last] }, y: { range: (_, __, most) => [0, (most || 1) * 1.15] } },
    axes: [
      { ...axis, size: 34, values: (_, splits, __, ___, width) => splits.map((at) => formatStep(at, width, zone)) },
      { ...axis, size: 66, values: (_, splits) => splits.map(formatMicros) },
    ],
    series: [{}, ...(isStacked ? stackedSeries(keys) : lineSeries(keys))],
    hooks: {
      drawClear: [(plot) => shadeBlackouts(plot, marks, style.color)],
      draw: [(plot) => drawMoments(plot, marks, getComputedStyle(document.body).color)],
      setCursor: [(plot) => showNumbers(figure, rows[plot.cursor.idx] ?? null)],
    },
  };
  // A step is shown at its middle.
  return new uPlot(options, [rows.map((row) => row.at + step / 2), ...values], element);
}

function keepDrawn(element) {
  const marks = readMarks();
  let plot = drawChart(element, marks);
  new ResizeObserver(() => {
    if (plot.width !== element.clientWidth) plot.setSize({ width: element.clientWidth, height: HEIGHT });
  }).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plot.destroy();
    plot = drawChart(element, marks);
  });
}

for (const element of document.querySelectorAll("[data-chart]")) keepDrawn(element);
