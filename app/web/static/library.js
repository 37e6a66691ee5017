// The view Library: recent designs, the best known topologies of a size, and jobs.

import { cancel, get } from "./api.js";
import { h, later, show } from "./dom.js";
import { Form, fields } from "./form.js";
import { bytes, fraction, nameOf, seconds } from "./numbers.js";
import { table } from "./table.js";

const LISTS = [["recent", "recent designs"], ["best", "best known topologies"], ["jobs", "jobs"]];

export async function create({ go }) {
  const form = new Form([
    { name: "list", label: "Show", kind: "select", options: LISTS },
    { name: "nodes", label: "Hosts", hint: "of best known topologies" },
    { name: "degree", label: "Ports of each host" },
    { name: "links", label: "Port direction", kind: "select", options: [["unidirectional", "one-way"], ["bidirectional", "two-way"]] },
  ], (await fields()).design, { ask: go, button: "Show" });
  return {
    element: form.element,
    show(values, answer, signal) {
      form.fill(values);
      form.accept();
      const list = values.list || "recent";
      const shown = { recent: () => recent(values), best: () => bestKnown(values), jobs }[list] || (() => recent(values));
      const heading = LISTS.find(([name]) => name === list)?.[1] || LISTS[0][1];
      show(answer, h("h1", {}, heading[0].toUpperCase() + heading.slice(1)), later(shown().catch((error) => {
        if (!signal.aborted) form.refuse(error);
        throw error;
      })));
    },
  };
}

const only = (values, names) => new URLSearchParams(Object.entries(values).filter(([name, text]) => names.includes(name) && text));

/** Return recent designs; designs that differ in the message size alone are one row. */
async function recent(values) {
  const query = only(values, ["nodes", "degree"]);
  query.set("limit", "100");
  const { items } = await get(`/v1/designs?${query}`);
  const groups = new Map();
  for (const item of items) {
    const { bytes: size, ...rest } = item.request;
    const group = JSON.stringify(rest);
    if (!groups.has(group)) groups.set(group, { ...item, sizes: [] });
    groups.get(group).sizes.push(size);
  }
  if (!groups.size) return h("p", { class: "quiet" }, "No design is stored yet. ", h("a", { href: "#/design" }, "Ask for the first"), ".");
  return table("Recent designs", [
    { head: "topology", cell: (row) => h("a", { href: `#/design?${addressOf(row.request)}` }, nameOf(row.summary)) },
    { head: "hosts", number: true, cell: (row) => row.request.nodes.toLocaleString("en-US") },
    { head: "ports", number: true, cell: (row) => row.request.degree },
    { head: "workload", cell: (row) => row.request.collective || row.request.preset || "several collectives" },
    { head: "size", cell: (row) => (row.sizes.length > 1 ? `${row.sizes.length} sizes` : row.request.bytes ? bytes(row.request.bytes) : "") },
    { head: "time", number: true, cell: (row) => (row.sizes.length > 1 ? "" : seconds(row.summary.seconds)) },
    { head: "when", cell: (row) => new Date(row.created_at).toLocaleString() },
    { head: "pinned", cell: (row) => (row.pinned ? "pinned" : "") },
  ], [...groups.values()]);
}

const ASKED = ["nodes", "degree", "links", "node_gbps", "port_gbps", "alpha_us", "collective", "bytes", "preset", "max_steps", "schedule"];

function addressOf(request) {
  const query = only(request, ASKED);
  if (request.workload) query.set("workload", request.workload.map((task) => `${task.collective} ${task.bytes} ${task.count ?? 1}`).join("\n"));
  for (const name of ["vertex_transitive", "parallel_links"]) if (request[name]) query.set(name, "true");
  return query;
}

async function bestKnown(values) {
  const query = only({ nodes: "64", degree: "4", ...values }, ["nodes", "degree", "links"]);
  query.set("limit", "20");
  const { candidates, request } = await get(`/v1/best?${query}`);
  if (!candidates.length) return h("p", { class: "quiet" }, "No topology of this size is stored or in the atlas. Ask for a design to search.");
  return h("div", {}, h("p", { class: "lead" }, `${request.nodes.toLocaleString("en-US")} hosts with ${request.degree} ports, without a search.`), table("Best known topologies", [
    { head: "topology", cell: (row) => h("span", { title: row.recipe }, nameOf(row)) },
    { head: "steps", number: true, cell: (row) => row.steps },
    { head: "bound", number: true, cell: (row) => row.bounds.steps },
    { head: "T_B", number: true, cell: (row) => h("span", { title: row.bandwidth }, fraction(row.bandwidth)) },
    { head: "bound", number: true, cell: (row) => h("span", { title: row.bounds.bandwidth }, fraction(row.bounds.bandwidth)) },
    { head: "algorithm", cell: (row) => row.algorithm },
    { head: "known from", cell: (row) => [...new Set(row.known_from.map((one) => one.kind))].join(", ") },
    { head: "wire", cell: (row) => h("a", { href: `#/wiring?${new URLSearchParams({ recipe: row.recipe })}` }, "plan") },
  ], candidates));
}

async function jobs() {
  const { items } = await get("/v1/jobs?limit=100");
  if (!items.length) return h("p", { class: "quiet" }, "No job waits or runs. A computation becomes a job if it takes longer than a few seconds.");
  return table("Jobs", [
    { head: "operation", cell: (job) => job.operation },
    { head: "state", cell: (job) => job.state },
    { head: "progress", cell: (job) => (job.state === "running" ? h("progress", { max: "1", value: job.progress === null ? null : String(job.progress), "aria-label": "Progress" }) : "") },
    { head: "phase", cell: (job) => job.phase || "" },
    { head: "created", cell: (job) => new Date(job.created_at).toLocaleString() },
    { head: "", cell: (job) => (["queued", "running"].includes(job.state) ? stop(job) : "") },
  ], items);
}

function stop(job) {
  const button = h("button", { type: "button", "aria-label": `Cancel ${job.operation}`, onclick: async () => {
    button.disabled = true;
    await cancel(job).then(() => { button.textContent = "Cancelled"; }, (error) => { button.textContent = error.message; });
  } }, "Cancel");
  return button;
}
