// The geometry of a drawn graph: places of nodes, paths of links, frames and names.

import { SIZE, bundled, heightOf, rings } from "./layout.js";
import { plural } from "./numbers.js";

const FEW = 64; // Nodes up to which links are drawn one by one, without bundles.
const MARGIN = 22;
const NEAR = 14; // Distance from the pointer within which a node is found.
const NAMED = 8; // Switches up to which each has its whole name.

export const isLarge = (graph) => graph.nodes.length > FEW;

/**
 * Return the scene of a graph in an arrangement: "shape", "hops" from a node, or "matrix".  `apart`
 * bends the two directions of a link away from each other; `inward` counts the hops to the node.
 */
export function sceneOf(graph, shape, { by = "shape", chosen = 0, apart = false, inward = false, textOf = (node) => String(graph.nodes[node].id) } = {}) {
  const scene = { graph, textOf, size: [SIZE, heightOf(shape)], title: `Graph of ${plural(graph.nodes.length, "node")} and ${plural(graph.links.length, "link")}` };
  return by === "matrix" ? matrix(scene, shape) : drawn(scene, shape, by === "hops" ? { ...rings(graph, chosen, inward), inward } : null, apart);
}

function drawn(scene, shape, around, apart) {
  const { graph, size } = scene;
  const at = ([x, y]) => [x * (size[0] - 2 * MARGIN) + MARGIN, y * (size[1] - 2 * MARGIN) + MARGIN];
  const places = (around ? around.places : shape.places).map(at);
  const step = closest(places);
  const isGrid = !around && shape.name === "grid";
  const radius = Math.max(1.2, Math.min(12, (isGrid ? 0.3 : 0.42) * step));
  const few = !isLarge(graph);
  const roomy = graph.nodes.filter((node) => node.kind === "switch").length <= NAMED;
  const bends = (link) => {
    const [from, to] = [places[link.source], places[link.target]];
    if (isGrid) return bow(from, to, step, radius);
    if (!few) return around ? null : bundled(shape, link.source, link.target)?.map(at);
    return aside(from, to, link.twoWay ? (apart ? 0.06 : 0) : 0.08);
  };
  const line = (link) => {
    const [[x1, y1], [x2, y2]] = [places[link.source], places[link.target]];
    const bend = bends(link);
    return `M${x1.toFixed(1)} ${y1.toFixed(1)}${bend ? `C${bend.flat().map((value) => value.toFixed(1)).join(" ")} ` : "L"}${x2.toFixed(1)} ${y2.toFixed(1)}`;
  };
  const pathsOf = (links) => links.map(line);
  const isTree = ({ source, target }) => (around.inward ? around.parents[source] === target : around.parents[target] === source);
  const frames = around ? [] : shape.frames || [];
  const faint = few ? 0.45 : isGrid ? 0.4 : Math.max(0.1, Math.min(0.5, 300 / graph.links.length));
  return {
    ...scene, pathsOf,
    nodes: places.map(([x, y], node) => ({ x, y, radius, kind: graph.nodes[node].kind, label: labelOf(graph.nodes[node], roomy, shape.frames) })),
    strokes: [
      around && { paths: Array.from({ length: around.farthest }, (_, hop) => orbit(size, (0.46 * (hop + 1)) / around.farthest)), tone: "line" },
      { paths: frames.map((frame) => box(at([frame.x, frame.y]), at([frame.x + frame.width, frame.y + frame.height]))), tone: "line" },
      around ? { paths: pathsOf(graph.links.filter(isTree)), tone: "other", opacity: 0.6 } : { paths: pathsOf(graph.links), tone: "other", width: few ? 1 : 0.7, opacity: faint },
      around && few && { paths: pathsOf(graph.links.filter((link) => !isTree(link))), tone: "other", opacity: 0.18 },
    ].filter(Boolean),
    texts: frames.map((frame) => ({ text: frame.name, x: at([frame.x, 0])[0] + 8, y: at([0, frame.y])[1] + 16 })),
    nearest: ([x, y], zoom) => {
      const distances = places.map(([px, py]) => Math.hypot(px - x, py - y));
      const found = distances.indexOf(Math.min(...distances));
      return distances[found] < NEAR / zoom ? found : -1;
    },
    linksOf: (node) => ({ paths: pathsOf(graph.links.filter((link) => link.source === node)), ends: [node, ...graph.out[node]], text: scene.textOf(node), at: places[node] }),
  };
}

/** Return the adjacency matrix: a row for each source, a column for each target. */
function matrix(scene, shape) {
  const { graph, textOf } = scene;
  const count = graph.nodes.length;
  const cell = (SIZE - 2 * MARGIN) / count;
  const at = (index) => MARGIN + index * cell;
  const dot = Math.max(1.1, cell);
  const dots = (links) => links.map((link) => `M${at(link.target).toFixed(2)} ${at(link.source).toFixed(2)}h${dot}v${dot}h-${dot}z`).join("");
  const block = shape.spans?.length > 1 ? shape.spans[0] : count;
  const lines = Array.from({ length: Math.floor(count / block) + 1 }, (_, index) => at(index * block)).map((place) => `M${place} ${MARGIN}V${at(count)}M${MARGIN} ${place}H${at(count)}`);
  return {
    ...scene,
    pathsOf: (links) => links.map((link) => `M${at(link.target)} ${at(link.source) + dot / 2}h${dot}`),
    nodes: [],
    strokes: [{ paths: lines, tone: "line", width: 0.6 }, { paths: [dots(graph.links)], tone: "ink", filled: true }],
    texts: [],
    nearest: ([, y]) => (y >= MARGIN && y < at(count) ? Math.floor((y - MARGIN) / cell) : -1),
    linksOf: (node) => ({ paths: [`M${MARGIN} ${at(node) + cell / 2}H${at(count)}`], ends: [], text: `${textOf(node)} sends to ${[...new Set(graph.out[node])].slice(0, 8).map(textOf).join(", ")}`, at: [MARGIN, at(node)] }),
  };
}

const box = ([x, y], [right, bottom]) => `M${x} ${y}H${right}V${bottom}H${x}Z`;

function orbit([width, height], share) {
  const radius = share * (width - 2 * MARGIN);
  return `M${width / 2 - radius} ${height / 2}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`;
}

/** Return the control points of a curve that leaves a straight line by a share of its length. */
function aside([x1, y1], [x2, y2], share) {
  if (!share) return null;
  const [dx, dy] = [(x2 - x1) / 3, (y2 - y1) / 3];
  return [[x1 + dx - 2 * dy * share, y1 + dy + 2 * dx * share], [x2 - dx - 2 * dy * share, y2 - dy + 2 * dx * share]];
}

/** Return the control points of a long link of a grid, so that the link does not hide short ones. */
function bow([x1, y1], [x2, y2], step, radius) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1.3 * step) return null;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const off = Math.min(14 + 1.5 * radius, 0.16 * length);
  return [[x1 + 0.2 * (x2 - x1) - off * dy, y1 + 0.2 * (y2 - y1) + off * dx], [x2 - 0.2 * (x2 - x1) - off * dy, y2 - 0.2 * (y2 - y1) + off * dx]];
}

/** Return the least distance of two nodes. */
function closest(places) {
  let least = SIZE;
  places.forEach(([x, y], index) => {
    for (let other = 0; other < index; other += 1) least = Math.min(least, Math.hypot(x - places[other][0], y - places[other][1]));
  });
  return least;
}

/** Return the label of a node: in a frame "0.gpu12" -> "12", else 7 -> "7"; `roomy` switches have their names. */
function labelOf(node, roomy, frames) {
  const own = frames ? String(node.id).split(".").at(-1) : String(node.id);
  if (node.kind === "switch") return roomy ? own.slice(0, 9) : null;
  const short = own.replace(/^[a-z]+(?=\d+$)/i, "");
  return short.length <= 4 ? short : null;
}
