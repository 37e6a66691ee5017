// The view Fabric: the best throughput of a collective on an existing fabric, and what limits it.

import { algorithmsView } from "./algorithms.js";
import { get, post } from "./api.js";
import { checkView } from "./check.js";
import { figure, h, later, notes, tabs } from "./dom.js";
import { faultsView } from "./faults.js";
import { Form, fields } from "./form.js";
import { digits, number, percent, plural } from "./numbers.js";
import { groupsView } from "./groups.js";
import { playerView } from "./player.js";
import { answerFiles, keywords, optimumCommand, sameElsewhere } from "./same.js";
import { topologyView } from "./topology.js";
import { valuesView } from "./values.js";
import { ask } from "./waiting.js";
import { sourceOf } from "./wiring.js";

const EXAMPLE = { fabric: "dgx-a100-2", collective: "allgather" };
const COLLECTIVES = ["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"].map((name) => [name, name]);
const COLLECTIVE = ["collective", "root", "groups", "group", "traffic"];
const CHANGES = ["without_nodes", "without_links", "slow_links"];

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
      { name: "without_nodes", label: "Without nodes", kind: "text", hint: "such as 0.gpu0, 0.gpu3", read: listed },
      { name: "without_links", label: "Without the links between", kind: "text", hint: "pairs, such as 0.gpu0 0.nvswitch, 1.gpu0 plane0", read: pairs },
      { name: "slow_links", label: "Slow links", kind: "text", hint: "pairs and what is left, such as 0.gpu0 plane0 1/2", read: pairs },
      { name: "groups", label: "Process groups", kind: "text", hint: "sizes of parallelism, such as tensor=8,data=2" },
      { name: "group", label: "Only groups of one kind", kind: "text", hint: "such as data" },
      { name: "traffic", label: "Groups of all kinds at once", kind: "text", hint: "collective and size of each kind, such as tensor=allreduce:64MiB,data=allgather:32MiB" },
    ] },
  ];
}

/** "a, b" -> ["a", "b"] */
function listed(text) {
  return text.split(",").map((part) => part.trim()).filter(Boolean).map(nodeOf);
}

/** "a b, c d" -> [["a", "b"], ["c", "d"]] */
function pairs(text) {
  return text.split(",").map((part) => part.trim().split(/\s+/).map((word, place) => (place < 2 ? nodeOf(word) : word)));
}

const nodeOf = (text) => (/^\d+$/.test(text) ? Number(text) : text);

/** Return the body of a request: the topology with its lost and slow parts, and the collective. */
function bodyOf(flat) {
  const { collective, ...given } = flat;
  const part = (names) => Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
  const { recipe, ...source } = Object.fromEntries(Object.entries(given).filter(([name]) => ![...COLLECTIVE, ...CHANGES].includes(name)));
  const changes = part(CHANGES);
  const topology = { ...(recipe && sourceOf(recipe)), ...source, ...(Object.keys(changes).length && { changes }) };
  // The traffic states a collective of each kind.
  return { topology, ...(!given.traffic && { collective }), ...part(COLLECTIVE) };
}

export async function create({ go }) {
  const [schemas, fabrics] = await Promise.all([fields(), get("/v1/fabrics").then((found) => found.items, () => [])]);
  const form = new Form(items(fabrics.map((fabric) => fabric.name)), schemas.topology, { ask: go, button: "Find the optimum" });
  form.aliases = { name: "recipe", id: "recipe" };
  return {
    element: form.element,
    show(values, answer, signal) {
      form.fill(Object.keys(values).length ? values : EXAMPLE);
      const body = bodyOf(form.body(form.values()));
      const send = (options) => post("/v1/optima", body, options).catch((error) => {
        for (const one of error.errors || []) one.pointer = one.pointer.replace(/^\/topology(\/changes)?/, "");
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
    notes((optimum.assumed || []).map((one) => `${one.text} (change: ${one.option})`)),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Bottleneck", () => later(topology.then((found) => topologyView(found, { cut: limit && { nodes: new Set(limit.nodes), isEntry: limit.entry_capacity !== undefined } }))), ["explanation/forestcoll.md", "ForestColl"]],
      ["Trees", () => later((tell) => Promise.all([topology, schedule]).then(([found, made]) => playerView(found, made.id, tell)), "Packs the trees …"), ["explanation/schedules.md", "Schedules"]],
      ["Algorithms", () => algorithmsView(request), ["explanation/cost-model.md#baselines-on-an-existing-fabric", "Baselines on an existing fabric"]],
      ["Link values", () => valuesView(request, unit), ["explanation/forestcoll.md#what-a-link-is-worth", "What a link is worth"]],
      ["Faults", () => later(topology.then((found) => faultsView(found, optimum.collective))), ["notes/single-faults.md", "Single faults"]],
      ["Check", () => checkView(optimum.topology_id), ["how-to/run-a-schedule.md", "Run a schedule"]],
      ["Files", () => later(schedule.then((made) => fileList(optimum, made))), ["reference/schedule-formats.md", "Schedule formats"]],
      ["API", () => sameElsewhere("/v1/optima", body, `client.optimum_of(${keywords(body)})`, optimumCommand(body))],
    ]),
  ];
}

function bottleneck(cut, unit) {
  const crossing = cut.links.slice(0, 6).map((link) => `${plural(link.count, "link")} from ${some(link.sources)} to ${some(link.targets)}`);
  const capacity = digits(number(cut.exit_capacity ?? cut.entry_capacity));
  const way = "exit_capacity" in cut ? "leave" : "arrive";
  return h("p", { class: "lead" }, h("strong", {}, "Bottleneck: "), `the data of ${plural(cut.data_inside ?? cut.compute_inside, "node")} can ${way} at ${capacity} ${unit === "link" ? "links" : unit} only, over ${crossing.join("; ")}.`);
}

/** Return what is proven about the rate: nothing is faster, or how much faster could be. */
function proof({ bound, bound_left_out: unknown }) {
  if (unknown) return "and no such trees are faster";
  return !bound || bound.gap === "0" ? "and no schedule is faster" : `and no schedule takes more than ${percent(1 + number(bound.gap))} less`;
}

const some = (names) => (names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(", "));

function fileList(optimum, schedule) {
  const stem = optimum.name || "fabric";
  return answerFiles(["Optimum (JSON)", `/v1/optima/${optimum.id}`, `${stem}.optimum.json`, "this answer, with exact numbers"], optimum.topology_id, schedule.id, stem,
    [["Trees (DOT)", `/v1/schedules/${schedule.id}?format=dot`, `${stem}.dot`, "for Graphviz"],
      ["Load of the links (SVG)", "/v1/plots/load", `${stem}.load.svg`, "a picture of the schedule, up to 512 nodes", { schedule_id: schedule.id }]]);
}
