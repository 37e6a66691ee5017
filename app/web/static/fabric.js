// The view Fabric: the best throughput of a collective on an existing fabric, and what limits it.

import { algorithmsView } from "./algorithms.js";
import { get, post } from "./api.js";
import { figure, h, later, tabs } from "./dom.js";
import { faultsView } from "./faults.js";
import { Form, fields } from "./form.js";
import { digits, number, percent, plural } from "./numbers.js";
import { groupsView } from "./groups.js";
import { playerView } from "./player.js";
import { everyFormat, files, keywords, quoted, sameElsewhere } from "./same.js";
import { topologyView } from "./topology.js";
import { sourceOf } from "./wiring.js";
import { ask } from "./waiting.js";

const EXAMPLE = { fabric: "dgx-a100-2", collective: "allgather" };
const COLLECTIVES = ["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"].map((name) => [name, name]);
const COLLECTIVE = ["collective", "root", "groups", "group"];

function items(names) {
  return [
    { label: "Fabric", either: [
      { label: "by name", fields: [{ name: "fabric", label: "Name", kind: "text", list: names, hint: "such as dgx-a100-2, gb200-nvl72, mi300x-4; N is a number of boxes" }] },
      { label: "by recipe", fields: [{ name: "recipe", label: "Recipe, short name or id", kind: "text", hint: "such as Torus(4, 4)" }] },
      { label: "from a file", fields: [
        { name: "text", label: "Text of the file", kind: "area", rows: 8, hint: "nvidia-smi topo -m, rocm-smi, NCCL XML, GraphML, JSON, edge list; files can be dropped here" },
        { name: "boxes", label: "Copies of the machine" },
        { name: "network", label: "Network between them", kind: "text", hint: "one, rails, rail-only or planes:K" },
        { name: "nic_bandwidth", label: "Rate of a NIC", unit: "GB/s", hint: "per direction" },
        { name: "link_bandwidth", label: "Rate of an NVLink or xGMI link", unit: "GB/s", hint: "per direction" },
        { name: "oversubscription", label: "Oversubscription", hint: "ratio, at least 1" },
      ] },
    ] },
    { name: "collective", label: "Collective", kind: "select", options: COLLECTIVES },
    { more: "More conditions", fields: [
      { name: "root", label: "Root of a broadcast or reduce", kind: "text", hint: "a compute node, such as 0.gpu0" },
      { name: "groups", label: "Process groups", kind: "text", hint: "sizes of parallelism, such as tensor=8,data=2" },
      { name: "group", label: "Only groups of one kind", kind: "text", hint: "such as data" },
    ] },
  ];
}

export async function create({ go }) {
  const [schemas, fabrics] = await Promise.all([fields(), get("/v1/fabrics").then((found) => found.items, () => [])]);
  const form = new Form(items(fabrics.map((fabric) => fabric.name)), schemas.topology, { ask: go, button: "Find the optimum" });
  form.aliases = { name: "recipe", id: "recipe" };
  return {
    element: form.element,
    show(values, answer, signal) {
      form.fill(Object.keys(values).length ? values : EXAMPLE);
      const flat = form.body(form.values());
      const topology = Object.fromEntries(Object.entries(flat).filter(([name]) => !COLLECTIVE.includes(name)));
      const { recipe, ...rest } = topology;
      const body = { topology: recipe ? { ...sourceOf(recipe), ...rest } : topology, ...Object.fromEntries(Object.entries(flat).filter(([name]) => COLLECTIVE.includes(name))) };
      const send = (options) => post("/v1/optima", body, options).catch((error) => {
        for (const one of error.errors || []) one.pointer = one.pointer.replace(/^\/topology/, "");
        throw error;
      });
      return ask({ form, answer, signal, send, render: (found) => (found.kinds ? groupsView(found, body) : answerOf(found, body)) });
    },
  };
}

function answerOf(optimum, body) {
  const { bottleneck: cut, bandwidth_unit: unit } = optimum;
  const passes = optimum.parts || [];
  const limit = cut || passes[0]?.bottleneck;
  const topology = get(`/v1/topologies/${optimum.topology_id}`);
  const request = { topology: { id: optimum.topology_id }, collective: optimum.collective, ...(body.root ? { root: body.root } : {}) };
  const schedule = topology.then(() => post("/v1/schedules", { ...request, algorithm: "forestcoll" }));
  schedule.catch(() => {});
  const rate = unit === "GB/s" ? `${digits(optimum.algbw)} GB/s` : `${digits(optimum.algbw)} times the rate of a link`;
  const trees = [optimum, ...passes].map((one) => one.trees_per_root).filter(Boolean);
  return [
    h("h1", {}, h("strong", { class: "accent" }, optimum.name || "This fabric"), ` runs ${/^a/.test(optimum.collective) ? "an" : "a"} ${optimum.collective} at ${rate}, ${proof(optimum)}.`),
    h("dl", { class: "figures" },
      figure("Algorithm bandwidth", unit === "GB/s" ? rate : `${digits(optimum.algbw)} links`, `exact inverse rate ${optimum.inverse_rate}`),
      figure("Trees of each root", trees.join(" + "), passes.length ? "of the two passes" : optimum.least ? "no smaller number reaches the rate" : "reach the rate"),
      figure("Compute nodes", String(optimum.nodes), unit === "GB/s" ? `${digits(optimum.algbw / optimum.nodes)} GB/s of each` : "")),
    limit && bottleneck(limit, unit),
    optimum.assumed?.length > 0 && assumptions(optimum.assumed),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Bottleneck", () => later(topology.then((found) => topologyView(found, { cut: limit && { nodes: new Set(limit.nodes), isEntry: limit.entry_capacity !== undefined } })))],
      ["Trees", () => later((tell) => Promise.all([topology, schedule]).then(([found, made]) => playerView(found, made.id, tell)), "Packs the trees …")],
      ["Algorithms", () => algorithmsView(request)],
      ["Faults", () => later(topology.then((found) => faultsView(found, optimum.collective)))],
      ["Files", () => later(schedule.then((made) => fileList(optimum, made)))],
      ["API", () => sameElsewhere("/v1/optima", body, `client.optimum_of(${keywords(body)})`, body.topology.fabric || body.topology.recipe ? `topoloom optimum ${quoted(body.topology.fabric || body.topology.recipe)} --collective ${optimum.collective}` : null)],
    ]),
  ];
}

function bottleneck(cut, unit) {
  const crossing = cut.links.slice(0, 6).map((link) => `${plural(link.count, "link")} from ${some(link.sources)} to ${some(link.targets)}`);
  const capacity = digits(number(cut.exit_capacity ?? cut.entry_capacity));
  return h("p", { class: "lead" }, h("strong", {}, "Bottleneck: "), `data of ${plural(cut.data_inside ?? cut.compute_inside, "node")} cross ${capacity} ${unit === "link" ? "links" : unit} in all: ${crossing.join("; ")}.`);
}

/** Return what is proven about the rate: nothing is faster, or how much faster could be. */
function proof({ bound, bound_left_out: unknown }) {
  if (unknown) return "and no such trees are faster";
  return !bound || bound.gap === "0" ? "and no schedule is faster" : `and no schedule takes more than ${percent(1 + number(bound.gap))} less`;
}

const some = (names) => (names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(", "));

function assumptions(list) {
  return h("details", { class: "assumed" }, h("summary", {}, `${plural(list.length, "fact")} assumed, as the file does not state them`),
    h("ul", {}, list.map((one) => h("li", {}, one.text, " ", h("code", {}, one.option)))));
}

function fileList(optimum, schedule) {
  const stem = optimum.name || "fabric";
  const of = (format) => `/v1/schedules/${schedule.id}?format=${format}`;
  return h("div", {}, files([
    ["Optimum (JSON)", `/v1/optima/${optimum.id}`, `${stem}.optimum.json`, "this answer, with exact numbers"],
    ["Topology (JSON)", `/v1/topologies/${optimum.topology_id}`, `${stem}.topology.json`, "nodes and links, topology/1"],
    ["Schedule (JSON)", `/v1/schedules/${schedule.id}`, `${stem}.schedule.json`, "the trees of every root, schedule/1"],
    ["Schedule (MSCCL XML)", of("msccl-xml"), `${stem}.xml`, "for MSCCL and RCCL"],
    ["Schedule (MSCCL++)", of("mscclpp-json"), `${stem}.mscclpp.json`, "an execution plan for MSCCL++"],
    ["Trees (DOT)", of("dot"), `${stem}.dot`, "for Graphviz"],
  ]), everyFormat("topology", "/v1/topologies/{id}", optimum.topology_id, stem), everyFormat("schedule", "/v1/schedules/{id}", schedule.id, `${stem}.schedule`));
}
