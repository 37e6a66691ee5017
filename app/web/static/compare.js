// A comparison of stored designs side by side: a table, and their times over message size.

import { get, post } from "./api.js";
import { h, hidden, later } from "./dom.js";
import { bytes, digits, fraction, nameOf, percent, seconds } from "./numbers.js";
import { keywords, sameElsewhere } from "./same.js";
import { seriesChart } from "./series.js";
import { SIZES } from "./sizes.js";
import { table } from "./table.js";

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
    curves.length > 0 && [h("h2", {}, "Time over message size"), h("div", { class: "charts one" }, later(overSizes(curves), "Computes the times of other message sizes …"))],
    h("h2", {}, "The same elsewhere"), sameElsewhere("/v1/comparisons", { designs: ids }, `client.compare(${keywords({ designs: ids })})`, `topoloom compare designs ${ids.join(" ")}`));
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

/** Return the times of each design at all sizes of the chart. */
async function overSizes(designs) {
  const answers = await Promise.all(designs.map(({ request }) => post("/v1/designs/batch", { designs: SIZES.map((size) => ({ ...request, bytes: size })) }, { wait: 60 })));
  return seriesChart(SIZES, designs.map((design, index) => ({
    name: `${nameOf(design)} (${design.request.nodes}×${design.request.degree})`,
    times: answers[index].items.map((item) => item.design?.co_design.seconds),
  })));
}
