// Times of several things over message size or hosts, as a ratio to the fastest of them.

import { apart, axes, chart, fit, path, scale } from "./charts.js";
import { s } from "./dom.js";
import { bytes, seconds } from "./numbers.js";

const STYLES = 6; // Styles of curves; the style sheet has a color and a dash of each.
const MOST = 20; // Greatest ratio of the chart.

const MESSAGES = { name: "message size", head: "size", few: "small messages", many: "large ones", text: bytes };

/** Return the chart of `{name, times}`, with a time for each size, or none; `axis` names the sizes. */
export function seriesChart(sizes, series, axis = MESSAGES) {
  const least = sizes.map((_, at) => Math.min(...series.map((one) => one.times[at]).filter(Boolean)));
  const leaders = least.map((time, at) => series.find((one) => one.times[at] === time)?.name).filter(Boolean).map((name) => name.split(" (")[0]);
  const title = new Set(leaders).size === 1 ? `${leaders[0]} is fastest at every size` : `${leaders[0]} is fastest for ${axis.few}, ${leaders.at(-1)} for ${axis.many}`;
  const draw = (width, height) => {
    const right = width < 520 ? 16 : 230;
    const box = { left: 44, right: width - right, top: 34, bottom: height - 44 };
    const ratio = (one, at) => Math.min(MOST, one.times[at] / least[at]);
    const most = Math.max(1.1, ...series.flatMap((one) => sizes.map((_, at) => ratio(one, at)).filter(Boolean)));
    const x = scale([sizes[0], sizes.at(-1)], [box.left, box.right], true);
    const y = scale([0.97, most * 1.05], [box.bottom, box.top], true);
    const points = (one) => sizes.map((size, at) => [x(size), y(ratio(one, at))]).filter(([, place]) => !Number.isNaN(place));
    const styled = series.map((one, index) => ({ ...one, style: `series-${index % STYLES}`, points: points(one) })).filter((one) => one.points.length);
    const ends = apart(styled.map((one) => ({ ...one, y: one.points.at(-1)[1] + 4 })), 16, box.top, box.bottom);
    return axes(width, height, box, {
      x, y, title, xName: axis.name, yName: "time ÷ the fastest of these",
      xTicks: sizes.filter((_, index) => index % Math.ceil(sizes.length / (width < 520 ? 3 : 6)) === 0).map((size) => [size, axis.text(size)]),
      yTicks: [1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20].filter((value) => value <= most * 1.05).map((value) => [value, String(value)]),
    },
    styled.map((one) => s("path", { class: `series ${one.style}`, d: path(one.points) }, s("title", {}, one.name))),
    // On a phone the names stand above the ends of their lines.
    ends.map((end) => (right > 16 ? s("text", { class: end.style, x: box.right + 10, y: end.y }, fit(end.name, right - 12))
      : s("text", { class: end.style, x: box.right, y: end.y - 10, "text-anchor": "end" }, fit(end.name, width / 2)))));
  };
  return chart(title, draw, { columns: [
    { head: axis.head, number: true, cell: (at) => axis.text(sizes[at]) },
    ...series.map((one) => ({ head: one.name, number: true, cell: (at) => (one.times[at] ? seconds(one.times[at]) : "–") })),
  ], rows: sizes.map((_, at) => at) }).figure;
}
