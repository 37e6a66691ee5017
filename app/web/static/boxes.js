// The view Boxes: the best topology between boxes of accelerators, and its cables.

import { get, post } from "./api.js";
import { bar, figure, h, hidden, later, notes, tabs } from "./dom.js";
import { Form, fields } from "./form.js";
import { bytes, digits, listed, percent, plural, seconds } from "./numbers.js";
import { playerView } from "./player.js";
import { answerFiles, keywords, options, sameElsewhere } from "./same.js";
import { table } from "./table.js";
import { topologyView } from "./topology.js";
import { ask } from "./waiting.js";
import { uniformWiring } from "./wiring.js";

const EXAMPLE = { box: "dgx-h100", nodes: "8", degree: "8", collective: "allreduce", bytes: "1GiB", boxes_per_rack: "4", copper_price: "1", optics_price: "8" };

function items(names) {
  return [
    { name: "box", label: "Box", kind: "text", list: names, hint: "a fabric of one box, such as dgx-h100 or mi300x, or a recipe" },
    { name: "nodes", label: "Boxes" },
    { name: "degree", label: "Cables of each box" },
    { name: "links", label: "Port direction", kind: "select", options: [["bidirectional", "two-way ports"], ["unidirectional", "one-way fibers"]] },
    { name: "collective", label: "Collective over all accelerators", kind: "select", options: ["allreduce", "allgather", "reduce-scatter"].map((name) => [name, name]) },
    { name: "bytes", label: "Data size", kind: "text", hint: "such as 25MiB, 1GiB" },
    { name: "alpha_us", label: "Latency of a hop", unit: "µs" },
    { more: "Cables and racks", fields: [
      { name: "cable_bandwidth", label: "Rate of a cable", unit: "GB/s", placeholder: "as a NIC", hint: "each way" },
      { name: "cable_ports", label: "Ports on the accelerators", kind: "select", options: [["", "spread evenly"], ["round-robin", "one after another"]] },
      { name: "boxes_per_rack", label: "Boxes of a rack", hint: "cables inside a rack are copper" },
      { name: "copper_price", label: "Price of a copper cable" },
      { name: "optics_price", label: "Price of an optical cable" },
    ] },
  ];
}

export async function create({ go }) {
  const [schemas, fabrics] = await Promise.all([fields(), get("/v1/fabrics").then((found) => found.items, () => [])]);
  const names = fabrics.map((fabric) => fabric.name).filter((name) => name.endsWith("-N")).map((name) => name.slice(0, -2));
  const form = new Form(items(names), schemas.boxes, { ask: go, button: "Find the best cables" });
  return {
    element: form.element,
    show(values, answer, signal) {
      const stored = form.open("box-designs", values, EXAMPLE, signal);
      const body = () => form.body(form.values());
      return ask({ form, answer, signal, send: (extra) => stored || post("/v1/box-designs", body(), extra), render: (design) => answerOf(design, body()) });
    },
  };
}

const timeOf = (row) => row.seconds ?? row.least_seconds;

function answerOf(design, body) {
  const { best, request, accelerators } = design;
  const topology = get(`/v1/topologies/${design.topology_id}`);
  const schedule = topology.then((found) => post("/v1/schedules", { topology: { id: found.id }, collective: request.collective }));
  schedule.catch(() => {});
  const { inside, copper, optics, cost } = best.cables;
  return [
    h("h1", {}, h("strong", { class: "accent" }, best.between), ` between ${plural(request.nodes, "box", "es")} of ${request.box} takes ${seconds(timeOf(best))} for an ${request.collective} of ${bytes(request.bytes)} over ${plural(accelerators, "accelerator")}`,
      h("span", { class: "others" }, `, ${above(timeOf(best), design.bound_seconds)}${others(design)}`), "."),
    h("dl", { class: "figures" },
      figure("Time", seconds(timeOf(best)), best.seconds ? "of a verified schedule" : "at least, no schedule is made"),
      figure("Algorithm bandwidth", `${digits(best.algbw)} GB/s`, `exactly ${best.exact_algbw}`),
      figure("Hops", String(best.hops), "between the farthest accelerators"),
      figure("Cables", (copper + optics).toLocaleString("en-US"), `${plural(copper, "copper", "")}, ${plural(optics, "optical", "")}${cost === undefined ? "" : `, cost ${cost.toLocaleString("en-US")}`}`)),
    notes(design.notes),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Compare", () => compared(design)],
      ["More cables", () => moreCables(design), ["explanation/forestcoll.md#what-a-link-is-worth", "What a link is worth"]],
      ["Topology", () => later(topology.then((found) => topologyView(found, { about: h("p", {}, h("code", {}, best.recipe), ` has ${plural(inside, "link")} inside the boxes.`) })))],
      ["Trees", () => later((tell) => Promise.all([topology, schedule]).then(([found, made]) => playerView(found, made.id, tell)), "Packs the trees …"), ["explanation/forestcoll.md", "ForestColl"]],
      best.racks && ["Racks", () => racks(best.racks)],
      ["Wiring", () => uniformWiring({ recipe: best.between })],
      ["Files", () => later(schedule.then((made) => fileList(design, made)))],
      ["API", () => sameElsewhere("/v1/box-designs", body, `client.design_boxes(${keywords(body)})`, `topoloom design ${options(body)}`)],
    ].filter(Boolean)),
  ];
}

function above(time, bound) {
  const ratio = time / bound;
  return ratio < 1.0005 ? "and no cables without switches are faster" : `${percent(ratio)} above a bound for all cables without switches`;
}

/** Return what a switch and the next topology take. */
function others({ topologies, best }) {
  const words = { switch: "one switch without latency", ring: "a ring", torus: "the best torus", "full-mesh": "a full mesh" };
  const told = Object.entries(words).flatMap(([kind, name]) => topologies.filter((row) => row.kind === kind && row.between !== best.between).slice(0, 1)
    .map((row) => [name, seconds(timeOf(row))]));
  return told.length ? `; ${listed(told.map(([name, time], index) => `${name} ${index ? "" : "would take at least "}${time}`))}` : "";
}

function compared({ topologies, best }) {
  const most = Math.max(...topologies.map(timeOf));
  const priced = topologies.some((row) => row.cables.cost !== undefined);
  return table("Topologies between the boxes", [
    { head: "between boxes", cell: (row) => [h("span", { class: row.recipe === best.recipe ? "accent" : "" }, row.between), row.kind !== "frontier" && h("span", { class: "quiet" }, `, a ${row.kind.replace("-", " ")}`)] },
    { head: hidden("bar"), cell: (row) => bar(timeOf(row), most, row.recipe === best.recipe ? "ours" : "other") },
    { head: "at least", number: true, cell: (row) => seconds(row.least_seconds) },
    { head: "scheduled", number: true, cell: (row) => (row.seconds ? seconds(row.seconds) : "–") },
    { head: "GB/s", number: true, cell: (row) => h("span", { title: row.exact_algbw }, digits(row.algbw)) },
    { head: "hops", number: true, cell: (row) => row.hops },
    { head: "copper", number: true, cell: (row) => row.cables.copper.toLocaleString("en-US") },
    { head: "optics", number: true, cell: (row) => row.cables.optics.toLocaleString("en-US") },
    priced && { head: "cost", number: true, cell: (row) => row.cables.cost?.toLocaleString("en-US") ?? "–" },
  ].filter(Boolean), topologies);
}

function moreCables({ more_cables: rows }) {
  return table("Best rates with more cables", [
    { head: "cables of each box", number: true, cell: (row) => row.degree },
    { head: "GB/s", number: true, cell: (row) => (row.algbw ? h("span", { title: row.exact_algbw }, digits(row.algbw)) : "–") },
    { head: "gain", number: true, cell: (row) => (row.gain === undefined ? "–" : percent(1 + row.gain)) },
    { head: "at least", number: true, cell: (row) => (row.least_seconds ? seconds(row.least_seconds) : "–") },
    { head: "topology", cell: (row) => row.recipe || row.reason },
  ], rows);
}

function racks(rows) {
  return table("Boxes of each rack", [
    { head: "rack", number: true, cell: (_, index) => index },
    { head: "boxes", cell: (row) => row.join(", ") },
  ], rows);
}

function fileList(design, schedule) {
  const stem = `boxes-${design.id.slice(0, 12)}`;
  return answerFiles(["Design (JSON)", `/v1/box-designs/${design.id}`, `${stem}.json`, "this answer, with exact rates, box-design/1"], design.topology_id, schedule.id, stem);
}
