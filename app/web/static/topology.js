// The drawing of a topology, its recipe in words, and the neighbors of a chosen host.

import { h, show } from "./dom.js";
import { graphView } from "./graph.js";
import { arrange, graphOf, hops } from "./layout.js";
import { digits, number, plural } from "./numbers.js";
import { recipeView } from "./recipes.js";
import { isLarge, sceneOf } from "./scene.js";
import { table } from "./table.js";

/**
 * Return the view of a topology: drawing, recipe, facts.  `options.cut` has the `nodes` of a
 * bottleneck, and whether its links enter them (`isEntry`) or leave them; `options.about` has texts.
 */
export function topologyView(topology, options = {}) {
  const graph = graphOf(topology);
  const facts = h("div", { class: "facts", "aria-live": "polite" });
  const shape = arrange(topology);
  const { inside, crossing } = sidesOf(graph, options.cut);
  const state = { chosen: options.cut ? -1 : 0, by: "shape" };
  const caption = h("p", { class: "quiet caption" });
  const drawn = graphView((node) => { state.chosen = node; draw(); });
  const modes = [["shape", shape.frames ? "Boxes and tiers" : shape.name === "grid" ? "Grid" : "Circle"],
    !shape.frames && ["hops", "Hops from a host"], isLarge(graph) && ["matrix", "Matrix"]].filter(Boolean);
  const buttons = modes.map(([by, label]) => h("button", { type: "button", onclick: () => { state.by = by; draw(); } }, label));
  const choose = h("input", { type: "text", id: "chosen-node", autocomplete: "off", onchange: () => {
    const found = topology.nodes.findIndex((node) => String(node.id) === choose.value.trim());
    if (found >= 0) state.chosen = found;
    draw();
  } });
  function draw() {
    if (state.by === "hops") state.chosen = Math.max(0, state.chosen);
    choose.value = state.chosen < 0 ? "" : String(topology.nodes[state.chosen].id);
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(modes[index][0] === state.by)));
    const scene = sceneOf(graph, shape, state);
    drawn.show(scene, {
      chosen: state.chosen, strokes: [{ paths: scene.pathsOf(crossing), tone: "warn", width: 2.4 }], fills: inside,
      title: crossing.length ? `${plural(crossing.length, "link")} cross the bottleneck` : "",
    });
    show(caption, captionOf(state.by, shape, graph));
    show(facts, state.chosen < 0 ? h("p", { class: "quiet" }, "The bottleneck is red. Click or type a node to see its links.") : about(graph, state.chosen, topology));
  }
  draw();
  return [h("div", { class: "split" },
    h("div", {}, modes.length > 1 && h("div", { class: "switcher", role: "group", "aria-label": "Arrangement" }, buttons), drawn.element, caption),
    h("div", {}, topology.recipe && recipeView(topology.recipe), options.about, h("div", { class: "inline choose" }, h("label", { for: "chosen-node" }, "Node"), choose), facts)), linkTable(graph, topology)];
}

/** Return the least and the greatest latency of links, in words; nothing if the topology states none. */
function latencyOf(links) {
  const known = [...new Set(links.map((link) => link.latency))].filter((value) => value !== undefined).sort((one, other) => number(one) - number(other));
  const said = [...new Set([known[0], known.at(-1)])].map((value) => digits(number(value)));
  return known.length ? `latency ${said.join(" to ")}\u00a0µs` : "";
}

/** Return all links with their capacities and latencies, made when they are first opened. */
function linkTable(graph, { bandwidth_unit: unit }) {
  const name = (node) => String(graph.nodes[node].id);
  const behind = h("details", { class: "behind", ontoggle: () => {
    if (behind.childElementCount > 1) return;
    behind.append(table("Links of the topology", [
      { head: "from", cell: (link) => name(link.source) },
      { head: "to", cell: (link) => name(link.target) },
      { head: `capacity, ${unit === "link" ? "links" : unit}`, number: true, cell: (link) => h("span", { title: link.capacity }, digits(number(link.capacity))) },
      latencyOf(graph.links) && { head: "latency, µs", number: true, cell: (link) => h("span", { title: link.latency }, digits(number(link.latency))) },
    ].filter(Boolean), graph.links));
  } }, h("summary", {}, "Table of the links"));
  return behind;
}

function captionOf(by, shape, graph) {
  if (by === "matrix") return "A dot in row a and column b is a link from node a to node b.";
  if (by === "hops") return "Each ring has the nodes at one more hop; lines are shortest paths from the chosen node.";
  if (!isLarge(graph)) return "Point at a node to see its links.";
  if (shape.spans?.length > 1) return `${shape.levels[0].length} blocks of ${plural(shape.spans[0], "node")}, as the recipe makes them. Links between the same blocks run together.`;
  return "All links, faint. Point at a node to see its links.";
}

/** Return marks of the nodes on the smaller side of a cut, and the links that cross the cut. */
function sidesOf(graph, cut) {
  if (!cut) return { inside: new Map(), crossing: [] };
  const has = (node) => cut.nodes.has(graph.nodes[node].id);
  const isSmall = cut.nodes.size * 2 <= graph.nodes.length;
  const ends = (link) => (cut.isEntry ? [link.target, link.source] : [link.source, link.target]);
  const crosses = ([from, to]) => has(from) && !has(to);
  return {
    inside: new Map(graph.nodes.map((_, node) => node).filter((node) => has(node) === isSmall).map((node) => [node, { tone: "hurt" }])),
    crossing: graph.links.filter((link) => crosses(ends(link))),
  };
}

/** Return the capacity and latency of a link, if the topology states them. */
function rateOf(graph, source, target, { bandwidth_unit: unit }) {
  const links = graph.links.filter((link) => link.source === source && link.target === target);
  const capacity = links.reduce((sum, link) => sum + number(link.capacity), 0);
  const told = [unit === "link" ? "" : `${digits(capacity)}\u00a0${unit}`, latencyOf(links)].filter(Boolean).join(", ");
  return told && ` (${told})`;
}

function about(graph, chosen, topology) {
  const distance = hops(graph.out, chosen);
  const reached = distance.filter((hop) => Number.isFinite(hop) && hop > 0);
  const counts = Array.from({ length: Math.max(0, ...reached) }, (_, hop) => reached.filter((one) => one === hop + 1).length);
  const name = (node) => String(graph.nodes[node].id);
  const next = [...new Set(graph.out[chosen])];
  return [
    h("p", {}, `Sends to ${next.slice(0, 16).map((node) => name(node) + rateOf(graph, chosen, node, topology)).join(", ")}${next.length > 16 ? " …" : ""}.`),
    h("p", {}, `Reaches ${counts.map((count, hop) => `${count} at ${plural(hop + 1, "hop")}`).join(", ")}.`),
    h("p", { class: "quiet" }, `${[plural(graph.nodes.length, "node"), plural(graph.links.length, "one-way link"), topology.bandwidth_unit === "link" ? "" : `capacities in ${topology.bandwidth_unit}`, latencyOf(graph.links)].filter(Boolean).join(", ")}. Click or type a node to see its links.`),
  ];
}
