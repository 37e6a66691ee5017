// The wiring: panels as panels, the moves of each, and the work orders.

import { post } from "./api.js";
import { drawing, h, later, s, show, table } from "./dom.js";
import { Form, fields } from "./form.js";
import { plural } from "./numbers.js";
import { files, keywords, options, quoted, sameElsewhere } from "./same.js";
import { ask } from "./waiting.js";

const EXAMPLE = { name: "Circulant(12, 2, 3)", from: "Torus(3, 4)", panels: "per-port" };

const ITEMS = [
  { name: "recipe", label: "Topology to wire", kind: "text", hint: "recipe, short name or id" },
  { name: "panels", label: "Panels", kind: "select", options: [["per-port", "one for each port of a host"], ["single", "one for all ports"]] },
  { name: "from", label: "Wired today", kind: "text", hint: "recipe, short name or id of the present topology; empty: nothing is plugged" },
  { name: "host_assignment", label: "Hosts", kind: "select", options: [["fixed", "each node on its host"], ["free", "the assignment with the fewest moves"]] },
  { more: "More conditions", fields: [
    { name: "max_links_down", label: "Links down in one stage, at most", placeholder: "no limit" },
    { name: "stay_connected", label: "Keep all hosts connected in every stage", kind: "check" },
    { name: "plant", label: "Plant, instead of new panels", kind: "area", hint: "plant/1, CSV, YAML, or cables from NetBox; files can be dropped here", read: (text) => ({ text }) },
  ] },
];

/** Return the source of a topology: an id, a short name, or a recipe. */
export function sourceOf(text) {
  if (/^[0-9a-f]{6,64}$/.test(text)) return { id: text };
  return text.includes("(") ? { recipe: text } : { name: text };
}

async function planOf(values, form, extra) {
  const { recipe, from, ...rest } = values;
  const body = { topology: sourceOf(recipe || ""), ...form.body(rest) };
  const plant = body.plant ? { plant: body.plant } : body.panels && { panels: body.panels };
  if (body.plant) delete body.panels;
  if (from) {
    const before = await post("/v1/patch-plans", { topology: sourceOf(from), ...plant }, extra).catch((error) => {
      error.errors = [{ pointer: "/from", detail: error.message }];
      throw error;
    });
    body.current_wiring = before;
  }
  return { plan: await post("/v1/patch-plans", body, extra), body };
}

export async function create({ go }) {
  const form = new Form(ITEMS, (await fields()).wiring, { ask: go, button: "Plan the moves" });
  form.aliases = { topology: "recipe", name: "recipe", id: "recipe", current_wiring: "from" };
  return {
    title: "Wiring",
    element: form.element,
    show(values, answer, signal) {
      const asked = Object.keys(values).length ? values : { recipe: EXAMPLE.name, from: EXAMPLE.from, panels: EXAMPLE.panels };
      form.fill(asked);
      return ask({ form, answer, signal, send: (extra) => planOf(form.values(), form, extra), render: ({ plan, body }) => planView(plan, body) });
    },
  };
}

/** Return the wiring of a topology on new panels, one for each port. */
export function uniformWiring(topology) {
  const body = { topology };
  return later(post("/v1/patch-plans", body).then((plan) => h("div", {}, summary(plan, "h3"), panelsOf(plan), planFiles(plan))));
}

function planView(plan, body) {
  const { topology, current_wiring: before, plant, ...rest } = body;
  const words = ["topoloom patch plan", quoted(Object.values(topology)[0]), options(rest), plant && "--plant plant.yaml", before && "--current-wiring before.json"];
  const command = words.filter(Boolean).join(" ");
  return [summary(plan), panelsOf(plan), h("h2", {}, "Work orders"), planFiles(plan),
    h("h2", {}, "The same elsewhere"), sameElsewhere("/v1/patch-plans", shortened(body), `client.patch_plan(${keywords(shortened(body))})`, command)];
}

/** Return a body whose present wiring is left to a file: a plan is too long to copy. */
const shortened = ({ current_wiring: before, ...rest }) => (before ? { ...rest, current_wiring: "… the patch-plan/1 document of the present wiring …" } : rest);

function summary(plan, heading = "h1") {
  const { moves, removes, adds, kept, lower_bound: bound, optimal, stages } = plan.summary;
  const sentence = moves === 0 ? "Nothing has to move: the panels are wired so already"
    : `${plural(moves, "move")} wire this topology${optimal ? ", and no plan has fewer" : `; no plan has fewer than ${bound}`}`;
  return h("div", {}, h(heading, {}, sentence, "."), h("dl", { class: "figures" },
    ...[["Unplug", removes, `${kept} pairs stay`], ["Plug", adds, `${plural(plan.devices.length, "panel")}`], ["Stages", stages, `lower bound ${plural(bound, "move")}`]]
      .map(([name, value, note]) => h("div", {}, h("dt", {}, name), h("dd", {}, value.toLocaleString("en-US"), h("small", {}, note))))));
}

function panelsOf(plan) {
  // A stage also has checks, which move nothing.
  const moves = plan.stages.flatMap((stage) => stage.ops.filter((op) => ["add", "remove"].includes(op.op)).map((op) => ({ ...op, stage: stage.id })));
  const place = h("div", {});
  const select = h("select", { id: "panel-choice", onchange: () => show(place, panel(plan, select.value, moves)) },
    plan.devices.map((device) => h("option", { value: device.id }, `${device.id} (${plural(moves.filter((move) => move.device === device.id).length, "move")})`)));
  select.value = moves[0]?.device || plan.devices[0].id;
  show(place, panel(plan, select.value, moves));
  return h("div", {}, h("div", { class: "inline" }, h("label", { for: "panel-choice" }, "Panel"), select), place);
}

/** Return one panel: its drawing with a slider of the moves, and the list of the moves. */
function panel(plan, id, all) {
  const moves = all.filter((move) => move.device === id);
  const final = plan.final[id]?.pairs || [];
  const key = (pair) => `${pair.a} ${pair.b}`;
  const added = new Set(moves.filter((move) => move.op === "add").map(key));
  const before = new Map([...final.filter((pair) => !added.has(key(pair))), ...moves.filter((move) => move.op === "remove")].map((pair) => [key(pair), pair]));
  const labels = new Map(plan.ports.filter((port) => port.device === id).map((port) => [port.port, port.label]));
  const place = h("div", { class: "drawing strip" });
  const told = h("p", { class: "told", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: "0", max: String(moves.length), "aria-label": "Moves done", oninput: () => draw(Number(slider.value)) });
  function draw(done) {
    const pairs = new Map(before);
    for (const move of moves.slice(0, done)) {
      if (move.op === "add") pairs.set(key(move), move);
      else pairs.delete(key(move));
    }
    const next = moves[done];
    show(told, done === moves.length ? "All moves are done." : `Next, move ${done + 1} of ${moves.length}: ${next.op === "add" ? "plug" : "unplug"} ${next.a} – ${next.b}.`);
    show(place, panelDrawing(pairs, next, added, labels, plan.devices.find((device) => device.id === id)));
  }
  slider.value = String(moves.length);
  draw(moves.length);
  const columns = [
    { head: "#", number: true, cell: (_, index) => index + 1 },
    { head: "stage", number: true, cell: (move) => move.stage },
    { head: "move", cell: (move) => h("span", { class: move.op }, move.op === "add" ? "plug" : "unplug") },
    { head: "from", cell: (move) => `${move.a} (${labels.get(move.a) ?? "?"})` },
    { head: "to", cell: (move) => `${move.b} (${labels.get(move.b) ?? "?"})` },
  ];
  return h("div", { class: "split" }, h("div", {}, place, slider, told), moves.length ? table(`Moves on ${id}`, columns, moves.slice(0, 2000)) : h("p", { class: "quiet" }, "Nothing moves on this panel."));
}

const MOST_DRAWN = 256; // Cross-connects of a panel that are drawn.

function panelDrawing(pairs, next, added, labels, device) {
  const sides = ["a", "b"].map((side) => [...labels.keys()].filter((port) => port.endsWith(side.toUpperCase())));
  const count = Math.max(1, ...sides.map((side) => side.length));
  const [width, height] = [560, 210];
  const at = (side, port) => 24 + ((sides[side].indexOf(port) + 0.5) * (width - 48)) / count;
  const line = (pair, kind) => s("path", { class: `patch ${kind}`, d: `M${at(0, pair.a)} 46C${at(0, pair.a)} 105 ${at(1, pair.b)} 105 ${at(1, pair.b)} 164` }, s("title", {}, `${pair.a} – ${pair.b}`));
  const step = Math.ceil(count / 24);
  if (!sides[0].length || !sides[1].length) return h("p", { class: "quiet" }, `${device.id} has ${plural(pairs.size, "pair")}.`);
  return drawing(width, height, `${device.id}: ${plural(pairs.size, "cross-connect")}`,
    s("rect", { class: "rack", x: 8, y: 18, width: width - 16, height: height - 36, rx: 6 }),
    [...pairs.values()].slice(0, MOST_DRAWN).map((pair) => line(pair, added.has(`${pair.a} ${pair.b}`) ? "new" : "kept")),
    next && line(next, next.op === "add" ? "next" : "gone"),
    sides.map((ports, side) => ports.map((port, index) => s("g", { class: "port" },
      s("rect", { x: at(side, port) - 4, y: side ? 164 : 36, width: Math.min(8, 400 / count), height: 10, rx: 1 }, s("title", {}, `${port}: ${labels.get(port)}`)),
      index % step === 0 && s("text", { x: at(side, port), y: side ? 188 : 31, "text-anchor": "middle" }, port)))));
}

function planFiles(plan) {
  const stem = `plan-${plan.id.slice(0, 12)}`;
  const of = (format) => `/v1/patch-plans/${plan.id}?format=${format}`;
  return files([
    ["Work order (CSV)", of("csv"), `${stem}.csv`, "one move on each line, for people"],
    ["Plan (JSON)", of("json"), `${stem}.json`, "stages, moves and their effect, patch-plan/1"],
    ["Cables (NetBox)", of("netbox-csv"), `${stem}.netbox.csv`, "cables to import into NetBox"],
    ["Commands (SONiC)", of("sonic-cli"), `${stem}.sonic.txt`, "for optical switches with SONiC"],
    ["Commands (Polatis SCPI)", of("polatis-scpi"), `${stem}.scpi`, "for Polatis switches"],
    ["Commands (Calient TL1)", of("calient-tl1"), `${stem}.tl1`, "for Calient switches"],
  ]);
}
