// A graph on a canvas that zooms and moves: the links below, marked links and the links of the
// node at the pointer above.  Layers are painted in slices, so that the page keeps its frames.

import { h } from "./dom.js";

const SCALE = 2; // Pixels of the canvas for each unit of the drawing.
const MOST = 24; // Greatest zoom.
const SLICE = 8; // Milliseconds of painting in one frame.
const SETTLED = 120; // Milliseconds after a motion until the links are painted for the new view.
const READABLE = 7; // Least radius of a node, on the screen, that has its label.

/**
 * Return `{element, show}`: `show(scene, marks)` draws a scene.  `marks` has `strokes` of paths,
 * `fills` of nodes by index, `tone` and `opacity` each, the `chosen` node and a `title`.
 * `choose` receives a node that is clicked.
 */
export function graphView(choose = () => {}) {
  const canvas = h("canvas", { role: "img", class: "graph", tabindex: "0" });
  const layers = [new Layer(), new Layer()];
  const view = { zoom: 1, x: 0, y: 0 };
  let scene = null;
  let marks = {};
  let hovered = -1;
  let settling = 0;
  const compose = () => {
    const context = cleared(canvas, { zoom: 1, x: 0, y: 0 });
    for (const layer of layers) layer.copy(context, view, scene.size);
    paintChoice(cleared(canvas, view, false), scene, view, hovered >= 0 ? hovered : marks.chosen ?? -1, marks.chosen);
  };
  const paint = (from = 0) => {
    const parts = [[scene.strokes, (context) => paintTexts(context, scene)], [marks.strokes || [], (context, at) => paintNodes(context, scene, at, marks.fills || new Map())]];
    parts.forEach(([strokes, finish], index) => index >= from && layers[index].paint(scene.size, view, strokes, finish, compose));
    compose();
  };
  const moved = () => {
    const [width, height] = scene.size;
    view.x = Math.min(0, Math.max(width * (1 - view.zoom), view.x));
    view.y = Math.min(0, Math.max(height * (1 - view.zoom), view.y));
    canvas.classList.toggle("zoomed", view.zoom > 1);
    requestAnimationFrame(compose);
    clearTimeout(settling);
    settling = setTimeout(() => paint(), SETTLED);
  };
  const zoomBy = (factor, [x, y] = scene.size.map((side) => side / 2)) => {
    const zoom = Math.min(MOST, Math.max(1, view.zoom * factor));
    const ratio = zoom / view.zoom;
    Object.assign(view, { zoom, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio });
    moved();
  };
  const moveBy = (dx, dy) => {
    view.x += dx;
    view.y += dy;
    moved();
  };
  const reset = () => {
    Object.assign(view, { zoom: 1, x: 0, y: 0 });
    moved();
  };
  const placeOf = (event) => [event.offsetX, event.offsetY].map((value) => (value * scene.size[0]) / canvas.clientWidth);
  const found = (event) => {
    const [x, y] = placeOf(event);
    return scene.nearest([(x - view.x) / view.zoom, (y - view.y) / view.zoom], view.zoom);
  };
  const hover = (node) => {
    canvas.classList.toggle("near", node >= 0);
    if (node === hovered) return;
    hovered = node;
    requestAnimationFrame(compose);
  };
  gestures(canvas, { placeOf, zoomBy, moveBy, reset, hover: (event) => hover(found(event)), leave: () => hover(-1), click: (event) => found(event) >= 0 && choose(found(event)), isZoomed: () => view.zoom > 1 });
  const onTheme = () => (canvas.isConnected ? paint() : document.removeEventListener("theme", onTheme));
  document.addEventListener("theme", onTheme);
  const button = (label, text, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const tools = h("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, button("Zoom in", "+", () => zoomBy(1.6)), button("Zoom out", "−", () => zoomBy(1 / 1.6)), button("Show all", "⤢", reset));
  return {
    element: h("div", { class: "drawing canvas" }, canvas, tools),
    show(newScene, newMarks = {}) {
      const isNew = newScene !== scene;
      [scene, marks] = [newScene, newMarks];
      for (const one of [canvas, ...layers.map((layer) => layer.canvas)]) fitTo(one, scene.size);
      canvas.setAttribute("aria-label", [scene.title, marks.title].filter(Boolean).join(": "));
      paint(isNew ? 0 : 1);
    },
  };
}

function fitTo(canvas, [width, height]) {
  if (canvas.width === width * SCALE && canvas.height === height * SCALE) return;
  Object.assign(canvas, { width: width * SCALE, height: height * SCALE });
}

/** Handle wheel, pointers and keys of a canvas: drag, pinch, double click, arrows, plus and minus. */
function gestures(canvas, { placeOf, zoomBy, moveBy, reset, hover, leave, click, isZoomed }) {
  const pointers = new Map();
  let travel = 0;
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !isZoomed()) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), placeOf(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, placeOf(event));
    travel = 0;
    if (isZoomed() || pointers.size > 1) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return hover(event);
    const at = placeOf(event);
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    pointers.set(event.pointerId, at);
    travel += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (other) {
      const span = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
      zoomBy(span(at) / span(before), at.map((value, axis) => (value + other[axis]) / 2));
    } else if (isZoomed()) moveBy(at[0] - before[0], at[1] - before[1]);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", (event) => travel < 5 && click(event));
  canvas.addEventListener("dblclick", (event) => zoomBy(2, placeOf(event)));
  const keys = { "+": () => zoomBy(1.6), "=": () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6), 0: reset, ArrowLeft: () => moveBy(40, 0), ArrowRight: () => moveBy(-40, 0), ArrowUp: () => moveBy(0, 40), ArrowDown: () => moveBy(0, -40) };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || (event.key.startsWith("Arrow") && !isZoomed())) return;
    event.preventDefault();
    keys[event.key]();
  });
}

/** A picture of strokes for one view.  A motion copies the last picture, scaled, until the new one is whole. */
class Layer {
  constructor() {
    this.canvas = h("canvas", {});
    this.spare = h("canvas", {});
    this.view = { zoom: 1, x: 0, y: 0 };
    this.turn = 0;
  }

  paint(size, view, strokes, finish, painted) {
    const turn = (this.turn += 1);
    const target = { ...view };
    fitTo(this.spare, size);
    const context = cleared(this.spare, target);
    const work = slices(context, target, strokes);
    const go = () => {
      if (turn !== this.turn) return;
      const end = performance.now() + SLICE;
      while (performance.now() < end) {
        if (!work.next().done) continue;
        context.globalAlpha = 1;
        finish(context, target);
        [this.canvas, this.spare, this.view] = [this.spare, this.canvas, target];
        painted();
        return;
      }
      requestAnimationFrame(go);
    };
    go();
  }

  copy(context, view, [width, height]) {
    const ratio = view.zoom / this.view.zoom;
    context.drawImage(this.canvas, view.x - this.view.x * ratio, view.y - this.view.y * ratio, width * ratio, height * ratio);
  }
}

function* slices(context, { zoom }, strokes) {
  for (const { paths, tone, width = 1, opacity = 1, filled } of strokes) {
    context.globalAlpha = opacity;
    context.fillStyle = context.strokeStyle = color(tone);
    context.lineWidth = width / zoom ** 0.8;
    // Each link is a stroke of its own, so that links that run together add up.
    for (const path of paths) {
      context[filled ? "fill" : "stroke"](new Path2D(path));
      yield;
    }
  }
}

/** Return a color of the style sheet. */
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

function cleared(canvas, { zoom, x, y }, clear = true) {
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (clear) context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(SCALE * zoom, 0, 0, SCALE * zoom, SCALE * x, SCALE * y);
  return context;
}

function paintTexts(context, scene) {
  context.fillStyle = color("soft");
  context.font = "12px sans-serif";
  for (const { text, x, y } of scene.texts) context.fillText(text, x, y);
}

function paintNodes(context, scene, { zoom }, fills) {
  const [card, soft, ink, light, faint] = ["card", "soft", "ink", "accent-ink", "faint"].map(color);
  scene.nodes.forEach((node, index) => {
    mark(context, node, node.kind === "switch" ? faint : card, soft, zoom);
    const fill = fills.get(index);
    const strong = fill?.opacity > 0.6;
    if (fill) {
      context.globalAlpha = fill.opacity ?? 1;
      mark(context, node, color(fill.tone), soft, zoom);
      context.globalAlpha = 1;
    }
    label(context, node, strong ? light : ink, zoom);
  });
}

function mark(context, { x, y, radius, kind, label: name }, fill, stroke, zoom) {
  context.beginPath();
  const half = Math.max(radius * 1.1, radius < READABLE ? 0 : (name?.length || 0) * 3 + 4);
  if (kind === "switch") context.roundRect(x - half, y - radius * 0.8, 2 * half, radius * 1.6, Math.min(2, radius / 2));
  else context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.strokeStyle = stroke;
  context.lineWidth = Math.min(1, radius / 4) / zoom ** 0.5;
  context.fill();
  context.stroke();
}

function label(context, { x, y, radius, label: name }, ink, zoom) {
  if (!name || radius * zoom < READABLE) return;
  const size = Math.min(10, (10 * radius) / READABLE);
  context.fillStyle = ink;
  context.font = `${(name.length > 3 && radius < 12 ? 0.7 : 1) * Math.min(size, radius)}px sans-serif`;
  context.textAlign = "center";
  context.fillText(name, x, y + 0.36 * Math.min(size, radius));
  context.textAlign = "start";
}

/** Paint the links of the shown node; a node at the pointer also has its name. */
function paintChoice(context, scene, { zoom }, shown, chosen) {
  if (shown < 0) return;
  const { paths, ends, text, at } = scene.linksOf(shown);
  const accent = color("accent");
  context.strokeStyle = accent;
  context.lineWidth = 2 / zoom ** 0.8;
  for (const path of paths) context.stroke(new Path2D(path));
  ends.forEach((node, index) => {
    const { kind, radius, ...rest } = scene.nodes[node];
    mark(context, { ...rest, kind, radius: radius + (radius < READABLE ? 1 / zoom : 0) }, index && radius >= READABLE ? color("card") : accent, accent, zoom);
    label(context, scene.nodes[node], index ? color("ink") : color("accent-ink"), zoom);
  });
  if (shown === chosen) return;
  const size = 13 / zoom;
  context.font = `600 ${size}px sans-serif`;
  const width = context.measureText(text).width;
  const [left, top] = [Math.min(at[0] + size, scene.size[0] - width - size), Math.max(1.7 * size, at[1] - size)];
  context.fillStyle = color("card");
  context.strokeStyle = color("line");
  context.lineWidth = 1 / zoom;
  context.beginPath();
  context.rect(left - 0.4 * size, top - 1.15 * size, width + 0.8 * size, 1.6 * size);
  context.fill();
  context.stroke();
  context.fillStyle = color("ink");
  context.fillText(text, left, top);
}
