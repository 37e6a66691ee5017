// Axes, marks and labels of charts in SVG.  A chart is drawn for the width that it has.

import { drawing, h, s, show } from "./dom.js";
import { table } from "./table.js";

const CHARACTER = 6.6; // Width of a character of the labels, in pixels.

/** Return a function from a domain to pixels; `log` for a logarithmic axis. */
export function scale([from, to], [start, end], log = false) {
  const at = log ? Math.log : (value) => value;
  const span = at(to) - at(from) || 1;
  return (value) => start + ((at(value) - at(from)) / span) * (end - start);
}

/** Return round values of a linear axis. */
export function ticks(from, to, count = 5) {
  const raw = (to - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let value = Math.ceil(from / step) * step; value <= to * (1 + 1e-9) + 1e-12; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

/** Return round values of a logarithmic axis: powers of ten, with 2 and 5 on a short axis. */
export function logTicks(from, to) {
  const first = Math.floor(Math.log10(from));
  const powers = Array.from({ length: Math.ceil(Math.log10(to)) - first + 1 }, (_, index) => 10 ** (first + index));
  const factors = to / from > 300 ? [1] : to / from > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  return powers.flatMap((power) => factors.map((factor) => Number((factor * power).toPrecision(3)))).filter((value) => value >= from && value <= to);
}

/** Return a place that is drawn for the width that it has, and a function that draws it again. */
export function responsive(height, draw) {
  const place = h("div", { class: "drawing" });
  place.style.minHeight = `${height}px`;
  const redraw = () => place.clientWidth && show(place, draw(place.clientWidth, height));
  new ResizeObserver(redraw).observe(place);
  return { place, redraw };
}

/** Return a chart: a title that states its message, the drawing, and its table on demand. */
export function chart(title, draw, behind, height = 300) {
  const { place, redraw } = responsive(height, draw);
  const figure = h("figure", { class: "chart" }, h("h2", { class: "title" }, title), place,
    h("details", { class: "behind" }, h("summary", {}, "Table"), table(title, behind.columns, behind.rows)));
  return { figure, redraw };
}

const APART = 14; // Least pixels between two labels of the y axis.

/** Return the ticks whose labels do not touch the label below. */
function spaced(ticks, y) {
  let last = Infinity;
  return ticks.filter(([value]) => {
    const free = last - y(value) >= APART;
    if (free) last = y(value);
    return free;
  });
}

/** Return axes with grid lines, ticks `[value, label]` and names. */
export function axes(width, height, box, { x, y, xTicks, yTicks, xName, yName, title }, ...marks) {
  const rows = spaced(yTicks, y);
  return drawing(width, height, title,
    s("g", { class: "grid" },
      rows.map(([value]) => s("line", { x1: box.left, x2: box.right, y1: y(value), y2: y(value) }))),
    s("g", { class: "axis" },
      xTicks.map(([value, label]) => s("text", { x: x(value), y: box.bottom + 18, "text-anchor": "middle" }, label)),
      rows.map(([value, label]) => s("text", { x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, label)),
      s("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      s("text", { x: box.right, y: box.bottom + 36, "text-anchor": "end", class: "name" }, xName),
      s("text", { x: box.left - 8, y: box.top - 12, "text-anchor": "start", class: "name" }, yName)),
    marks);
}

/** Move labels `{y, ...}` apart vertically, `gap` pixels at least, between two edges. */
export function apart(labels, gap, top, bottom) {
  const sorted = [...labels].sort((one, other) => one.y - other.y);
  let least = top;
  for (const label of sorted) {
    label.y = Math.max(label.y, least);
    least = label.y + gap;
  }
  let most = bottom;
  for (const label of sorted.reverse()) {
    label.y = Math.min(label.y, most);
    most = label.y - gap;
  }
  return labels;
}

/** Return the label of an axis: round values without zeros at the end. */
export const tick = (value) => String(Number(value.toPrecision(3)));

export function path(points) {
  return points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** Return the beginning of a text that fits into a width. */
export function fit(text, width) {
  const most = Math.max(4, Math.floor(width / CHARACTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
