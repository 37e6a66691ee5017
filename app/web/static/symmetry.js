// Classes of parts of a graph that look alike by their distances.  A symmetry exchanges parts of one
// class alone, so a class of as many parts as a symmetry exchanges has exactly these parts.

import { hops } from "./layout.js";

const FEW = 5000; // Links up to which the classes of the ends of all links tell two pairs apart.
const ROUNDS = 3; // Rounds in which the class of a node takes in the classes of its neighbors.

/** Return the class of each node. */
export const nodeClasses = (graph) => colored(graph, distancesOf(graph));

const distancesOf = (graph) => graph.out.map((_, node) => hops(graph.out, node));

function colored(graph, distances) {
  let colors = numbered(graph.nodes.map((node, index) => `${node.kind} ${counted(distances[index])} ${counted(distances.map((row) => row[index]))}`));
  for (let round = 0; round < ROUNDS; round += 1) {
    const around = colors.map((color) => [color]);
    for (const { source, target, capacity } of graph.links) {
      around[source].push(`>${colors[target]}:${capacity}`);
      around[target].push(`<${colors[source]}:${capacity}`);
    }
    colors = numbered(around.map((list) => list.sort().join(" ")));
  }
  return colors;
}

/** Return the class of each pair of nodes, with the links between them. */
export function pairClasses(graph, pairs) {
  const distances = distancesOf(graph);
  const colors = colored(graph, distances);
  const size = Math.max(...colors) + 1;
  const capacities = Map.groupBy(graph.links, ({ source, target }) => `${source} ${target}`);
  const way = (one, other) => {
    // Each node has its class and its hops from both nodes, each link those of its ends.
    const cells = colors.map((color, node) => (Math.min(distances[one][node], 99) * 100 + Math.min(distances[other][node], 99)) * size + color);
    const ends = graph.links.length < FEW ? graph.links.map(({ source, target }) => cells[source] * 1e4 * size + cells[target]) : [];
    const own = (capacities.get(`${one} ${other}`) || []).map((link) => link.capacity).sort();
    return [colors[one], colors[other], own, counted(cells), counted(ends)].join(" ");
  };
  return numbered(pairs.map(([one, other]) => [way(one, other), way(other, one)].sort().join("|")));
}

/** [5, 3, 5] -> "3*1,5*2" */
function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].map(([value, count]) => `${value}*${count}`).sort().join(",");
}

function numbered(keys) {
  const numbers = new Map();
  return keys.map((key) => numbers.get(key) ?? (numbers.set(key, numbers.size), numbers.size - 1));
}
