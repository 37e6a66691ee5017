// The rates of the process groups of a training job that share a fabric.

import { get, post } from "./api.js";
import { h, later, tabs } from "./dom.js";
import { bytes, digits, number, plural, seconds } from "./numbers.js";
import { fileButton, keywords, optimumCommand, sameElsewhere } from "./same.js";
import { table } from "./table.js";
import { topologyView } from "./topology.js";
import { followed } from "./waiting.js";

/** Return the answer to a fabric with process groups, group-optimum/1. */
export function groupsView(found, body) {
  const unit = found.bandwidth_unit === "GB/s" ? "GB/s" : "links";
  const name = found.name || "This fabric";
  const rates = found.kinds.map((one) => `each ${one.kind} group reaches ${digits(number((one.all_kinds || one.together).algbw))} ${unit}`);
  const which = body.traffic ? "the groups of all kinds" : "all groups of a kind";
  return [
    h("h1", {}, `With ${which} at once on `, h("strong", { class: "accent" }, name), `, ${rates.join(", and ")}.`),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Rates", () => h("div", {}, rateTable(found, unit), h("p", { class: "quiet" }, `Own links: links among the members and switches. Alone: one group with the whole fabric. At once: all groups of the kind.${body.traffic ? " All kinds: all groups, which end together." : ""}`)), ["how-to/process-groups.md", "Find the rates of process groups"]],
      ["Groups", () => memberTable(found)],
      ["Schedules", () => schedulesView(found, body, name), ["how-to/process-groups.md#make-the-schedules", "Make the schedules"]],
      ["Topology", () => later(get(`/v1/topologies/${found.topology_id}`).then((topology) => topologyView(topology)))],
      ["API", () => sameElsewhere("/v1/optima", body, `client.optimum_of(${keywords(body)})`, optimumCommand(body),
        [["Rates (JSON)", `/v1/optima/${found.id}`, `${name}.groups.json`, "exact rates, bounds and proofs, group-optimum/1"]])],
    ]),
  ];
}

/** Return the verified schedules of all groups at once; without traffic, those of each kind by themselves. */
function schedulesView(found, { topology, collective, groups, traffic }, name) {
  const given = { topology, groups };
  if (traffic) return schedulesOf({ ...given, traffic }, name);
  return h("div", {}, found.kinds.map(({ kind }) => [h("h3", {}, `Groups of kind ${kind}`), schedulesOf({ ...given, collective, ...(typeof groups === "string" && { group: kind }) }, name)]));
}

/** Return the schedules for a request, and a file of each. */
function schedulesOf(request, name) {
  return followed("Makes and verifies the schedules of all groups …", (options) => post("/v1/group-schedules", request, options), ({ kinds, seconds: time }) => {
    const rows = kinds.flatMap((one) => one.groups.map((own, index) => ({ ...own, ...one, index })));
    return [h("p", { class: "lead" }, `${plural(rows.length, "schedule")}, verified, run at once${time === undefined ? "" : ` and end after ${seconds(time)}`}.`),
      table("Schedules of the groups", [
        { head: "group", cell: (row) => `${row.kind} ${row.index}` },
        { head: "collective", cell: (row) => `${row.collective}${row.bytes ? ` of ${bytes(row.bytes)}` : ""}` },
        { head: "hosts", cell: (row) => some(row.hosts) },
        { head: "rate", number: true, cell: (row) => h("span", { title: row.algbw }, digits(number(row.algbw))) },
        { head: "files", cell: (row) => fileButtons(`/v1/schedules/${row.schedule_id}`, `${name}.${row.kind}-${row.index}`) },
      ], rows)];
  });
}

function fileButtons(path, stem) {
  return [["JSON", path, "json"], ["MSCCL++", `${path}?format=mscclpp-json`, "mscclpp.json"]].map(([label, from, suffix]) => fileButton(label, from, `${stem}.${suffix}`));
}

const some = (hosts) => `${hosts.slice(0, 8).join(", ")}${hosts.length > 8 ? ` and ${plural(hosts.length - 8, "host")} more` : ""}`;

function rateTable({ kinds, collective }, unit) {
  const suffix = unit === "GB/s" ? ", GB/s" : "";
  const rate = (one) => (one ? h("span", { title: one.algbw }, digits(number(one.algbw))) : "–");
  return table(`Rates of one group of each kind${collective ? ` for an ${collective}` : ""}, in ${unit}`, [
    { head: "group", cell: (row) => h("strong", {}, row.kind) },
    { head: "groups", number: true, cell: (row) => row.groups.length.toLocaleString("en-US") },
    { head: "hosts of each", number: true, cell: (row) => row.size },
    { head: `own links${suffix}`, number: true, cell: (row) => rate(row.members_only) },
    { head: `alone${suffix}`, number: true, cell: (row) => rate(row.alone) },
    { head: `at once${suffix}`, number: true, cell: (row) => rate(row.together) },
    kinds[0].all_kinds && { head: `all kinds${suffix}`, number: true, cell: (row) => rate(row.all_kinds) },
    { head: "proof", cell: (row, _, one = row.all_kinds || row.together) => (one.exact ? "no schedule is faster" : `at most ${(100 * one.gap).toFixed(1)}% faster`) },
  ].filter(Boolean), kinds);
}

function memberTable({ kinds }) {
  const rows = kinds.flatMap(({ kind, groups }) => groups.map((members, index) => ({ kind, index, members })));
  return table("Hosts of every group", [
    { head: "group", cell: (row) => `${row.kind} ${row.index}` },
    { head: "hosts", cell: (row) => some(row.members) },
  ], rows);
}
