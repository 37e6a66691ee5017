// The schedule step by step: the links that carry data, the way of one shard, and the load of every link.

import { drawing, h, s, show } from "./dom.js";
import { graphView } from "./graph.js";
import { arrange, graphOf } from "./layout.js";
import { digits, plural } from "./numbers.js";
import { isLarge, sceneOf } from "./scene.js";
import { partsOf } from "./schedule.js";

const PAUSE = 900; // Milliseconds of one step.
const COLUMNS = 240; // Columns of the strip of loads; more links share a column.
const ALL = "all";

/** Return the player of a stored schedule; `tell` receives what the page waits for. */
export async function playerView(topology, scheduleId, tell) {
  const graph = graphOf(topology);
  const parts = await partsOf(scheduleId, graph, (count) => tell(`Reads the schedule: ${plural(count, "message")} …`));
  const hosts = graph.nodes.filter((node) => node.kind !== "switch").map((node) => String(node.id));
  const index = new Map(graph.nodes.map((node, at) => [node.id, at]));
  const links = new Map(graph.links.map((link, at) => [link.source * graph.nodes.length + link.target, at]));
  const linkOf = (source, target) => links.get(index.get(source) * graph.nodes.length + index.get(target));
  const place = h("div", {});
  const build = (chosen) => {
    const host = chosen === ALL ? null : chosen;
    show(place, player(graph, scenesOf(graph, arrange(topology), host), parts.flatMap((part) => framesOf(part, graph, links, linkOf, host))));
  };
  const trees = parts[0].kind === "trees";
  const [all, one] = { trees: [null, "the trees of"], routes: ["all data", "the data from"] }[parts[0].kind] || ["all data", "the shard of"];
  const first = trees ? parts[0].trees[0].root : isLarge(graph) ? hosts[0] : ALL;
  const roots = trees ? hosts.filter((host) => parts[0].trees.some((tree) => String(tree.root) === host)) : hosts;
  const select = h("select", { id: "player-root", onchange: () => build(select.value) }, all && h("option", { value: ALL }, all), roots.map((host) => h("option", { value: host }, `${one} ${host}`)));
  select.value = String(first);
  build(select.value);
  return h("div", {}, h("div", { class: "inline" }, h("label", { for: "player-root" }, "Show"), select), place);
}

/** Return the scenes of data that moves outward and inward: around its host, except in boxes. */
function scenesOf(graph, shape, host) {
  if (host === null || shape.frames) return Array(2).fill(sceneOf(graph, shape, { apart: true }));
  const chosen = graph.nodes.findIndex((node) => String(node.id) === host);
  return [false, true].map((inward) => sceneOf(graph, shape, { by: "hops", chosen, inward }));
}

/** Return the frames of a part: the load of each link by its index, of all data or of one host's. */
function framesOf(part, graph, links, linkOf, host) {
  if (part.kind === "steps") return stepFrames(part, graph, links, host);
  return part.kind === "trees" ? treeFrames(part, linkOf, host) : routeFrames(part, linkOf, host);
}

const add = (load, link, share) => load.set(link, (load.get(link) || 0) + share);

function stepFrames(part, graph, links, host) {
  const shard = host === null ? -1 : graph.nodes.findIndex((node) => String(node.id) === host);
  return part.steps.map((sends, index) => {
    const load = new Map();
    for (let at = 0; at < sends.length; at += 1) {
      if (shard < 0 || sends.shard[at] === shard) add(load, links.get(sends.source[at] * graph.nodes.length + sends.target[at]), sends.count[at] / part.unit);
    }
    return { title: `${part.collective}, step ${index + 1} of ${part.steps.length}`, load, unit: "shards", inward: part.collective.startsWith("reduce") };
  });
}

/** Return a frame for each depth of the trees of a root; a reduction runs toward the root. */
function treeFrames(part, linkOf, host) {
  const levels = [];
  const inward = ["reduce-scatter", "reduce"].includes(part.collective);
  for (const tree of part.trees.filter((one) => String(one.root) === host)) {
    const depth = new Map([[tree.root, 0]]);
    let rest = tree.edges;
    while (rest.length) {
      const ends = (edge) => (inward ? [edge.at(-1), edge[0]] : [edge[0], edge.at(-1)]);
      const ready = rest.filter((edge) => depth.has(ends(edge)[0]) && !depth.has(ends(edge)[1]));
      if (!ready.length) break;
      for (const edge of ready) {
        const level = depth.get(ends(edge)[0]);
        depth.set(ends(edge)[1], level + 1);
        levels[level] ??= new Map();
        hopsOf(edge, linkOf).forEach((link) => add(levels[level], link, tree.weight / part.trees_per_root));
      }
      rest = rest.filter((edge) => !depth.has(ends(edge)[1]));
    }
  }
  if (inward) levels.reverse();
  return levels.map((load, index) => ({ title: `${part.collective}, depth ${index + 1} of ${levels.length}`, load, unit: "shards", inward }));
}

/** Return a frame for each hop of the routes. */
function routeFrames(part, linkOf, host) {
  const levels = [];
  for (const { path, weight } of part.routes) {
    if (host !== null && String(path[0]) !== host) continue;
    hopsOf(path, linkOf).forEach((link, hop) => add(levels[hop] ??= new Map(), link, weight / part.units_per_pair));
  }
  return levels.map((load, index) => ({ title: `${part.collective}, hop ${index + 1} of ${levels.length}`, load, unit: "pieces" }));
}

/** Return the links of a path of nodes. */
const hopsOf = (path, linkOf) => path.slice(1).map((node, index) => linkOf(path[index], node));

function player(graph, [outward, inward], frames) {
  const drawn = graphView();
  const most = Math.max(...frames.flatMap((frame) => [...frame.load.values()]));
  let at = 0;
  let timer = 0;
  const told = h("p", { class: "told", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: frames.length - 1, "aria-label": "Step", oninput: () => go(Number(slider.value)) });
  const play = h("button", { type: "button", onclick: toggle }, "Play");
  const strip = h("div", { class: "drawing strip" });

  function go(index) {
    at = (index + frames.length) % frames.length;
    slider.value = String(at);
    const frame = frames[at];
    const scene = frame.inward ? inward : outward;
    const loads = [...frame.load.values()];
    const sum = loads.reduce((total, load) => total + load, 0);
    show(told, h("strong", {}, frame.title), `: ${plural(loads.length, "link")} carry data, ${digits(Math.max(...loads))} ${frame.unit} at most, ${digits(sum / loads.length)} on average.`);
    drawn.show(scene, { strokes: flows(scene, frame, most), fills: reached(graph, frames, at), title: frame.title });
    show(strip, heat(graph, frames, at, most));
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
    timer = setInterval(() => (strip.isConnected ? go(at + 1) : stop()), PAUSE);
  }
  go(0);
  return h("div", { class: "split" }, drawn.element, h("div", {},
    h("div", { class: "inline", role: "group", "aria-label": "Player" },
      h("button", { type: "button", "aria-label": "Step back", onclick: () => { stop(); go(at - 1); } }, "◀"), play,
      h("button", { type: "button", "aria-label": "Step forward", onclick: () => { stop(); go(at + 1); } }, "▶"), slider),
    told, h("h3", {}, "Load of every link, step by step"), strip,
    h("p", { class: "quiet" }, "One row for each step, one column for each link. Full color is the most that a link carries in a step. Blue hosts have sent or received data.")));
}

/** Return the strokes of the links that carry data: the wider, the more. */
function flows({ graph, pathsOf, nodes }, frame, most) {
  const thin = nodes.length > 200 ? 0.6 : 1;
  const widths = Map.groupBy(frame.load, ([, load]) => Math.ceil((4 * load) / most));
  return [...widths].map(([level, loads]) => ({ paths: pathsOf(loads.map(([link]) => graph.links[link])), tone: "accent", width: thin * (0.4 + 0.65 * level), opacity: 0.85 }));
}

/** Return marks of the hosts that the data has reached, or left, in the frames so far. */
function reached(graph, frames, at) {
  const first = frames.findLastIndex((frame, index) => index <= at && (index === 0 || frames[index - 1].inward !== frame.inward));
  const marks = new Map();
  for (const frame of frames.slice(first, at + 1)) {
    for (const link of frame.load.keys()) for (const node of [graph.links[link].source, graph.links[link].target]) marks.set(node, { tone: "accent", opacity: 0.35 });
  }
  return marks.size < graph.nodes.length || at === frames.length - 1 ? marks : new Map();
}

function heat(graph, frames, at, most) {
  const links = [...new Set(frames.flatMap((frame) => [...frame.load.keys()]))].sort((one, other) => one - other);
  const each = Math.ceil(links.length / COLUMNS);
  const columns = Array.from({ length: Math.ceil(links.length / each) }, (_, index) => links.slice(index * each, (index + 1) * each));
  const [width, row] = [480, Math.max(10, Math.min(26, 220 / frames.length))];
  const cell = width / columns.length;
  const name = (link) => `${graph.nodes[graph.links[link].source].id} to ${graph.nodes[graph.links[link].target].id}`;
  return drawing(width, row * frames.length + 2, "Load of every link in every step",
    frames.map((frame, index) => s("g", { class: index === at ? "row now" : "row" },
      columns.map((group, column) => {
        const load = group.reduce((sum, link) => sum + (frame.load.get(link) || 0), 0) / group.length;
        return load > 0 && s("rect", { class: "load", x: (column * cell).toFixed(2), y: index * row + 1, width: Math.max(0.6, cell - (cell > 3 ? 0.6 : 0)).toFixed(2), height: row - 2, "fill-opacity": (0.15 + (0.85 * load) / most).toFixed(2) },
          s("title", {}, `${each > 1 ? `${plural(group.length, "link")} from ${name(group[0])} on, on average` : name(group[0])}: ${digits(load)}`));
      }),
      index === at && s("rect", { class: "frame", x: 0.5, y: index * row + 0.5, width: width - 1, height: row - 1 }))));
}
