// The view Training: the time of a training iteration, its phases, and the best topology and placement.

import { post } from "./api.js";
import { bar, figure, h, hidden, notes, tabs } from "./dom.js";
import { Form, fields } from "./form.js";
import { otherSizes } from "./iteration_sizes.js";
import { bytes, plural, seconds, share } from "./numbers.js";
import { keywords, options, sameElsewhere } from "./same.js";
import { table } from "./table.js";
import { ask } from "./waiting.js";

const EXAMPLE = { preset: "mixtral-8x7b", nodes: "8", degree: "4" };
const MODELS = ["mixtral-8x7b", "llama3-405b", "deepseek-v3", "dlrm-dcnv2", "vit-22b"];

const ITEMS = [
  { label: "Model", either: [
    { label: "a public model", fields: [{ name: "preset", label: "Name", kind: "text", list: MODELS, hint: "such as mixtral-8x7b or llama3-405b" }] },
    { label: "from a file", fields: [{ name: "model", label: "Model, as JSON", kind: "area", rows: 6, read: readModel }] },
  ] },
  { name: "nodes", label: "Hosts" },
  { name: "degree", label: "Ports of each host" },
  { name: "links", label: "Port direction", kind: "select", options: [["unidirectional", "one-way fibers"], ["bidirectional", "two-way ports"]] },
  { more: "More conditions", fields: [
    { name: "parallel", label: "Layout", kind: "text", placeholder: "as the preset", hint: "such as expert=8,pipeline=4" },
    { name: "topology", label: "Topology between the hosts", kind: "text", placeholder: "the best", hint: "a recipe" },
    { name: "accelerator", label: "Accelerator", kind: "text", placeholder: "as the preset", hint: "such as h100 or mi300x" },
    { name: "accelerators_per_host", label: "Accelerators of each host" },
    { name: "inside_gbps", label: "Speed of an accelerator inside its host", unit: "Gbit/s" },
    { name: "node_gbps", label: "Speed of a host", unit: "Gbit/s" },
    { name: "alpha_us", label: "Latency of a hop", unit: "µs" },
    { name: "efficiency", label: "Share of the peak rate", hint: "that computations reach" },
    { name: "microbatches", label: "Microbatches of each replica" },
  ] },
];

/** Read a model file; the service names what is wrong in another text. */
function readModel(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function create({ go }) {
  const form = new Form(ITEMS, (await fields()).iteration, { ask: go, button: "Simulate an iteration" });
  return {
    element: form.element,
    show(values, answer, signal) {
      const stored = form.open("iterations", values, EXAMPLE, signal);
      if (!Object.keys(values).length) return answer.replaceChildren(...introduction());
      const body = () => form.body(form.values());
      answer.replaceChildren(h("p", { class: "quiet", role: "status" }, "Simulates the iteration on every topology …"));
      return ask({ form, answer, signal, send: (extra) => stored || post("/v1/iterations", body(), extra), render: (found) => answerOf(found, body()) });
    },
  };
}

function introduction() {
  return [h("h1", {}, "How long does a training iteration take on these hosts?"),
    h("p", { class: "lead" }, "The simulation follows computations and collectives of one iteration on the load of every link, and finds the best topology and the place of each rank. The simulation may take a minute."),
    h("p", {}, h("a", { href: `#/training?${new URLSearchParams(EXAMPLE)}` }, "Simulate mixtral-8x7b on 8 hosts"))];
}

function answerOf(found, body) {
  const { best, request } = found;
  return [
    h("h1", {}, "An iteration of ", h("strong", { class: "accent" }, request.preset || request.model.name || "the model"), ` on ${plural(request.nodes, "host")} takes ${seconds(found.seconds)} on `, h("strong", {}, best.topology),
      h("span", { class: "others" }, `; communication adds ${share(found.exposed_share)}, and ${limitOf(found)} saves the most`), "."),
    h("dl", { class: "figures" },
      figure("Iteration", seconds(found.seconds), `on ${plural(found.ranks, "accelerator")}`),
      figure("Computation", seconds(found.compute_seconds), "of the busiest pipeline stage"),
      figure("Pipeline bubble", seconds(found.bubble_seconds), "waits between stages"),
      figure("Exposed communication", seconds(found.exposed_seconds), "that no computation hides")),
    notes(found.notes),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Topologies", () => h("div", {}, topologies(found))],
      ["Phases", () => phases(found.phases)],
      ["What limits", () => gains(found)],
      ["Placement", () => placement(found.placement)],
      ["Other sizes", () => otherSizes(body)],
      ["API", () => sameElsewhere("/v1/iterations", body, `client.iteration(${keywords(body)})`, commandOf(body),
        [["Iteration (JSON)", `/v1/iterations/${found.id}`, "iteration.json", "this answer, iteration/1"]])],
    ]),
  ];
}

const commandOf = ({ preset, model, ...rest }) => `topoloom iteration ${preset || "model.json"} ${options(rest)}`;

const limitOf = ({ limit }) => (limit === "latency" ? "10% less latency" : `10% faster ${limit}`);

function topologies({ topologies: found, baselines, best }) {
  const rows = [...found, ...baselines].sort((one, other) => one.seconds - other.seconds);
  const most = rows.at(-1).seconds;
  const isBest = (row) => row.topology === best.topology && row.parallel === best.parallel;
  return [table("Iterations on the topologies", [
    { head: "topology", cell: (row) => h("span", { class: isBest(row) ? "accent" : "" }, row.topology) },
    { head: hidden("bar"), cell: (row) => bar(row.seconds, most, isBest(row) ? "ours" : "other") },
    { head: "iteration", number: true, cell: (row) => seconds(row.seconds) },
    { head: "exposed", number: true, cell: (row) => share(row.exposed_share) },
    { head: "from", cell: (row) => row.source },
    { head: "order of ranks", cell: (row) => h("span", { class: "wrap" }, row.parallel.replaceAll(",", ", ")) },
  ], rows), baselines.filter((row) => row.assumption).map((row) => h("p", { class: "quiet" }, `${row.topology}: ${row.assumption}.`))];
}

function phases(rows) {
  const most = Math.max(...rows.map((row) => row.seconds));
  return table("Phases of the iteration", [
    { head: "phase", cell: (row) => row.kind },
    { head: hidden("bar"), cell: (row) => bar(row.seconds, most, "ours") },
    { head: "time", number: true, cell: (row) => seconds(row.seconds) },
    { head: "alone on its links", number: true, cell: (row) => seconds(row.alone_seconds) },
    { head: "exposed", number: true, cell: (row) => seconds(row.exposed_seconds) },
    { head: "operations", number: true, cell: (row) => row.count.toLocaleString("en-US") },
    { head: "data of one group", number: true, cell: (row) => (row.bytes ? bytes(row.bytes) : "–") },
    { head: "stage", number: true, cell: (row) => row.stage },
  ], rows);
}

function gains({ gains: rows, seconds: now }) {
  return table("Time saved by a tenth more of each resource", [
    { head: "with a tenth more", cell: (row) => (row.resource === "latency" ? "latency: a tenth less" : row.resource) },
    { head: "iteration", number: true, cell: (row) => seconds(row.seconds) },
    { head: "saves", number: true, cell: (row) => `${seconds(Math.max(0, now - row.seconds))} (${share(row.saved)})` },
  ], rows);
}

function placement(hosts) {
  const names = Object.keys(hosts[0]?.coordinates || {});
  const range = ([first, last]) => (first === last ? String(first) : `${first} to ${last}`);
  return table("Ranks of each host", [
    { head: "host", cell: (row) => row.host },
    ...names.map((name) => ({ head: name, number: true, cell: (row) => range(row.coordinates[name]) })),
  ], hosts);
}
