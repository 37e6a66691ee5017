// The view Library: stored designs and plans, the best known topologies, comparisons, and jobs.

import { cancel, get } from "./api.js";
import { bestKnown } from "./best.js";
import { comparison } from "./compare.js";
import { h, hidden, later, missing, show } from "./dom.js";
import { Form, fields } from "./form.js";
import { bytes, nameOf, seconds, when } from "./numbers.js";
import { pinButton } from "./pin.js";
import { fileButton } from "./same.js";
import { serviceView } from "./service.js";
import { table } from "./table.js";

const LOOK_EVERY = 3_000; // Milliseconds between two looks at the jobs.

/** Kind of stored answers -> its name, and the view that shows an answer. */
const KINDS = {
  "box-designs": { label: "designs of boxes", view: (id) => `#/boxes?id=${id}` },
  iterations: { label: "training iterations", view: (id) => `#/training?id=${id}` },
  topologies: { label: "topologies", view: (id) => `#/fabric?recipe=${id}` },
  schedules: { label: "schedules" },
  optima: { label: "optima of fabrics" },
  frontiers: { label: "frontiers" },
  costs: { label: "costs" },
  sweeps: { label: "sweeps and fault analyses" },
  simulations: { label: "simulations" },
  verifications: { label: "verifications" },
  comparisons: { label: "comparisons" },
  plots: { label: "pictures" },
};

const LINKS = { name: "links", label: "Port direction", kind: "select", options: [["unidirectional", "one-way"], ["bidirectional", "two-way"]] };
const DEGREE = { name: "degree", label: "Ports of each host" };

const LISTS = [
  { value: "recent", label: "stored designs", show: recent, fields: [
    { name: "of_nodes", label: "Hosts", hint: "only designs of this number" },
    { name: "pinned", label: "Only pinned designs", kind: "check" },
  ] },
  { value: "best", label: "best known topologies", show: bestKnown, fields: [
    { name: "nodes_min", label: "Hosts, from", placeholder: "16" },
    { name: "nodes_max", label: "Hosts, to", placeholder: "1024" },
    { ...DEGREE, placeholder: "4" }, LINKS,
    { name: "collective", label: "Collective", kind: "select", options: ["allreduce", "allgather", "reduce-scatter"].map((name) => [name, name]) },
    { name: "bytes", label: "Data size", kind: "text", placeholder: "1MB", hint: "such as 1MB, 25MiB, 1GiB" },
    { more: "More conditions", fields: [
      { name: "max_steps", label: "At most this number of steps", placeholder: "no limit" },
      { name: "max_bandwidth", label: "T_B at most", kind: "text", placeholder: "no limit", hint: "in units of M/B, such as 1.05 or 21/20" },
      { name: "node_gbps", label: "Speed of a host", unit: "Gbit/s" },
      { name: "alpha_us", label: "Latency of a hop", unit: "µs" },
    ] },
  ] },
  { value: "compare", label: "comparison of designs", show: comparison, fields: [
    { name: "designs", label: "Ids of designs", kind: "text", hint: "2 to 20, with commas; empty: the pinned designs" },
  ] },
  { value: "plans", label: "stored patch plans", show: plans, fields: [] },
  { value: "others", label: "other stored answers", show: others, fields: [
    { name: "kind", label: "Kind", kind: "select", options: Object.entries(KINDS).map(([kind, { label }]) => [kind, label]) },
  ] },
  { value: "jobs", label: "jobs", show: jobs, fields: [] },
  { value: "service", label: "service and keys", show: serviceView, fields: [] },
];

export async function create({ go }) {
  const form = new Form([{ label: "Show", name: "list", either: LISTS }], (await fields()).design, { ask: go, button: "Show" });
  form.aliases = { nodes: "of_nodes" }; // The filter of a list beside the range of the best.
  return {
    element: form.element,
    show(values, answer, signal) {
      const list = LISTS.find((one) => one.value === (values.list || "recent"));
      form.fill(values);
      form.accept();
      if (!list) {
        show(answer, missing(`The library has no list ${values.list}`, LISTS.map(({ value, label }) => [`#/library?list=${value}`, label])));
        return;
      }
      show(answer, h("h1", {}, list.label[0].toUpperCase() + list.label.slice(1)), later(list.show(values, go).catch((error) => {
        if (!signal.aborted) form.refuse(error);
        throw error;
      })));
    },
  };
}

/** Return stored designs; designs that differ in the message size alone are one row. */
async function recent(values, go) {
  const query = new URLSearchParams({ limit: "100", ...(values.of_nodes && { nodes: values.of_nodes }), ...(values.pinned && { pinned: "true" }) });
  const { items } = await get(`/v1/designs?${query}`);
  const groups = new Map();
  for (const item of items) {
    const { bytes: size, ...rest } = item.request;
    const group = JSON.stringify(rest);
    groups.set(group, { ...nearer(groups.get(group), item), sizes: [...(groups.get(group)?.sizes || []), size] });
  }
  if (!groups.size) return h("p", { class: "quiet" }, values.of_nodes || values.pinned ? "No stored design fits. " : "No design is stored yet. ", h("a", { href: "#/design" }, "Ask for a design"), ".");
  const chosen = new Set();
  const compare = h("button", { type: "button", disabled: true, onclick: () => go({ list: "compare", designs: [...chosen].map((id) => id.slice(0, 12)).join(",") }) }, "Compare");
  const choose = (id, is) => {
    if (is) chosen.add(id);
    else chosen.delete(id);
    compare.disabled = chosen.size < 2;
    compare.textContent = chosen.size < 2 ? "Compare" : `Compare ${chosen.size} designs`;
  };
  return h("div", {}, h("div", { class: "inline" }, compare, h("span", { class: "quiet" }, "Choose two or more designs to see them side by side.")), table("Stored designs", [
    { head: hidden("compare"), cell: (row) => h("input", { type: "checkbox", "aria-label": `Compare ${nameOf(row.summary)} of ${row.request.nodes} hosts`, onchange: (event) => choose(row.id, event.target.checked) }) },
    { head: "topology", cell: (row) => h("a", { href: `#/design?id=${row.id.slice(0, 16)}` }, nameOf(row.summary)) },
    { head: hidden("pin"), cell: (row) => pinButton("designs", row) },
    { head: "hosts", number: true, cell: (row) => row.request.nodes.toLocaleString("en-US") },
    { head: "ports", number: true, cell: (row) => row.request.degree },
    { head: "workload", cell: (row) => row.request.collective || row.request.preset || "several collectives" },
    { head: "size", number: true, cell: (row) => (row.request.bytes ? bytes(row.request.bytes) : "") },
    { head: "time", number: true, cell: (row) => seconds(row.summary.seconds) },
    { head: "sizes stored", number: true, cell: (row) => row.sizes.length },
    { head: "when", cell: (row) => when(row.created_at) },
  ], [...groups.values()]));
}

/** Return the design whose message size is nearer to 1 MB, so that rows can be compared. */
function nearer(known, item) {
  const distance = ({ request }) => Math.abs(Math.log((request.bytes || 1e6) / 1e6));
  return !known || distance(item) < distance(known) ? item : known;
}

async function plans() {
  const { items } = await get("/v1/patch-plans?limit=100");
  if (!items.length) return h("p", { class: "quiet" }, "No plan is stored yet. ", h("a", { href: "#/wiring" }, "Plan the wiring of a topology"), ".");
  return table("Stored patch plans", [
    { head: "topology", cell: (row) => h("a", { href: `#/wiring?plan=${row.id.slice(0, 16)}` }, row.summary.name || row.id.slice(0, 12)) },
    { head: "unplug", number: true, cell: (row) => row.summary.removes.toLocaleString("en-US") },
    { head: "plug", number: true, cell: (row) => row.summary.adds.toLocaleString("en-US") },
    { head: "stay", number: true, cell: (row) => row.summary.kept.toLocaleString("en-US") },
    { head: "when", cell: (row) => when(row.created_at) },
  ], items);
}

/** Return the stored answers of a kind, with what their summaries state. */
async function others(values) {
  const kind = values.kind || "box-designs";
  if (!Object.hasOwn(KINDS, kind)) return missing(`No answers are of the kind ${kind}`, Object.entries(KINDS).map(([name, one]) => [`#/library?list=others&kind=${name}`, one.label]));
  const { label, view } = KINDS[kind];
  const { items } = await get(`/v1/${kind}?limit=100`);
  if (!items.length) return h("p", { class: "quiet" }, `No ${label} are stored yet.`);
  const told = ({ id, summary }) => summary.name || id.slice(0, 12);
  const rest = ({ summary }) => Object.entries(summary).filter(([name, value]) => name !== "name" && typeof value !== "object").map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return table(`Stored ${label}`, [
    { head: "name", cell: (row) => (view ? h("a", { href: view(row.id.slice(0, 16)) }, told(row)) : told(row)) },
    { head: hidden("pin"), cell: (row) => pinButton(kind, row) },
    { head: "summary", cell: (row) => rest(row).join(", ") },
    { head: "when", cell: (row) => when(row.created_at) },
    { head: hidden("file"), cell: (row) => fileButton("Download", `/v1/${kind}/${row.id}`, `${kind}-${row.id.slice(0, 12)}.${kind === "plots" ? "svg" : "json"}`) },
  ], items);
}

/** Return the jobs; the list is read again while it is shown. */
async function jobs() {
  const place = h("div", {});
  const look = async () => show(place, jobTable((await get("/v1/jobs?limit=100")).items));
  await look();
  const again = () => setTimeout(() => place.isConnected && look().then(again, again), LOOK_EVERY);
  again();
  return place;
}

function jobTable(items) {
  if (!items.length) return h("p", { class: "quiet" }, "No job waits or runs. A computation becomes a job if it takes longer than a few seconds.");
  return table("Jobs", [
    { head: "operation", cell: (job) => job.operation },
    { head: "state", cell: (job) => job.state },
    { head: "progress", cell: (job) => (job.state === "running" ? h("progress", { max: "1", value: job.progress === null ? null : String(job.progress), "aria-label": "Progress" }) : "") },
    { head: "phase", cell: (job) => job.phase || "" },
    { head: "similar jobs take", number: true, cell: (job) => (job.estimate_seconds ? `about ${seconds(job.estimate_seconds)}` : "") },
    { head: "created", cell: (job) => when(job.created_at) },
    { head: hidden("cancel"), cell: (job) => (["queued", "running"].includes(job.state) ? stop(job) : "") },
  ], items);
}

function stop(job) {
  const button = h("button", { type: "button", "aria-label": `Cancel ${job.operation}`, onclick: async () => {
    button.disabled = true;
    await cancel(job).then(() => { button.textContent = "Cancelled"; }, (error) => { button.textContent = error.message; });
  } }, "Cancel");
  return button;
}
