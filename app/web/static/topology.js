// The drawing of a topology, its recipe in words, and the neighbors of a chosen host.

import { get } from "./api.js";
import { drawing, h, later, s, show } from "./dom.js";
import { arrange, graphOf, hops, rings } from "./layout.js";
import { plural } from "./numbers.js";

export const SIZE = 560;
const ALL_LINKS = 64; // Nodes up to which every link is drawn.

/** Return the link as a curve between two places; `bend` moves one-way links apart. */
export function curve([x1, y1], [x2, y2], bend) {
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const [cx, cy] = [mx - (y2 - y1) * bend, my + (x2 - x1) * bend];
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}

export function nodeMark(node, [x, y], radius, attributes, label) {
  const mark = node.kind === "switch"
    ? s("rect", { x: x - radius * 1.1, y: y - radius * 0.8, width: radius * 2.2, height: radius * 1.6, rx: 2, class: "switch" })
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
  const isLarge = topology.nodes.length > ALL_LINKS;
  const state = { chosen: options.cut ? -1 : 0, by: isLarge && !options.cut && !shape.frames ? "hops" : "shape" };
  const place = h("div", { class: shape.frames ? "drawing strip" : "drawing square" });
  const modes = shape.frames ? [["shape", "Boxes and tiers"]]
    : [["shape", shape.name.startsWith("circle") ? "Circle" : "Grid"], ["hops", "Hops from a host"]];
  const buttons = modes.map(([by, label]) => h("button", { type: "button", onclick: () => { state.by = by; state.chosen = Math.max(0, state.chosen); draw(); } }, label));
  const choose = h("input", { type: "text", id: "chosen-node", autocomplete: "off", onchange: () => {
    const found = topology.nodes.findIndex((node) => String(node.id) === choose.value.trim());
    if (found >= 0) state.chosen = found;
    draw();
  } });
  function draw() {
    choose.value = state.chosen < 0 ? "" : String(topology.nodes[state.chosen].id);
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(modes[index][0] === state.by)));
    show(place, draft(graph, state, shape, options, (node) => { state.chosen = node; draw(); }));
    show(facts, state.chosen < 0 ? h("p", { class: "quiet" }, "The bottleneck is red. Click or type a node to see its links.") : about(graph, state.chosen, topology));
  }
  draw();
  return h("div", { class: "split" },
    h("div", {}, modes.length > 1 && h("div", { class: "switcher", role: "group", "aria-label": "Arrangement" }, buttons), place),
    h("div", {}, topology.recipe && recipeView(topology.recipe), h("div", { class: "inline choose" }, h("label", { for: "chosen-node" }, "Node"), choose), facts));
}

function draft(graph, state, shape, { cut }, choose) {
  const around = state.by === "hops" ? rings(graph, state.chosen) : null;
  const height = heightOf(shape);
  const at = ([x, y]) => [x * (SIZE - 44) + 22, y * (height - 44) + 22];
  const places = (around ? around.places : shape.places).map(at);
  const few = graph.nodes.length <= ALL_LINKS;
  const radius = few ? 12 : Math.max(2.5, 90 / Math.sqrt(graph.nodes.length));
  const isTree = (link) => around && around.parents[link.target] === link.source;
  const inside = cut && smaller(graph, cut.nodes);
  const crosses = (link) => {
    if (!cut) return false;
    const [from, to] = cut.isEntry ? [link.target, link.source] : [link.source, link.target];
    return cut.nodes.has(graph.nodes[from].id) && !cut.nodes.has(graph.nodes[to].id);
  };
  const shown = graph.links.filter((link) => few || link.source === state.chosen || isTree(link) || crosses(link));
  const rank = (link) => (crosses(link) ? 2 : link.source === state.chosen ? 1 : 0);
  const kind = (link) => ["link", ["", "from", "cut"][rank(link)], around && !isTree(link) && "aside"].filter(Boolean).join(" ");
  const length = (link) => Math.hypot(places[link.source][0] - places[link.target][0], places[link.source][1] - places[link.target][1]);
  const next = Math.min(...graph.links.map(length));
  // Links around a torus bend, so that they do not hide the links between neighbors.
  const bend = (link) => (!around && shape.name === "grid" && length(link) > 1.3 * next ? 0.16 : link.twoWay ? 0 : 0.08);
  shown.sort((one, other) => rank(one) - rank(other));
  return drawing(SIZE, height, `Graph of ${plural(graph.nodes.length, "node")} and ${plural(graph.links.length, "link")}`,
    around && Array.from({ length: around.farthest }, (_, hop) => s("circle", { class: "orbit", cx: SIZE / 2, cy: SIZE / 2, r: ((0.46 * (hop + 1)) / around.farthest) * (SIZE - 44) })),
    !around && shape.frames?.map((frame) => [frameOf(frame, at)]),
    shown.map((link) => s("path", { class: kind(link), d: curve(places[link.source], places[link.target], bend(link)) })),
    graph.nodes.map((node, index) => nodeMark(node, places[index], radius, {
      class: `node${index === state.chosen ? " chosen" : ""}${inside?.has(node.id) ? " inside" : ""}`, onclick: () => choose(index),
    }, few && labelOf(node))));
}

/** Fabrics are wide: boxes stand side by side. */
export const heightOf = (shape) => (shape.frames ? 0.68 * SIZE : SIZE);

function frameOf(frame, at) {
  const [x, y] = at([frame.x, frame.y]);
  const [right, bottom] = at([frame.x + frame.width, frame.y + frame.height]);
  return s("g", { class: "box" }, s("rect", { x, y, width: right - x, height: bottom - y, rx: 8 }), s("text", { x: x + 8, y: y + 16 }, frame.name));
}

/** Return the smaller side of a cut. */
function smaller(graph, cut) {
  if (cut.size * 2 <= graph.nodes.length) return cut;
  return new Set(graph.nodes.map((node) => node.id).filter((id) => !cut.has(id)));
}

/** "0.gpu12" -> "12", 7 -> "7"; longer names stand in the title of the node alone. */
export function labelOf(node) {
  const short = String(node.id).split(".").at(-1).replace(/^[a-z]+(?=\d+$)/, "");
  return short.length <= 3 ? short : null;
}

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

/** Return a recipe as a tree of operators and bases, each with its title. */
function recipeView(recipe) {
  const made = h("div", { class: "recipe" }, h("h3", {}, "How to make this graph"));
  const titles = get("/v1/families").then(({ items }) => new Map(items.map((item) => [item.name, item.title])), () => new Map());
  made.append(later(titles.then((found) => h("ul", { class: "tree" }, branch(parse(recipe), found)))));
  return made;
}

function branch(term, titles) {
  const plain = term.parts.filter((part) => !part.name);
  const below = term.parts.filter((part) => part.name);
  return h("li", {}, h("code", {}, plain.length ? `${term.name}(${plain.map((part) => part.text).join(", ")})` : term.name),
    titles.has(term.name) && h("span", { class: "quiet" }, ` ${titles.get(term.name)}`),
    below.length > 0 && h("ul", {}, below.map((part) => branch(part, titles))));
}

/** Parse a recipe: `Name(part, ...)`, where a part is a recipe, a number or a name. */
export function parse(recipe) {
  const tokens = recipe.match(/[()]|,|[^(),\s][^(),]*/g) || [];
  let at = 0;
  function term() {
    const text = tokens[at++].trim();
    if (tokens[at] !== "(") return /^[A-Z]/.test(text) ? { name: text, parts: [] } : { text };
    const parts = [];
    at += 1;
    while (at < tokens.length && tokens[at] !== ")") {
      if (tokens[at] === ",") at += 1;
      else parts.push(term());
    }
    at += 1;
    return { name: text, parts };
  }
  return term();
}
