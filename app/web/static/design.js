// The view Design: hosts, ports and a workload, and the best topology for them.

import { get, post } from "./api.js";
import { answerOf } from "./design_answer.js";
import { Form, fields } from "./form.js";
import { ask } from "./waiting.js";
import { presentWiring } from "./wiring.js";

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
    { more: "Wired today", fields: [
      { name: "from", label: "Present topology", kind: "text", hint: "recipe, short name or id: the answer then counts moves" },
      { name: "panels", label: "Panels", kind: "select", options: [["", "one for each port of a host"], ["single", "one for all ports"]] },
      { name: "plant", label: "Plant, instead of new panels", kind: "area", hint: "plant/1, CSV, YAML, or cables from NetBox", read: (text) => ({ text }) },
      { name: "objective", label: "Trade the time against", kind: "select", options: [["", "moves"], ["seconds", "time of the panels"], ["drained", "hosts that lose a link"]] },
      { name: "max_moves", label: "At most this number of moves", placeholder: "no limit" },
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

export async function create({ go }) {
  const [schemas, presets] = await Promise.all([fields(), get("/v1/presets").then((found) => found.items, () => [])]);
  const form = new Form(items(presets), schemas.design, { ask: go, button: "Find the best topology" });
  return {
    element: form.element,
    show(values, answer, signal) {
      const stored = form.open("designs", values, EXAMPLE, signal);
      let body = null;
      const send = async (extra) => {
        const { from, ...rest } = form.values();
        body = form.body(rest);
        if (from) body.current_wiring = await presentWiring(from, body, extra);
        return post("/v1/designs", body, extra);
      };
      return ask({ form, answer, signal, suggestions, send: (extra) => stored || send(extra), render: (design) => answerOf(design, body || form.body(form.values()), signal) });
    },
  };
}
