// Places of nodes: fabrics by box and tier, tori on a grid, other graphs on a circle, or all
// nodes on rings around one node by their hops from it.

import { blocksOf } from "./recipes.js";

const TAU = 2 * Math.PI;
export const SIZE = 560; // Width of a drawing, in its own units.

/** Fabrics are wide: boxes stand side by side. */
export const heightOf = (shape) => (shape.frames ? Math.round((shape.rows === 1 ? 0.54 : 0.7) * SIZE) : SIZE);

/** Return the links by node index, and the neighbors of each node. */
export function graphOf(topology) {
  const index = new Map(topology.nodes.map((node, number) => [node.id, number]));
  const links = topology.links.map((link) => ({ source: index.get(link.source), target: index.get(link.target), capacity: link.capacity, latency: link.latency_us }));
  const out = topology.nodes.map(() => []);
  const into = topology.nodes.map(() => []);
  for (const link of links) {
    out[link.source].push(link.target);
    into[link.target].push(link.source);
  }
  const pairs = new Set(links.map((link) => `${link.source} ${link.target}`));
  for (const link of links) link.twoWay = pairs.has(`${link.target} ${link.source}`);
  return { nodes: topology.nodes, links, out, into };
}

/** Return the hops of the shortest path from a node to every node, by lists of neighbors. */
export function hops(next, start) {
  const found = next.map(() => Infinity);
  found[start] = 0;
  const queue = [start];
  for (const node of queue) {
    for (const other of next[node]) {
      if (found[other] === Infinity) {
        found[other] = found[node] + 1;
        queue.push(other);
      }
    }
  }
  return found;
}

const isSwitch = (node) => node.kind === "switch";

/** Return places in the unit square, the name of the arrangement, and of a circle its blocks. */
export function arrange(topology) {
  const { nodes, recipe = "" } = topology;
  if (nodes.some(isSwitch)) return { name: "boxes and tiers", ...boxes(nodes) };
  const sizes = blocksOf(recipe, nodes.length, topology.links.length / nodes.length);
  if (/^(?:Twisted)?Torus\(/.test(recipe)) {
    const sides = recipe.match(/\d+/g).map(Number).slice(0, recipe.startsWith("Twisted") ? 2 : 3);
    if (sides.reduce((product, size) => product * size, 1) === nodes.length) return { name: "grid", places: grid(sides) };
  }
  const offsets = nodes.length > 64 && recipe.match(/^(?:Directed)?Circulant\(\d+, ([\d, ]+)\)$/);
  const row = offsets ? Math.min(...offsets[1].split(",").map(Number)) : 0;
  if (row > 3) return { name: "grid", places: grid([Math.ceil(nodes.length / row), row]).slice(0, nodes.length) };
  return { name: "circle", ...circle(sizes) };
}

/** Return places on a circle, with gaps between blocks, and the angle of each block of each level. */
export function circle(sizes) {
  const count = sizes.reduce((product, size) => product * size, 1);
  const spans = sizes.map((_, level) => sizes.slice(level + 1).reduce((product, size) => product * size, 1));
  const at = [];
  let next = 0;
  for (let node = 0; node < count; node += 1) {
    const level = node ? spans.findIndex((span) => node % span === 0) : -1;
    if (level >= 0 && level < sizes.length - 1) next += 0.3 * Math.sqrt(spans[level]);
    at.push(next);
    next += 1;
  }
  const total = next + (sizes.length > 1 ? 0.3 * Math.sqrt(spans[0]) : 0);
  const angles = at.map((place) => (TAU * place) / total - TAU / 4);
  const levels = spans.map((span) => Array.from({ length: count / span }, (_, block) => (angles[block * span] + angles[(block + 1) * span - 1]) / 2));
  return { places: angles.map((angle) => around(angle, 0.46)), spans, levels };
}

const around = (angle, radius) => [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)];

/**
 * Return the two control points of a link on a circle, or null for a straight link.  Links between
 * the same two blocks run together, through the middle of the circle for the outermost blocks.
 */
export function bundled({ spans, levels }, source, target) {
  if (!spans || spans.length < 2) return null;
  const level = spans.findIndex((span) => Math.floor(source / span) !== Math.floor(target / span));
  const radius = 0.46 * (level === 0 ? 0.45 : 1 - 0.4 / (level + 1));
  return [source, target].map((node) => around(levels[level][Math.floor(node / spans[level])], radius));
}

/** Return places of a torus in row-major order; a third dimension repeats the grid. */
function grid(sizes) {
  const [planes, rows, columns] = [Array(3 - sizes.length).fill(1), sizes].flat();
  const [wide, high] = [planes > 3 ? Math.ceil(Math.sqrt(planes)) : planes, planes > 3 ? Math.ceil(planes / Math.ceil(Math.sqrt(planes))) : 1];
  const found = [];
  for (let plane = 0; plane < planes; plane += 1) {
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const x = ((plane % wide) + (column + 0.7) / (columns + 0.4)) / wide;
        const y = (Math.floor(plane / wide) + (row + 0.7) / (rows + 0.4)) / high;
        found.push([x, y]);
      }
    }
  }
  return found;
}

const SPACING = 0.058; // Least distance of two nodes side by side, of the width of the drawing.

/** Return places and frames of boxes: side by side, their switches above, the network on top. */
function boxes(nodes) {
  const boxOf = (node) => {
    const [head, ...tail] = String(node.id).split(".");
    return tail.length ? head : null;
  };
  const named = [...new Set(nodes.map(boxOf).filter((box) => box !== null))];
  const alone = nodes.some((node) => boxOf(node) === null && !isSwitch(node));
  const groups = alone ? [null, ...named] : named;
  const rows = Math.ceil(groups.length / Math.max(1, Math.ceil(Math.sqrt(groups.length * 1.6))));
  const perRow = Math.ceil(groups.length / rows);
  const outer = nodes.filter((node) => isSwitch(node) && boxOf(node) === null);
  const top = outer.length ? 0.16 : 0.02;
  const places = new Map(outer.map((node, index) => [node, [(index + 0.5) / outer.length, 0.05]]));
  const frames = [];
  groups.forEach((box, number) => {
    const inside = nodes.filter((node) => boxOf(node) === box && !places.has(node));
    const [x0, y0] = [(number % perRow) / perRow, top + (Math.floor(number / perRow) / rows) * (1 - top)];
    const [width, height] = [1 / perRow, (1 - top) / rows];
    const put = (group, from, to) => {
      const columns = Math.max(1, Math.min(group.length, Math.floor(width / SPACING)));
      const lines = Math.ceil(group.length / columns) || 1;
      group.forEach((node, index) => places.set(node, [
        x0 + (width * ((index % columns) + 0.75)) / (Math.min(columns, group.length) + 0.5),
        y0 + height * (from + ((to - from) * (Math.floor(index / columns) + 0.5)) / lines),
      ]));
    };
    const own = inside.some(isSwitch);
    put(inside.filter(isSwitch), 0.1, 0.35);
    put(inside.filter((node) => !isSwitch(node)), own ? 0.5 : 0.1, 0.98);
    if (box !== null) frames.push({ name: named.length > 8 ? box : `box ${box}`, x: x0 + 0.008, y: y0 + 0.01, width: width - 0.016, height: height - 0.02 });
  });
  return { places: nodes.map((node) => places.get(node)), frames, rows };
}

/** Return places on rings around a node: a tree of shortest paths from or to the node, each branch in its own sector. */
export function rings(graph, start, inward = false) {
  const near = inward ? graph.into : graph.out;
  const distance = hops(near, start);
  const farthest = Math.max(1, ...distance.filter(Number.isFinite));
  const parents = graph.nodes.map(() => -1);
  const children = graph.nodes.map(() => []);
  const reached = distance.map((hop, node) => [hop, node]).filter(([hop]) => Number.isFinite(hop)).sort(([one], [other]) => one - other).map(([, node]) => node);
  for (const node of reached) {
    for (const next of near[node]) {
      if (distance[next] === distance[node] + 1 && parents[next] < 0) {
        parents[next] = node;
        children[node].push(next);
      }
    }
  }
  const leaves = graph.nodes.map(() => 1);
  for (const node of [...reached].reverse()) leaves[node] = Math.max(1, children[node].reduce((sum, child) => sum + leaves[child], 0));
  const sector = graph.nodes.map(() => [0, TAU]);
  for (const node of reached) {
    let [from, to] = sector[node];
    const unit = (to - from) / leaves[node];
    for (const child of children[node]) {
      sector[child] = [from, from + unit * leaves[child]];
      from += unit * leaves[child];
    }
  }
  const places = distance.map((hop, node) => {
    const radius = Number.isFinite(hop) ? (0.46 * hop) / farthest : 0.49;
    const angle = (sector[node][0] + sector[node][1]) / 2 - TAU / 4;
    return around(angle, radius);
  });
  return { places, distance, parents, farthest };
}
