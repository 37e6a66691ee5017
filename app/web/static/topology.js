// The drawing of a topology, its recipe in words, and the neighbors of a chosen host.

import { drawing, h, s, show } from "./dom.js";
import { graphCanvas, largeScene } from "./graph.js";
import { SIZE, arrange, graphOf, heightOf, hops, rings } from "./layout.js";
import { plural } from "./numbers.js";
import { recipeView } from "./recipes.js";

const ALL_LINKS = 64; // Nodes up to which every link is drawn.

/** Return the link as a curve between two places; `bend` moves one-way links apart. */
export function curve([x1, y1], [x2, y2], bend) {
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const [cx, cy] = [mx - (y2 - y1) * bend, my + (x2 - x1) * bend];
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}

export function nodeMark(node, [x, y], radius, attributes, label) {
  const half = Math.max(radius * 1.1, (label?.length || 0) * 3.2 + 4);
  const mark = node.kind === "switch"
    ? s("rect", { x: x - half, y: y - radius * 0.8, width: 2 * half, height: radius * 1.6, rx: 2, class: "switch" })
    : s("circle", { cx: x, cy: y, r: radius, class: "host" });
  return s("g", attributes, s("title", {}, String(node.id)), mark, label && s("text", { x, y: y + 4, "text-anchor": "middle" }, label));
}

/**
 * Return the view of a topology: drawing, recipe, facts.  `options.cut` has the `nodes` of a
 * bottleneck, and whether its links enter them (`isEntry`) or leave them.
 */
export function topologyView(topology, options = {}) {
  const graph = graphOf(topology);
  const facts = h("div", { class: "facts", "aria-live": "polite" });
  const shape = arrange(topology);
  const sides = sidesOf(graph, options.cut);
  const isLarge = topology.nodes.length > ALL_LINKS;
  const state = { chosen: options.cut ? -1 : 0, by: "shape" };
  const place = h("div", { class: shape.frames ? "drawing strip" : "drawing square" });
  const caption = h("p", { class: "quiet caption" });
  const modes = [["shape", shape.frames ? "Boxes and tiers" : shape.name === "grid" ? "Grid" : "Circle"],
    !shape.frames && ["hops", "Hops from a host"], isLarge && ["matrix", "Matrix"]].filter(Boolean);
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
    const onChoose = (node) => { state.chosen = node; draw(); };
    show(place, isLarge ? graphCanvas(largeScene(graph, shape, state, sides), state.chosen, onChoose) : draft(graph, state, shape, sides, onChoose));
    show(caption, isLarge && captionOf(state.by, shape));
    show(facts, state.chosen < 0 ? h("p", { class: "quiet" }, "The bottleneck is red. Click or type a node to see its links.") : about(graph, state.chosen, topology));
  }
  draw();
  return h("div", { class: "split" },
    h("div", {}, modes.length > 1 && h("div", { class: "switcher", role: "group", "aria-label": "Arrangement" }, buttons), place, caption),
    h("div", {}, topology.recipe && recipeView(topology.recipe), h("div", { class: "inline choose" }, h("label", { for: "chosen-node" }, "Node"), choose), facts));
}

function captionOf(by, shape) {
  if (by === "matrix") return "A dot in row a and column b is a link from node a to node b.";
  if (by === "hops") return "Each ring has the nodes at one more hop; lines are shortest paths from the chosen node.";
  if (shape.spans?.length > 1) return `${shape.levels[0].length} blocks of ${plural(shape.spans[0], "node")}, as the recipe makes them. Links between the same blocks run together.`;
  return "All links, faint. Point at a node to see its links.";
}

/** Return the nodes of the smaller side of a cut, and whether a link crosses the cut. */
function sidesOf(graph, cut) {
  if (!cut) return { inside: new Set(), crosses: () => false };
  const isSmall = cut.nodes.size * 2 <= graph.nodes.length;
  const ends = (link) => (cut.isEntry ? [link.target, link.source] : [link.source, link.target]);
  return {
    inside: new Set(graph.nodes.map((node) => node.id).filter((id) => cut.nodes.has(id) === isSmall)),
    crosses: (link) => {
      const [from, to] = ends(link).map((node) => cut.nodes.has(graph.nodes[node].id));
      return from && !to;
    },
  };
}

function draft(graph, state, shape, { inside, crosses }, choose) {
  const around = state.by === "hops" ? rings(graph, state.chosen) : null;
  const height = heightOf(shape);
  const at = ([x, y]) => [x * (SIZE - 44) + 22, y * (height - 44) + 22];
  const places = (around ? around.places : shape.places).map(at);
  const isTree = (link) => around && around.parents[link.target] === link.source;
  const rank = (link) => (crosses(link) ? 2 : link.source === state.chosen ? 1 : 0);
  const kind = (link) => ["link", ["", "from", "cut"][rank(link)], around && !isTree(link) && "aside"].filter(Boolean).join(" ");
  const length = (link) => Math.hypot(places[link.source][0] - places[link.target][0], places[link.source][1] - places[link.target][1]);
  const next = Math.min(...graph.links.map(length));
  // Links around a torus bend, so that they do not hide the links between neighbors.
  const bend = (link) => (!around && shape.name === "grid" && length(link) > 1.3 * next ? 0.16 : link.twoWay ? 0 : 0.08);
  const shown = [...graph.links].sort((one, other) => rank(one) - rank(other));
  return drawing(SIZE, height, `Graph of ${plural(graph.nodes.length, "node")} and ${plural(graph.links.length, "link")}`,
    around && Array.from({ length: around.farthest }, (_, hop) => s("circle", { class: "orbit", cx: SIZE / 2, cy: SIZE / 2, r: ((0.46 * (hop + 1)) / around.farthest) * (SIZE - 44) })),
    !around && shape.frames?.map((frame) => [frameOf(frame, at)]),
    shown.map((link) => s("path", { class: kind(link), d: curve(places[link.source], places[link.target], bend(link)) })),
    graph.nodes.map((node, index) => nodeMark(node, places[index], 12, {
      class: `node${index === state.chosen ? " chosen" : ""}${inside.has(node.id) ? " inside" : ""}`, onclick: () => choose(index),
    }, labelOf(node, isRoomy(graph)))));
}

function frameOf(frame, at) {
  const [x, y] = at([frame.x, frame.y]);
  const [right, bottom] = at([frame.x + frame.width, frame.y + frame.height]);
  return s("g", { class: "box" }, s("rect", { x, y, width: right - x, height: bottom - y, rx: 8 }), s("text", { x: x + 8, y: y + 16 }, frame.name));
}

/** Return the label of a node: "0.gpu12" -> "12", 7 -> "7"; longer names stand in its title alone. */
export function labelOf(node, roomy = false) {
  const own = String(node.id).split(".").at(-1);
  if (roomy && node.kind === "switch") return own.slice(0, 9);
  const short = own.replace(/^[a-z]+(?=\d+$)/, "");
  return short.length <= 3 ? short : null;
}

/** Return whether the switches are few enough to have their names. */
export const isRoomy = (graph) => graph.nodes.filter((node) => node.kind === "switch").length <= 8;

function about(graph, chosen, topology) {
  const distance = hops(graph, chosen);
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
