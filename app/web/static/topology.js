// The drawing of a topology, its recipe in words, and the neighbors of a chosen host.

import { h, show } from "./dom.js";
import { graphView } from "./graph.js";
import { arrange, graphOf, hops } from "./layout.js";
import { plural } from "./numbers.js";
import { recipeView } from "./recipes.js";
import { isLarge, sceneOf } from "./scene.js";

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
  return h("div", { class: "split" },
    h("div", {}, modes.length > 1 && h("div", { class: "switcher", role: "group", "aria-label": "Arrangement" }, buttons), drawn.element, caption),
    h("div", {}, topology.recipe && recipeView(topology.recipe), options.about, h("div", { class: "inline choose" }, h("label", { for: "chosen-node" }, "Node"), choose), facts));
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

function about(graph, chosen, topology) {
  const distance = hops(graph.out, chosen);
  const reached = distance.filter((hop) => Number.isFinite(hop) && hop > 0);
  const counts = Array.from({ length: Math.max(0, ...reached) }, (_, hop) => reached.filter((one) => one === hop + 1).length);
  const name = (node) => String(graph.nodes[node].id);
  const next = [...new Set(graph.out[chosen])];
  return [
    h("p", {}, `Sends to ${next.slice(0, 16).map(name).join(", ")}${next.length > 16 ? " …" : ""}.`),
    h("p", {}, `Reaches ${counts.map((count, hop) => `${count} at ${plural(hop + 1, "hop")}`).join(", ")}.`),
    h("p", { class: "quiet" }, `${plural(graph.nodes.length, "node")}, ${plural(graph.links.length, "one-way link")}${topology.bandwidth_unit === "link" ? "" : `, capacities in ${topology.bandwidth_unit}`}. Click or type a node to see its links.`),
  ];
}
