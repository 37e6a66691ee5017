// A comparison of stored designs side by side: a table, and their times over message size.

import { get, post } from "./api.js";
import { apart, axes, chart, fit, path, scale } from "./charts.js";
import { h, hidden, later, s } from "./dom.js";
import { bytes, digits, fraction, nameOf, percent, seconds } from "./numbers.js";
import { SIZES } from "./sizes.js";
import { table } from "./table.js";

const SERIES = 6; // Styles of curves; the style sheet has a color and a dash of each.

/** Return the comparison of the designs of the address, or of the pinned designs. */
export async function comparison(values) {
  const ids = values.designs ? values.designs.split(/[\s,]+/).filter(Boolean) : (await get("/v1/designs?pinned=true&limit=20")).items.map((item) => item.id);
  if (ids.length < 2) return h("p", { class: "quiet" }, "A comparison needs two designs. ", h("a", { href: "#/library" }, "Choose or pin them"), " in the list of stored designs.");
  const { designs, fastest } = await post("/v1/comparisons", { designs: ids });
  const best = designs.find((design) => design.id === fastest) || designs[0];
  const curves = [...new Map(designs.filter((design) => design.request.collective).map((design) => [JSON.stringify({ ...design.request, bytes: 0 }), design])).values()];
  return h("div", {},
    h("p", { class: "lead" }, h("strong", { class: "accent" }, nameOf(best)), ` on ${best.request.nodes.toLocaleString("en-US")} hosts is fastest: ${seconds(best.seconds)}.`),
    sideBySide(designs, fastest),
    curves.length > 0 && [h("h2", {}, "Time over message size"), h("div", { class: "charts one" }, later(overSizes(curves), "Computes the times of other message sizes …"))]);
}

function sideBySide(designs, fastest) {
  const rows = [
    ["hosts", ({ request }) => request.nodes.toLocaleString("en-US")],
    ["ports of each host", ({ request }) => request.degree],
    ["port direction", ({ request }) => (request.links === "bidirectional" ? "two-way" : "one-way")],
    ["speed of a host", ({ request }) => `${digits(request.node_gbps ?? request.port_gbps * request.degree)}\u00a0Gbit/s`],
    ["latency of a hop", ({ request }) => seconds(request.alpha_us / 1e6)],
    ["workload", ({ request }) => (request.collective ? `${request.collective} of ${bytes(request.bytes)}` : request.preset || "several collectives")],
    ["time", (one) => h("strong", { class: one.id === fastest ? "accent" : "" }, seconds(one.seconds))],
    ["above the lower bound", (one) => percent(one.seconds / one.bound_seconds)],
    ["steps of one pass", (one) => one.steps],
    ["T_B of one pass", (one) => h("span", { title: one.bandwidth }, fraction(one.bandwidth))],
    ["fastest baseline", (one) => one.baseline || "–"],
    ["baseline takes", (one) => (one.speed_up ? `${digits(one.speed_up)} × as long` : "–")],
  ];
  return table("Designs side by side", [
    { head: hidden("property"), cell: ([name]) => name },
    ...designs.map((design) => ({ head: h("a", { href: `#/design?id=${design.id.slice(0, 16)}` }, nameOf(design)), number: true, cell: ([, value]) => value(design) })),
  ], rows);
}

/** Return the times of each design at all sizes of the chart, as a ratio to the fastest of them. */
async function overSizes(designs) {
  const answers = await Promise.all(designs.map(({ request }) => post("/v1/designs/batch", { designs: SIZES.map((size) => ({ ...request, bytes: size })) }, { wait: 60 })));
  const series = designs.map((design, index) => ({
    name: `${nameOf(design)} (${design.request.nodes}×${design.request.degree})`,
    times: answers[index].items.map((item) => item.design?.co_design.seconds),
    style: `series-${index % SERIES}`,
  }));
  const rows = SIZES.map((size, at) => ({ size, times: series.map((one) => one.times[at]), least: Math.min(...series.map((one) => one.times[at]).filter(Boolean)) }));
  const leaders = rows.map((row) => series[row.times.indexOf(row.least)].name.split(" ")[0]);
  const title = new Set(leaders).size === 1 ? `${leaders[0]} is fastest at every size` : `${leaders[0]} is fastest for small messages, ${leaders.at(-1)} for large ones`;
  const draw = (width, height) => {
    const right = width < 520 ? 16 : 230;
    const box = { left: 44, right: width - right, top: 34, bottom: height - 44 };
    const most = Math.max(1.1, ...rows.flatMap((row) => row.times.filter(Boolean).map((time) => time / row.least)));
    const x = scale([SIZES[0], SIZES.at(-1)], [box.left, box.right], true);
    const y = scale([0.97, most * 1.05], [box.bottom, box.top], true);
    const ends = apart(series.map((one) => ({ ...one, y: y(one.times.at(-1) / rows.at(-1).least) + 4 })), 16, box.top, box.bottom);
    return axes(width, height, box, {
      x, y, title, xName: "message size", yName: "time ÷ the fastest of these",
      xTicks: SIZES.filter((_, index) => index % (width < 520 ? 5 : 2) === 0).map((size) => [size, bytes(size)]),
      yTicks: [1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50].filter((value) => value <= most * 1.05).map((value) => [value, String(value)]),
    },
    series.map((one) => s("path", { class: `series ${one.style}`, d: path(rows.map((row, at) => [row, one.times[at]]).filter(([, time]) => time).map(([row, time]) => [x(row.size), y(time / row.least)])) }, s("title", {}, one.name))),
    right > 16 && ends.map((end) => s("text", { class: end.style, x: box.right + 10, y: end.y }, fit(end.name, right - 12))));
  };
  return chart(title, draw, { columns: [
    { head: "size", number: true, cell: (row) => bytes(row.size) },
    ...series.map((one, at) => ({ head: one.name, number: true, cell: (row) => (row.times[at] ? seconds(row.times[at]) : "–") })),
  ], rows }).figure;
}
