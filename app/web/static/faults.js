// The rate that is left after each single fault: a heat map of the graph, and a table, worst first.

import { post } from "./api.js";
import { h } from "./dom.js";
import { graphView } from "./graph.js";
import { arrange, graphOf } from "./layout.js";
import { digits, number, share } from "./numbers.js";
import { keywords, sameElsewhere } from "./same.js";
import { sceneOf } from "./scene.js";
import { nodeClasses, pairClasses } from "./symmetry.js";
import { table } from "./table.js";
import { followed } from "./waiting.js";

const LEVELS = 12; // Steps of the color of links.

/** Return the faults of a topology; the analysis is a job, whose progress stands in their place. */
export function faultsView(topology, collective) {
  const body = { kind: "fault-analysis", topology: { id: topology.id }, template: { collective } };
  return followed("Removes every part in turn …", (options) => post("/v1/sweeps", body, options), (sweep) => [worstFirst(topology, sweep.rows, collective), elsewhere(topology, body, sweep)]);
}

const left = (row) => number(row.left ?? 0);

function worstFirst(topology, rows, collective) {
  const sorted = [...rows].sort((one, other) => left(one) - left(other));
  const worst = sorted[0];
  const unit = topology.bandwidth_unit;
  return [
    h("p", { class: "lead" }, `The worst fault leaves ${share(left(worst))} of the rate: the loss of ${named(worst)}${worst.equivalent_faults > 1 ? `, or of ${worst.equivalent_faults - 1} equivalent ones` : ""}.`),
    h("div", { class: "split" }, heatMap(topology, sorted), table(`Rate of the ${collective} after each fault`, [
      { head: "lost", cell: named },
      { head: "parts", number: true, cell: (row) => row.equivalent_faults },
      { head: "left", number: true, cell: (row) => h("span", { title: row.left }, share(left(row))) },
      { head: unit === "GB/s" ? "GB/s" : "rate", number: true, cell: (row) => (row.algbw === undefined ? "–" : digits(row.algbw)) },
    ], sorted)),
    h("p", { class: "quiet" }, "Each rate is the optimum of the remaining fabric. Parts that a symmetry exchanges are one row."),
  ];
}

/** Return the graph with each part in the color of its loss. */
function heatMap(topology, rows) {
  const graph = graphOf(topology);
  const losses = lossesOf(graph, rows);
  const most = Math.max(...rows.map((row) => 1 - left(row))) || 1;
  const levels = Map.groupBy(graph.links.filter((link) => losses.link(link) > 0 && !(link.twoWay && link.source > link.target)), (link) => Math.ceil((LEVELS * losses.link(link)) / most));
  const drawn = graphView();
  const textOf = (node) => `${graph.nodes[node].id}: ${losses.nodes.has(node) ? `${share(1 - losses.nodes.get(node))} left without it` : "not analyzed"}`;
  const scene = sceneOf(graph, arrange(topology), { textOf });
  drawn.show(scene, {
    strokes: [...levels].map(([level, links]) => ({ paths: scene.pathsOf(links), tone: "warn", width: graph.links.length > 500 ? 1 : 2.2, opacity: level / LEVELS })),
    fills: new Map([...losses.nodes].map(([node, loss]) => [node, { tone: "warn", opacity: Math.max(0, 0.9 * loss) / most }])),
    title: "Heat map of the loss by each fault",
  });
  const rest = losses.unplaced ? ` ${losses.unplaced} equivalent parts have no color.` : "";
  return h("div", {}, drawn.element, h("p", { class: "quiet caption" }, `Full color: ${share(1 - most)} of the rate is left after the loss of this part. No color: nothing is lost.${rest}`));
}

/** Return the loss of each node and link: of the part of a row, and of all parts that are equivalent. */
function lossesOf(graph, rows) {
  const names = new Map(graph.nodes.map((node, index) => [node.id, index]));
  const nodeClass = nodeClasses(graph);
  const keyOf = ({ source, target }) => [source, target].sort((one, other) => one - other).join(" ");
  const pairs = [...new Map(graph.links.map((link) => [keyOf(link), link]))];
  const classOf = new Map(pairClasses(graph, pairs.map(([, link]) => [link.source, link.target])).map((name, at) => [pairs[at][0], name]));
  const alike = Map.groupBy(classOf.keys(), (key) => classOf.get(key));
  const found = { nodes: new Map(), links: new Map(), unplaced: 0, link: (link) => found.links.get(keyOf(link)) ?? 0 };
  for (const row of rows) {
    const isLink = row.part === "link";
    const own = isLink ? keyOf({ source: names.get(row.link[0]), target: names.get(row.link[1]) }) : names.get(row.node ?? row.host);
    const likely = isLink ? alike.get(classOf.get(own)) || []
      : graph.nodes.map((_, node) => node).filter((node) => nodeClass[node] === nodeClass[own]);
    const sure = likely.length === row.equivalent_faults ? likely : [own];
    found.unplaced += row.equivalent_faults - sure.length;
    for (const one of sure) found[isLink ? "links" : "nodes"].set(one, 1 - left(row));
  }
  return found;
}

function elsewhere(topology, body, sweep) {
  return h("details", { class: "behind" }, h("summary", {}, "The same elsewhere"),
    sameElsewhere("/v1/sweeps", body, `client.sweep(${keywords(body)})`, `topoloom faults ${topology.id.slice(0, 16)} --collective ${body.template.collective}`,
      [["Faults (JSON)", `/v1/sweeps/${sweep.id}`, "faults.json", "every row with its exact rate, sweep/1"],
        ["Picture (SVG)", "/v1/plots/fault-analysis", "faults.svg", "a picture for a report", { sweep_id: sweep.id }]]));
}

function named(row) {
  const ends = row[row.part] ?? row.node ?? row.host;
  return `${row.part} ${Array.isArray(ends) ? ends.join(" – ") : ends}`;
}
