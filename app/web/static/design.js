// The view Design: hosts, ports and a workload, and the best topology for them.

import { get, post } from "./api.js";
import { answerOf } from "./design_answer.js";
import { Form, fields } from "./form.js";
import { bytes } from "./numbers.js";
import { ask } from "./waiting.js";

/** The question of the first view. */
export const EXAMPLE = { nodes: "12", degree: "4", node_gbps: "100", alpha_us: "10", collective: "allreduce", bytes: "1MB" };

const DIRECTIONS = [["unidirectional", "one-way fibers"], ["bidirectional", "two-way ports"]];
const COLLECTIVES = ["allreduce", "allgather", "reduce-scatter", "all-to-all"].map((name) => [name, name]);

function items(presets) {
  return [
    { name: "nodes", label: "Hosts" },
    { name: "degree", label: "Ports of each host" },
    { name: "links", label: "Port direction", kind: "select", options: DIRECTIONS, hint: "one-way: the fibers in and out of a port may lead to different hosts" },
    { label: "Speed", beside: true, either: [
      { label: "of a host", fields: [{ name: "node_gbps", label: "Speed of a host", unit: "Gbit/s", hint: "over all its ports" }] },
      { label: "of a port", fields: [{ name: "port_gbps", label: "Speed of a port", unit: "Gbit/s", hint: "each port" }] },
    ] },
    { name: "alpha_us", label: "Latency of a hop", unit: "µs" },
    { label: "Workload", either: [
      { label: "one collective", fields: [
        { name: "collective", label: "Collective", kind: "select", options: COLLECTIVES },
        { name: "bytes", label: "Data size", kind: "text", hint: "such as 1MB, 25MiB, 1GiB" },
      ] },
      { label: "several collectives", fields: [
        { name: "workload", label: "Collective, size and count on each line", kind: "area", read: readWorkload, placeholder: "allreduce 25MiB 40\nall-to-all 8MiB 8" },
      ] },
      { label: "a training step of a model", fields: [
        { name: "preset", label: "Model", kind: "select", options: presets.map((preset) => [preset.name, preset.title.split(",")[0] + presetKind(preset)]) },
      ] },
    ] },
    { more: "More conditions", fields: [
      { name: "max_steps", label: "At most this number of steps", placeholder: "no limit" },
      { name: "schedule", label: "Schedules that rate a topology", kind: "select", options: [["best", "BFB and slack schedules"], ["bfb", "breadth-first broadcast alone"]] },
      { name: "vertex_transitive", label: "Only vertex-transitive topologies", kind: "check" },
      { name: "parallel_links", label: "Allow parallel links", kind: "check" },
    ] },
  ];
}

const presetKind = (preset) => ` (${preset.name.split("-").at(-1)})`;

/** Read lines of a collective, a size and a count; JSON is read as it is. */
function readWorkload(text) {
  if (text.startsWith("[")) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text.split("\n").filter((line) => line.trim()).map((line) => {
    const [collective, bytes, count = "1"] = line.trim().split(/[\s,;]+/);
    return { collective, bytes, count: Number.isFinite(Number(count)) ? Number(count) : count };
  });
}

/** Return what the service names as the nearest questions that have an answer. */
function suggestions(problem) {
  const found = /near are (\d+) or (\d+) nodes/.exec(problem.message);
  return found ? found.slice(1).map((nodes) => ({ label: `Try ${nodes} hosts`, values: { nodes } })) : [];
}

/** Return the texts of the fields of a request, as in an address. */
function textsOf(request) {
  const texts = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== false).map(([name, value]) => [name, String(value)]));
  const size = bytes(request.bytes ?? 0).replace("\u00a0", "");
  if (/^\d+[A-Z]/.test(size)) texts.bytes = size;
  if (request.workload) texts.workload = request.workload.map((task) => `${task.collective} ${task.bytes} ${task.count ?? 1}`).join("\n");
  return texts;
}

export async function create({ go }) {
  const [schemas, presets] = await Promise.all([fields(), get("/v1/presets").then((found) => found.items, () => [])]);
  const form = new Form(items(presets), schemas.design, { ask: go, button: "Find the best topology" });
  return {
    element: form.element,
    show(values, answer, signal) {
      const stored = values.id && get(`/v1/designs/${encodeURIComponent(values.id)}`, { signal }).then((design) => {
        form.fill(textsOf(design.request));
        return design;
      });
      if (!stored) form.fill(Object.keys(values).length ? values : EXAMPLE);
      const body = () => form.body(form.values());
      return ask({ form, answer, signal, suggestions, send: (options) => stored || post("/v1/designs", body(), options), render: (design) => answerOf(design, body(), signal) });
    },
  };
}
