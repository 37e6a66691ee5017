// Large graphs on a canvas: all links once, below the links of the node at the pointer.

import { h } from "./dom.js";
import { SIZE, bundled, heightOf, rings } from "./layout.js";
import { plural } from "./numbers.js";

const SCALE = 2; // Pixels of the canvas for each unit of the drawing.
const MARGIN = 14;
const NEAR = 14; // Distance from the pointer within which a node is found.

/** Return the scene of a graph by its arrangement; a cut has nodes `inside` and `crosses` of a link. */
export function largeScene(graph, shape, state, { inside, crosses }) {
  const size = [SIZE, heightOf(shape)];
  const title = `Graph of ${plural(graph.nodes.length, "node")} and ${plural(graph.links.length, "link")}`;
  const textOf = (node) => String(graph.nodes[node].id);
  if (state.by === "matrix") return { ...matrix(graph, shape, textOf), size, title };
  const around = state.by === "hops" ? rings(graph, state.chosen) : null;
  const at = ([x, y]) => [x * (SIZE - 2 * MARGIN) + MARGIN, y * (size[1] - 2 * MARGIN) + MARGIN];
  const places = (around ? around.places : shape.places).map(at);
  const step = closest(places);
  const radius = around ? Math.max(1.6, 60 / Math.sqrt(graph.nodes.length)) : Math.min(6, (shape.spans ? 0.42 : 0.3) * step);
  const nodes = places.map(([x, y], node) => ({ x, y, radius, kind: graph.nodes[node].kind, inside: inside.has(graph.nodes[node].id) }));
  const line = (link) => {
    const [[x1, y1], [x2, y2]] = [places[link.source], places[link.target]];
    const bend = around ? null : shape.name === "grid" ? bow([x1, y1], [x2, y2], step) : bundled(shape, link.source, link.target)?.map(at);
    return `M${x1.toFixed(1)} ${y1.toFixed(1)}${bend ? `C${bend.flat().map((value) => value.toFixed(1)).join(" ")} ` : "L"}${x2.toFixed(1)} ${y2.toFixed(1)}`;
  };
  const paths = (links) => links.map(line);
  const tree = around && graph.links.filter((link) => around.parents[link.target] === link.source);
  return {
    size, title, nodes,
    strokes: [
      ...(around ? [] : (shape.frames || []).map((frame) => ({ paths: [boxPath(at([frame.x, frame.y]), at([frame.x + frame.width, frame.y + frame.height]))], tone: "line" }))),
      tree ? { paths: paths(tree), tone: "other", opacity: 0.6 } : { paths: paths(graph.links), tone: "other", width: 0.7, opacity: shape.name === "grid" ? 0.4 : Math.max(0.1, Math.min(0.5, 300 / graph.links.length)) },
      { paths: paths(graph.links.filter(crosses)), tone: "warn", width: 1.6 },
    ],
    texts: around ? [] : (shape.frames || []).map((frame) => ({ text: frame.name, x: at([frame.x, 0])[0] + 6, y: at([0, frame.y])[1] + 14 })),
    nearest: ([x, y]) => {
      const distances = places.map(([px, py]) => Math.hypot(px - x, py - y));
      const found = distances.indexOf(Math.min(...distances));
      return distances[found] < NEAR ? found : -1;
    },
    linksOf: (node) => ({ paths: paths(graph.links.filter((link) => link.source === node)), ends: [node, ...graph.out[node]].map((one) => nodes[one]), text: textOf(node), at: places[node] }),
  };
}

const boxPath = ([x, y], [right, bottom]) => `M${x} ${y}H${right}V${bottom}H${x}Z`;

/** Return the control points of a long link of a grid, so that the link does not hide short ones. */
function bow([x1, y1], [x2, y2], step) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 3 * step) return null;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const aside = Math.min(MARGIN, 0.15 * length);
  return [[x1 + 0.2 * (x2 - x1) - aside * dy, y1 + 0.2 * (y2 - y1) + aside * dx], [x2 - 0.2 * (x2 - x1) - aside * dy, y2 - 0.2 * (y2 - y1) + aside * dx]];
}

/** Return the least distance of two nodes. */
function closest(places) {
  let least = SIZE;
  places.forEach(([x, y], index) => {
    for (let other = 0; other < index; other += 1) least = Math.min(least, Math.hypot(x - places[other][0], y - places[other][1]));
  });
  return least;
}

/** Return the adjacency matrix: a row for each source, a column for each target. */
function matrix(graph, shape, textOf) {
  const count = graph.nodes.length;
  const cell = (SIZE - 2 * MARGIN) / count;
  const at = (index) => MARGIN + index * cell;
  const dot = Math.max(1.1, cell);
  const dots = (links) => links.map((link) => `M${at(link.target).toFixed(2)} ${at(link.source).toFixed(2)}h${dot}v${dot}h-${dot}z`).join("");
  const block = shape.spans?.length > 1 ? shape.spans[0] : count;
  const lines = Array.from({ length: Math.floor(count / block) + 1 }, (_, index) => at(index * block)).map((place) => `M${place} ${MARGIN}V${at(count)}M${MARGIN} ${place}H${at(count)}`);
  return {
    nodes: [],
    strokes: [{ paths: lines, tone: "line", width: 0.6 }, { paths: [dots(graph.links)], tone: "ink", filled: true }],
    nearest: ([, y]) => (y >= MARGIN && y < at(count) ? Math.floor((y - MARGIN) / cell) : -1),
    linksOf: (node) => ({ paths: [`M${MARGIN} ${at(node) + cell / 2}H${at(count)}`], ends: [], text: `${textOf(node)} sends to ${[...new Set(graph.out[node])].slice(0, 8).map(textOf).join(", ")}`, at: [MARGIN, at(node)] }),
  };
}

/** Return the canvas of a scene with a chosen node; `choose` receives a node that is clicked. */
export function graphCanvas(scene, chosen, choose) {
  const [width, height] = scene.size;
  const canvas = h("canvas", { width: width * SCALE, height: height * SCALE, role: "img", "aria-label": scene.title, class: "graph" });
  const base = h("canvas", { width: width * SCALE, height: height * SCALE });
  let shown = chosen;
  const repaint = () => {
    paintBase(base, scene);
    paintTop(canvas, base, scene, shown, chosen);
  };
  const nearest = (event) => {
    const ratio = width / canvas.clientWidth;
    const at = [event.offsetX * ratio, event.offsetY * ratio];
    return scene.nearest(at);
  };
  canvas.addEventListener("pointermove", (event) => {
    const found = nearest(event);
    canvas.classList.toggle("near", found >= 0);
    if ((found >= 0 ? found : chosen) === shown) return;
    shown = found >= 0 ? found : chosen;
    requestAnimationFrame(() => paintTop(canvas, base, scene, shown, chosen));
  });
  canvas.addEventListener("pointerleave", () => {
    shown = chosen;
    paintTop(canvas, base, scene, shown, chosen);
  });
  canvas.addEventListener("click", (event) => {
    const found = nearest(event);
    if (found >= 0) choose(found);
  });
  const onTheme = () => (canvas.isConnected ? repaint() : document.removeEventListener("theme", onTheme));
  document.addEventListener("theme", onTheme);
  repaint();
  return canvas;
}

/** Return a color of the style sheet. */
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

function cleared(canvas) {
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(SCALE, 0, 0, SCALE, 0, 0);
  return context;
}

function paintBase(canvas, scene) {
  const context = cleared(canvas);
  for (const { paths, tone, width = 1, opacity = 1, filled } of scene.strokes) {
    context.globalAlpha = opacity;
    context.fillStyle = context.strokeStyle = color(tone);
    context.lineWidth = width;
    // Each link is a stroke of its own, so that links that run together add up.
    for (const path of paths) context[filled ? "fill" : "stroke"](new Path2D(path));
  }
  context.globalAlpha = 1;
  for (const node of scene.nodes) mark(context, node, color(node.inside ? "hurt" : "card"), color("soft"));
  context.fillStyle = color("soft");
  context.font = "12px sans-serif";
  for (const { text, x, y } of scene.texts || []) context.fillText(text, x, y);
}

function mark(context, node, fill, stroke) {
  const { x, y, radius, kind } = node;
  context.beginPath();
  if (kind === "switch") context.rect(x - radius * 1.1, y - radius * 0.8, radius * 2.2, radius * 1.6);
  else context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.strokeStyle = stroke;
  context.lineWidth = 0.8;
  context.fill();
  context.stroke();
}

function paintTop(canvas, base, scene, shown, chosen) {
  const context = cleared(canvas);
  context.drawImage(base, 0, 0, base.width / SCALE, base.height / SCALE);
  if (shown < 0) return;
  const { paths, ends, text, at } = scene.linksOf(shown);
  context.strokeStyle = color("accent");
  context.fillStyle = color("accent");
  context.lineWidth = 1.8;
  for (const path of paths) context.stroke(new Path2D(path));
  for (const node of ends) mark(context, { ...node, radius: node.radius + 1 }, color("accent"), color("accent"));
  if (shown === chosen) return;
  context.font = "600 13px sans-serif";
  const width = context.measureText(text).width;
  const left = Math.min(Math.max(4, at[0] + 12), scene.size[0] - width - 10);
  const top = Math.max(22, at[1] - 12);
  context.fillStyle = color("card");
  context.fillRect(left - 5, top - 15, width + 10, 21);
  context.strokeStyle = color("line");
  context.lineWidth = 1;
  context.strokeRect(left - 5, top - 15, width + 10, 21);
  context.fillStyle = color("ink");
  context.fillText(text, left, top);
}
