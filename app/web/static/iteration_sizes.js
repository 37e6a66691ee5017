// The times of an iteration on other numbers of hosts and ports, as a sweep: charts and a table.

import { post } from "./api.js";
import { h, show } from "./dom.js";
import { plural, seconds, share } from "./numbers.js";
import { keywords, options, sameElsewhere } from "./same.js";
import { seriesChart } from "./series.js";
import { table } from "./table.js";
import { followed } from "./waiting.js";

const HOSTS = { name: "hosts", head: "hosts", few: "few hosts", many: "many", text: (count) => count.toLocaleString("en-US") };
const NETWORKS = { seconds: "best topology", torus_seconds: "torus", rings_seconds: "rings", switch_seconds: "ideal switch" };

/** Return a form for numbers of hosts and ports, and the place of its answer. */
export function otherSizes({ preset, model, nodes, degree, topology, graphs, ...template }) {
  const hosts = h("input", { type: "text", id: "sweep-nodes", value: `${nodes}, ${2 * nodes}, ${4 * nodes}`, autocomplete: "off" });
  const ports = h("input", { type: "text", id: "sweep-degrees", value: String(degree), autocomplete: "off" });
  const place = h("div", { "aria-live": "polite" });
  const ask = (event) => {
    event.preventDefault();
    const body = { kind: "iteration", jobs: [preset || model], nodes: listed(hosts.value), degrees: listed(ports.value), template };
    show(place, followed("Simulates an iteration for every size …", (extra) => post("/v1/sweeps", body, extra), (sweep) => answerOf(sweep, body)));
  };
  return h("div", {},
    h("form", { class: "inline", onsubmit: ask }, h("label", { for: "sweep-nodes" }, "Hosts"), hosts, h("label", { for: "sweep-degrees" }, "Ports of each host"), ports, h("button", {}, "Simulate these sizes")),
    h("p", { class: "quiet" }, "Numbers, or ranges such as 64:256:64. The rest of the question stays; each size gets the best topology of its own."), place);
}

/** Return the numbers and ranges of a text; the service names the rule of other texts. */
const listed = (text) => text.split(/[\s,]+/).filter(Boolean).map((one) => (/^\d{1,9}$/.test(one) ? Number(one) : one));

function answerOf(sweep, body) {
  const degrees = [...new Set(sweep.rows.map((row) => row.degree))];
  const charts = degrees.map((degree) => chartOf(degree, sweep.rows.filter((row) => row.degree === degree && row.seconds))).filter(Boolean);
  return [
    charts.length > 0 && h("div", { class: "charts one" }, charts),
    table("Iterations on other sizes", [
      { head: "hosts", number: true, cell: (row) => HOSTS.text(row.nodes) },
      { head: "ports", number: true, cell: (row) => row.degree },
      ...Object.entries(NETWORKS).map(([member, head]) => ({ head: member === "seconds" ? "iteration" : head, number: true, cell: (row) => (row[member] ? seconds(row[member]) : "–") })),
      { head: "exposed", number: true, cell: (row) => (row.seconds ? share(row.exposed_share) : "–") },
      { head: "limited by", cell: (row) => row.limit || "–" },
      { head: "best topology", cell: (row) => h("span", { class: row.problem ? "wrap error" : "wrap" }, row.problem || row.name) },
    ], sweep.rows),
    h("details", { class: "behind" }, h("summary", {}, "The same elsewhere"), sameElsewhere("/v1/sweeps", body, `client.sweep(${keywords(body)})`, commandOf(body),
      [["Sweep (JSON)", `/v1/sweeps/${sweep.id}`, "iterations.json", "every row, sweep/1"],
        ["Picture (SVG)", "/v1/plots/iterations", "iterations.svg", "a picture for a report", { sweep_id: sweep.id }]])),
  ];
}

/** Return the chart of the times over hosts, as a ratio to the fastest; none for a single size. */
function chartOf(degree, rows) {
  const sizes = rows.map((row) => row.nodes);
  if (sizes.length < 2) return null;
  const series = Object.entries(NETWORKS).map(([member, name]) => ({ name, times: rows.map((row) => row[member]) }));
  return h("div", {}, h("h3", {}, plural(degree, "port")), seriesChart(sizes, series, HOSTS));
}

function commandOf({ jobs: [job], nodes, degrees, template }) {
  const sizes = [...nodes.map((one) => `--nodes ${one}`), ...degrees.map((one) => `--degree ${one}`)].join(" ");
  return `topoloom sweep iteration ${typeof job === "string" ? job : "model.json"} ${sizes} ${options(template)}`.trim();
}
