// Panels drawn as panels, before and after; and the list of the moves, with marks of what is done.

import { responsive } from "./charts.js";
import { drawing, h, s, show } from "./dom.js";
import { plural } from "./numbers.js";
import { table } from "./table.js";

const ALL = "all panels";
const FEW_PORTS = 64; // Ports of a side up to which each port and each pair has a title.

export const keyOf = (pair) => `${pair.a}-${pair.b}`;
const VERBS = { add: "plug", remove: "unplug" };

/** Return the moves of a plan in order; a stage also has checks, which move nothing. */
export function movesOf(plan) {
  return plan.stages.flatMap((stage) => stage.ops.filter((op) => op.op in VERBS).map((op) => ({ ...op, stage: stage.id })));
}

/** Return the pairs of a panel before the plan, by their keys. */
export function pairsBefore(plan, device) {
  const pairs = new Map((plan.final[device]?.pairs || []).map((pair) => [keyOf(pair), pair]));
  for (const move of movesOf(plan).reverse()) if (move.device === device) undo(pairs, move);
  return pairs;
}

export function apply(pairs, move) {
  if (move.op === "add") pairs.set(keyOf(move), move);
  else pairs.delete(keyOf(move));
}

const undo = (pairs, move) => apply(pairs, { ...move, op: move.op === "add" ? "remove" : "add" });

/** Return the panels of a plan; `standing` of an observed panel has its pairs and what is wrong. */
export function panelsView(plan, standings = new Map()) {
  const moves = movesOf(plan);
  const labels = new Map(plan.ports.map((port) => [`${port.device} ${port.port}`, port.label]));
  const place = h("div", {});
  const counts = new Map(plan.devices.map((device) => [device.id, moves.filter((move) => move.device === device.id)]));
  const choice = (id) => {
    const wrong = standings.get(id)?.wrong;
    return h("option", { value: id }, `${id} (${plural(counts.get(id).length, "move")}${wrong ? `, ${plural(wrong, "mis-patch", "es")}` : ""})`);
  };
  const open = () => show(place, select.value === ALL ? moveTable(moves, labels, standings, ALL)
    : panelView(plan, select.value, counts.get(select.value), labels, standings));
  const select = h("select", { id: "panel-choice", onchange: open }, plan.devices.map((device) => choice(device.id)),
    plan.devices.length > 1 && h("option", { value: ALL }, `${ALL} (${plural(moves.length, "move")})`));
  const first = plan.devices.find((device) => standings.get(device.id)?.wrong) || moves.map((move) => ({ id: move.device }))[0] || plan.devices[0];
  select.value = first.id;
  open();
  return h("div", {}, h("div", { class: "inline" }, h("label", { for: "panel-choice" }, "Panel"), select), place);
}

function panelView(plan, id, moves, labels, standings) {
  const panel = portsOf(plan, id);
  const before = pairsBefore(plan, id);
  const after = new Map((plan.final[id]?.pairs || []).map((pair) => [keyOf(pair), pair]));
  const standing = standings.get(id);
  const drawings = standing ? [
    figure("Observed: red is wrong, faint is still to unplug", panel, () => split(standing.pairs, [["wrong", standing.unexpected], ["dark", standing.dark], ["kept", after], ["old", standing.pairs]])),
    figure("After the plan: dashed is still to plug", panel, () => split(after, [["kept", standing.pairs], ["todo", after]])),
  ] : [
    before.size > 0 && figure("Today; red pairs go", panel, () => split(before, [["gone", new Map([...before].filter(([key]) => !after.has(key)))]])),
    stepped(panel, before, after, moves),
  ];
  return h("div", {}, h("div", { class: "charts panels" }, drawings), moveTable(moves, labels, standings, id));
}

/** Return the panel after some of its moves, with a slider of their number. */
function stepped(panel, before, after, moves) {
  let done = moves.length;
  const told = h("p", { class: "told", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: "0", max: String(moves.length), "aria-label": "Moves done", oninput: () => { done = Number(slider.value); tell(); } });
  const made = responsive(panelHeight(panel), (width) => {
    const pairs = new Map(before);
    moves.slice(0, done).forEach((move) => apply(pairs, move));
    const next = moves[done];
    const groups = split(pairs, [["new", new Map([...after].filter(([key]) => !before.has(key)))]]);
    return panelDrawing(width, panel, next ? [...groups, [next.op === "add" ? "next" : "next gone", [next]]] : groups);
  });
  function tell() {
    const next = moves[done];
    show(told, moves.length === 0 ? "Nothing moves on this panel." : !next ? "All moves are done."
      : `Next, move ${(done + 1).toLocaleString("en-US")} of ${moves.length.toLocaleString("en-US")}: ${VERBS[next.op]} ${next.a} – ${next.b}.`);
    made.redraw();
  }
  slider.value = String(done);
  tell();
  return h("figure", { class: "chart" }, h("h3", {}, before.size ? "After the moves; green pairs are new" : "After the moves"), made.place, moves.length > 0 && slider, told);
}

function figure(title, panel, groups) {
  return h("figure", { class: "chart" }, h("h3", {}, title), responsive(panelHeight(panel), (width) => panelDrawing(width, panel, groups())).place);
}

/** Split pairs into groups `[class, pairs]`: the first class whose keys have a pair, else "kept". */
function split(pairs, classes) {
  const groups = new Map([...classes.map(([name]) => [name, []]), ["kept", []]].reverse());
  for (const [key, pair] of pairs) groups.get(classes.find(([, keys]) => keys.has(key))?.[0] || "kept").push(pair);
  return [...groups];
}

function portsOf(plan, id) {
  const ports = plan.ports.filter((port) => port.device === id);
  const sides = ["A", "B"].map((side) => ports.filter((port) => port.side === side));
  return { id, sides, at: new Map(sides.flatMap((side, row) => side.map((port, index) => [port.port, [row, index]]))), count: Math.max(1, ...sides.map((side) => side.length)) };
}

const panelHeight = (panel) => (panel.count > FEW_PORTS ? 280 : 210);

function panelDrawing(width, panel, groups) {
  const height = panelHeight(panel);
  const [top, bottom] = [36, height - 46];
  const x = (port) => 20 + ((panel.at.get(port)[1] + 0.5) * (width - 40)) / panel.count;
  const drawn = groups.map(([name, pairs]) => [name, pairs.filter((pair) => panel.at.has(pair.a) && panel.at.has(pair.b))]);
  const middle = (top + 10 + bottom) / 2;
  const curve = (pair) => `M${x(pair.a).toFixed(1)} ${top + 10}C${x(pair.a).toFixed(1)} ${middle} ${x(pair.b).toFixed(1)} ${middle} ${x(pair.b).toFixed(1)} ${bottom}`;
  const few = panel.count <= FEW_PORTS;
  const fine = few ? "" : " fine";
  // Thousands of pairs are one path of each kind: a browser draws that while a slider moves.
  const lines = ([name, pairs]) => (few ? pairs.map((pair) => s("path", { class: `patch ${name}`, d: curve(pair) }, s("title", {}, `${pair.a} – ${pair.b}`)))
    : s("path", { class: `patch ${name}${fine}`, d: pairs.map(curve).join("") }));
  const step = Math.ceil((panel.count * 40) / (width - 40));
  const size = Math.min(8, (0.7 * (width - 40)) / panel.count);
  const count = drawn.reduce((sum, [name, pairs]) => sum + (name.startsWith("next") ? 0 : pairs.length), 0);
  return drawing(width, height, `${panel.id}: ${plural(count, "cross-connect")}`,
    s("rect", { class: "rack", x: 4, y: 16, width: width - 8, height: height - 32, rx: 6 }),
    drawn.map(lines),
    panel.sides.map((ports, row) => {
      const y = row ? bottom : top;
      return s("g", { class: "port" },
        few ? ports.map((port) => s("rect", { x: x(port.port) - size / 2, y, width: size, height: 10, rx: 1 }, s("title", {}, `${port.port}: ${port.label}`)))
          : s("rect", { x: x(ports[0]?.port) - size, y, width: width - 40, height: 10 }),
        ports.filter((_, index) => index % step === 0).map((port) => s("text", { x: x(port.port), y: row ? bottom + 24 : top - 6, "text-anchor": "middle" }, port.port)));
    }));
}

function moveTable(moves, labels, standings, name) {
  if (!moves.length) return h("p", { class: "quiet" }, "Nothing moves here.");
  const label = (move, port) => labels.get(`${move.device} ${move[port]}`) ?? "";
  const marks = standings.size > 0;
  return table(`Moves on ${name}`, [
    { head: "#", number: true, cell: (_, index) => index + 1 },
    { head: "stage", number: true, cell: (move) => move.stage },
    marks && { head: "state", cell: (move) => stateOf(move, standings.get(move.device)) },
    { head: "move", cell: (move) => h("span", { class: move.op }, VERBS[move.op]) },
    name === ALL && { head: "panel", cell: (move) => move.device },
    { head: "from port", cell: (move) => move.a },
    { head: "of host:port", cell: (move) => label(move, "a") },
    { head: "to port", cell: (move) => move.b },
    { head: "of host:port", cell: (move) => label(move, "b") },
  ].filter(Boolean), moves);
}

/** Return whether a move is done, by the observed pairs of its panel. */
export function isDone(move, standing) {
  return move.stage <= standing.stagesDone || standing.pairs.has(keyOf(move)) === (move.op === "add");
}

function stateOf(move, standing) {
  if (!standing) return h("span", { class: "quiet" }, "not seen");
  return isDone(move, standing) ? h("span", { class: "add" }, "✓ done") : "to do";
}
