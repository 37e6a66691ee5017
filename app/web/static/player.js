// The schedule step by step: which links carry how much, and the load of every link.

import { get } from "./api.js";
import { drawing, h, s, show } from "./dom.js";
import { SIZE, arrange, graphOf, heightOf } from "./layout.js";
import { digits, plural } from "./numbers.js";
import { curve, isRoomy, labelOf, nodeMark } from "./topology.js";

const MOST_NODES = 128; // Nodes up to which the page loads a whole schedule.
const PAUSE = 900; // Milliseconds of one step.

/** Return the player of a stored schedule. */
export async function playerView(topology, scheduleId) {
  if (topology.nodes.length > MOST_NODES) {
    return h("p", { class: "quiet" }, `A schedule of ${topology.nodes.length} hosts has too many messages to show here. The tab Files has the schedule.`);
  }
  const schedule = await get(`/v1/schedules/${scheduleId}`);
  const parts = schedule.kind === "sequence" ? schedule.parts : [schedule];
  const roots = parts[0].kind === "trees" ? [...new Set(parts[0].trees.map((tree) => tree.root))] : [];
  const graph = graphOf(topology);
  const place = h("div", {});
  const build = (root) => show(place, player(graph, topology, parts.flatMap((part) => (part.kind === "trees" ? treeFrames(part, root) : stepFrames(part, graph)))));
  build(roots[0]);
  if (!roots.length) return place;
  const select = h("select", { id: "player-root", onchange: () => build(select.value) }, roots.map((root) => h("option", {}, root)));
  return h("div", {}, h("div", { class: "inline" }, h("label", { for: "player-root" }, "Trees of root"), select), place);
}

/** Return a frame for each step: the shards that each link carries. */
function stepFrames(part, graph) {
  const unit = part.chunks_per_shard;
  return part.steps.map((sends, index) => {
    const load = new Map();
    for (const send of sends) {
      const link = `${graph.nodes[send.source].id}>${graph.nodes[send.target].id}`;
      load.set(link, (load.get(link) || 0) + send.count / unit);
    }
    return { title: `${part.collective}, step ${index + 1} of ${part.steps.length}`, load, unit: "shards" };
  });
}

/** Return a frame for each depth of the trees of a root; a reduction runs toward the root. */
function treeFrames(part, root) {
  const levels = [];
  const inward = ["reduce-scatter", "reduce"].includes(part.collective);
  for (const tree of part.trees.filter((one) => one.root === root)) {
    const depth = new Map([[root, 0]]);
    let rest = tree.edges;
    while (rest.length) {
      const ends = (edge) => (inward ? [edge.at(-1), edge[0]] : [edge[0], edge.at(-1)]);
      const ready = rest.filter((edge) => depth.has(ends(edge)[0]) && !depth.has(ends(edge)[1]));
      if (!ready.length) break;
      for (const edge of ready) {
        const level = depth.get(ends(edge)[0]);
        depth.set(ends(edge)[1], level + 1);
        levels[level] ??= new Map();
        edge.slice(1).forEach((node, index) => {
          const link = `${edge[index]}>${node}`;
          levels[level].set(link, (levels[level].get(link) || 0) + tree.weight / part.trees_per_root);
        });
      }
      rest = rest.filter((edge) => !depth.has(ends(edge)[1]));
    }
  }
  if (inward) levels.reverse();
  return levels.map((load, index) => ({ title: `${part.collective}, depth ${index + 1} of ${levels.length}`, load, unit: "shards" }));
}

function player(graph, topology, frames) {
  const shape = arrange(topology);
  const height = heightOf(shape);
  const places = shape.places.map(([x, y]) => [x * (SIZE - 44) + 22, y * (height - 44) + 22]);
  const nodeOf = new Map(graph.nodes.map((node, index) => [String(node.id), index]));
  const most = Math.max(...frames.flatMap((frame) => [...frame.load.values()]));
  let at = 0;
  let timer = 0;
  const place = h("div", { class: shape.frames ? "drawing strip" : "drawing square" });
  const told = h("p", { class: "told", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: frames.length - 1, "aria-label": "Step", oninput: () => go(Number(slider.value)) });
  const play = h("button", { type: "button", onclick: toggle }, "Play");
  const strip = h("div", { class: "drawing strip" });

  function go(index) {
    at = (index + frames.length) % frames.length;
    slider.value = String(at);
    const frame = frames[at];
    const loads = [...frame.load.values()];
    show(told, h("strong", {}, frame.title), `: ${plural(frame.load.size, "link")} carry data, ${digits(Math.max(...loads))} ${frame.unit} at most, ${digits(loads.reduce((sum, load) => sum + load, 0) / loads.length)} on average.`);
    show(place, drawing(SIZE, height, frame.title,
      graph.links.map((link) => s("path", { class: "link aside", d: curve(places[link.source], places[link.target], 0.06) })),
      [...frame.load].map(([link, load]) => {
        const [source, target] = link.split(">").map((id) => places[nodeOf.get(id)]);
        return source && target && s("path", { class: "flow", d: curve(source, target, 0.06), "stroke-width": (0.8 + (2.4 * load) / most).toFixed(2) }, s("title", {}, `${link.replace(">", " to ")}: ${digits(load)} ${frame.unit}`));
      }),
      graph.nodes.map((node, index) => nodeMark(node, places[index], graph.nodes.length > 48 ? 6 : 12, { class: "node" }, graph.nodes.length <= 48 && labelOf(node, isRoomy(graph))))));
    show(strip, heat(frames, at, most));
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }
  function toggle() {
    if (timer) {
      stop();
      return;
    }
    play.textContent = "Pause";
    timer = setInterval(() => (place.isConnected ? go(at + 1) : stop()), PAUSE);
  }
  go(0);
  return h("div", { class: "split" }, place, h("div", {},
    h("div", { class: "inline", role: "group", "aria-label": "Player" },
      h("button", { type: "button", "aria-label": "Step back", onclick: () => { stop(); go(at - 1); } }, "◀"), play,
      h("button", { type: "button", "aria-label": "Step forward", onclick: () => { stop(); go(at + 1); } }, "▶"), slider),
    told, h("h3", {}, "Load of every link, step by step"), strip,
    h("p", { class: "quiet" }, "One column for each link, one row for each step. Full color is the most that a link carries in a step.")));
}

function heat(frames, at, most) {
  const links = [...new Set(frames.flatMap((frame) => [...frame.load.keys()]))].sort();
  const [width, row] = [480, Math.max(10, Math.min(26, 220 / frames.length))];
  const cell = width / links.length;
  return drawing(width, row * frames.length + 2, "Load of every link in every step",
    frames.map((frame, index) => s("g", { class: index === at ? "row now" : "row" },
      links.map((link, column) => frame.load.has(link) && s("rect", { class: "load", x: (column * cell).toFixed(2), y: index * row + 1, width: Math.max(0.6, cell - (cell > 3 ? 0.6 : 0)).toFixed(2), height: row - 2, "fill-opacity": (0.15 + (0.85 * frame.load.get(link)) / most).toFixed(2) }, s("title", {}, `${link.replace(">", " to ")}: ${digits(frame.load.get(link))}`))),
      index === at && s("rect", { class: "frame", x: 0.5, y: index * row + 0.5, width: width - 1, height: row - 1 }))));
}
