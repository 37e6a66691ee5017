// The rates of the process groups of a training job that share a fabric.

import { get } from "./api.js";
import { h, later, tabs } from "./dom.js";
import { digits, number, plural } from "./numbers.js";
import { keywords, options, quoted, sameElsewhere } from "./same.js";
import { table } from "./table.js";
import { topologyView } from "./topology.js";

/** Return the answer to a fabric with process groups, group-optimum/1. */
export function groupsView(found, body) {
  const unit = found.bandwidth_unit === "GB/s" ? "GB/s" : "links";
  const name = found.name || "This fabric";
  const rates = found.kinds.map(({ kind, together }) => `each ${kind} group reaches ${digits(number(together.algbw))} ${unit}`);
  return [
    h("h1", {}, "With all groups of a kind at once on ", h("strong", { class: "accent" }, name), `, ${rates.join(", and ")}.`),
    h("h2", { class: "hidden" }, "Details"),
    tabs("Details", [
      ["Rates", () => h("div", {}, rateTable(found, unit), h("p", { class: "quiet" }, "Own links: links among the members and switches. Alone: one group with the whole fabric. At once: all groups of the kind."))],
      ["Groups", () => memberTable(found)],
      ["Topology", () => later(get(`/v1/topologies/${found.topology_id}`).then((topology) => topologyView(topology)))],
      ["API", () => sameElsewhere("/v1/optima", body, `client.optimum_of(${keywords(body)})`, commandOf(body),
        [["Rates (JSON)", `/v1/optima/${found.id}`, `${name}.groups.json`, "exact rates, bounds and proofs, group-optimum/1"]])],
    ]),
  ];
}

function rateTable({ kinds, collective }, unit) {
  const suffix = unit === "GB/s" ? ", GB/s" : "";
  const rate = (one) => (one ? h("span", { title: one.algbw }, digits(number(one.algbw))) : "–");
  return table(`Rates of one group of each kind for an ${collective}, in ${unit}`, [
    { head: "group", cell: (row) => h("strong", {}, row.kind) },
    { head: "groups", number: true, cell: (row) => row.groups.length.toLocaleString("en-US") },
    { head: "hosts of each", number: true, cell: (row) => row.size },
    { head: `own links${suffix}`, number: true, cell: (row) => rate(row.members_only) },
    { head: `alone${suffix}`, number: true, cell: (row) => rate(row.alone) },
    { head: `at once${suffix}`, number: true, cell: (row) => rate(row.together) },
    { head: "proof", cell: ({ together }) => (together.exact ? "no schedule is faster" : `at most ${(100 * together.gap).toFixed(1)}% faster`) },
  ], kinds);
}

function memberTable({ kinds }) {
  const rows = kinds.flatMap(({ kind, groups }) => groups.map((members, index) => ({ kind, index, members })));
  return table("Hosts of every group", [
    { head: "group", cell: (row) => `${row.kind} ${row.index}` },
    { head: "hosts", cell: (row) => `${row.members.slice(0, 16).join(", ")}${row.members.length > 16 ? ` and ${plural(row.members.length - 16, "host")} more` : ""}` },
  ], rows);
}

function commandOf({ topology, ...rest }) {
  const source = topology.fabric || topology.recipe;
  return source ? `topoloom optimum ${quoted(source)} ${options(rest)}` : null;
}
