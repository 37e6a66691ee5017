// The view Wiring: the plan from the present wiring to a topology, and its work orders.

import { get, post } from "./api.js";
import { figure, guides, h, later } from "./dom.js";
import { Form, fields } from "./form.js";
import { plural } from "./numbers.js";
import { panelsView } from "./panels.js";
import { planProgress } from "./progress.js";
import { failuresView } from "./repairs.js";
import { everyFormat, files, keywords, options, quoted, sameElsewhere } from "./same.js";
import { ask } from "./waiting.js";

const EXAMPLE = { recipe: "Circulant(12, 2, 3)", from: "Torus(3, 4)", panels: "per-port" };

const ITEMS = [{ label: "Plan", either: [
  { label: "to wire a topology", fields: [
    { name: "recipe", label: "Topology to wire", kind: "text", hint: "recipe, short name or id" },
    { name: "panels", label: "Panels", kind: "select", options: [["per-port", "one for each port of a host"], ["single", "one for all ports"]] },
    { name: "from", label: "Wired today", kind: "text", hint: "recipe, short name or id of the present topology; empty: nothing is plugged" },
    { name: "host_assignment", label: "Hosts", kind: "select", options: [["fixed", "each node on its host"], ["free", "the assignment with the fewest moves"]] },
    { more: "More conditions", fields: [
      { name: "hosts", label: "Hosts, with spare hosts", placeholder: "as the topology" },
      { name: "ports_per_host", label: "Ports of each host", placeholder: "as the topology" },
      { name: "make_before_break", label: "Plug new pairs before old ones go", kind: "check" },
      { name: "max_links_down", label: "Links down in one stage, at most", placeholder: "no limit" },
      { name: "stay_connected", label: "Keep all hosts connected in every stage", kind: "check" },
      { name: "plant", label: "Plant, instead of new panels", kind: "area", hint: "plant/1, CSV, YAML, or cables from NetBox", read: (text) => ({ text }) },
    ] },
  ] },
  { label: "stored under an id", fields: [{ name: "plan", label: "Id of the plan", kind: "text", hint: "all or its first 6 or more characters" }] },
] }];

/** Return the source of a topology: an id, a short name, or a recipe. */
export function sourceOf(text) {
  if (/^[0-9a-f]{6,64}$/.test(text)) return { id: text };
  return text.includes("(") ? { recipe: text } : { name: text };
}

async function planOf(values, form, extra) {
  const { plan: id, recipe, from, ...rest } = values;
  if (id) return { plan: await get(`/v1/patch-plans/${encodeURIComponent(id)}`).catch((error) => refuseAt("/plan", error)), body: null };
  const body = { topology: sourceOf(recipe || ""), ...form.body(rest) };
  if (body.plant) delete body.panels;
  if (from) body.current_wiring = await presentWiring(from, body, extra);
  return { plan: await post("/v1/patch-plans", body, extra), body };
}

/** Return the wiring of the present topology, on the plant or panels of a request. */
export function presentWiring(from, { plant, panels }, extra) {
  const where = plant ? { plant } : panels && { panels };
  return post("/v1/patch-plans", { topology: sourceOf(from), ...where }, extra).catch((error) => refuseAt("/from", error));
}

function refuseAt(pointer, error) {
  error.errors = [{ pointer, detail: error.message }];
  throw error;
}

export async function create({ go }) {
  const form = new Form(ITEMS, (await fields()).wiring, { ask: go, button: "Show the plan" });
  form.aliases = { topology: "recipe", name: "recipe", id: "recipe", current_wiring: "from" };
  return {
    element: form.element,
    show(values, answer, signal) {
      form.fill(Object.keys(values).length ? values : EXAMPLE);
      return ask({ form, answer, signal, send: (extra) => planOf(form.values(), form, extra), render: ({ plan, body }) => planView(plan, body) });
    },
  };
}

/** Return the wiring of a topology on new panels, one for each port. */
export function uniformWiring(topology) {
  const body = { topology };
  return later(post("/v1/patch-plans", body).then((plan) => h("div", {}, summary(plan, "h3"), h("p", { class: "lead" }, h("a", { href: addressOf(plan) }, "Stages and progress of this plan")), panelsView(plan), planFiles(plan))));
}

const addressOf = (plan) => `#/wiring?plan=${plan.id}`;

function planView(plan, body) {
  return [summary(plan), later(planProgress(plan)),
    h("h2", {}, "Failures"), failuresView(plan),
    h("h2", {}, "Work orders"), planFiles(plan), guides([["reference/device-formats.md", "Device formats"], ["reference/patch-plan.md", "Patch plans"]]), body ? elsewhere(plan, body) : []];
}

function elsewhere(plan, body) {
  const { topology, current_wiring: before, plant, ...rest } = body;
  const words = ["topoloom patch plan", quoted(Object.values(topology)[0]), options(rest), plant && "--plant plant.yaml", before && "--current-wiring before.json"];
  return [h("h2", {}, "The same elsewhere"),
    h("p", {}, h("a", { href: addressOf(plan) }, "This plan under its id"), h("span", { class: "quiet" }, ": the address to send to the people at the panels.")),
    sameElsewhere("/v1/patch-plans", shortened(body), `client.patch_plan(${keywords(shortened(body))})`, words.filter(Boolean).join(" "))];
}

/** Return a body whose present wiring is left to a file: a plan is too long to copy. */
export const shortened = ({ current_wiring: before, ...rest }) => (before ? { ...rest, current_wiring: "… the patch-plan/1 document of the present wiring …" } : rest);

function summary(plan, heading = "h1") {
  const { moves, removes, adds, kept, lower_bound: bound, optimal, stages, with_spare_port: spare } = plan.summary;
  const sentence = moves === 0 ? "Nothing has to move: the panels are wired so already"
    : `${plural(moves, "move")} wire this topology${optimal ? ", and no plan has fewer" : `; no plan has fewer than ${bound}`}`;
  return h("div", {}, h(heading, {}, sentence, "."), h("dl", { class: "figures" },
    ...[["Moves", moves, optimal ? "no plan has fewer" : `lower bound ${bound}`], ["Unplug", removes, `${plural(kept, "pair")} stay`], ["Plug", adds, `on ${plural(plan.devices.length, "panel")}`], ["Stages", stages, ""]]
      .map(([name, value, note]) => figure(name, value.toLocaleString("en-US"), note))),
    spare && h("p", { class: "lead" }, "With one more port at every host, ", h("strong", {}, plural(spare.moves, "move")), ` would be enough: ${(moves - spare.moves).toLocaleString("en-US")} fewer.`));
}

function planFiles(plan) {
  const stem = `plan-${plan.id.slice(0, 12)}`;
  const of = (format) => `/v1/patch-plans/${plan.id}?format=${format}`;
  return h("div", {}, files([
    ["Work order (CSV)", of("csv"), `${stem}.csv`, "one move on each line, for people"],
    ["Work order (HTML)", of("html"), `${stem}.html`, "a page to print and tick off"],
    ["Plan (JSON)", of("json"), `${stem}.json`, "stages, moves and their effect"],
    ["Cables (NetBox)", of("netbox-csv"), `${stem}.netbox.csv`, "cables to import into NetBox"],
    ["Commands (SONiC)", of("sonic-cli"), `${stem}.sonic.txt`, "for optical switches with SONiC"],
    ["Commands (Polatis)", of("polatis-scpi"), `${stem}.scpi`, "SCPI, for Polatis switches"],
  ]), everyFormat("plan", `/v1/patch-plans/${plan.id}`, stem));
}
