// The rate that is left after each single fault, worst first.

import { post } from "./api.js";
import { h, hidden, show } from "./dom.js";
import { digits, number } from "./numbers.js";
import { table } from "./table.js";
import { progress } from "./waiting.js";

/** Return the faults of a topology; the analysis is a job, whose progress stands in their place. */
export function faultsView(topology, collective, unit) {
  const place = h("div", {}, h("p", { class: "quiet" }, "Removes every part in turn …"));
  const body = { kind: "fault-analysis", topology: { id: topology }, template: { collective } };
  const onJob = (job, cancel) => show(place, progress(job, cancel, "h3"));
  post("/v1/sweeps", body, { onJob }).then((sweep) => show(place, worstFirst(sweep.rows, collective, unit)),
    (error) => show(place, h("p", { class: "error" }, error.message)));
  return place;
}

function worstFirst(rows, collective, unit) {
  const left = (row) => number(row.left ?? 0);
  const sorted = [...rows].sort((one, other) => left(one) - left(other));
  const worst = sorted[0];
  return [
    h("p", { class: "lead" }, `The worst fault leaves ${share(left(worst))} of the rate: the loss of ${named(worst)}${worst.equivalent_faults > 1 ? `, or of ${worst.equivalent_faults - 1} equivalent ones` : ""}.`),
    table(`Rate of the ${collective} after each fault`, [
      { head: "lost", cell: named },
      { head: "equivalent", number: true, cell: (row) => row.equivalent_faults },
      { head: hidden("share"), cell: (row) => h("meter", { class: "ours", min: "0", max: "1", value: String(Math.min(1, left(row))), "aria-hidden": "true" }) },
      { head: "left", number: true, cell: (row) => h("span", { title: row.left }, share(left(row))) },
      { head: unit === "GB/s" ? "GB/s" : "rate", number: true, cell: (row) => (row.algbw === undefined ? "–" : digits(row.algbw)) },
    ], sorted),
    h("p", { class: "quiet" }, "Each rate is the optimum of the remaining fabric. Parts that a symmetry exchanges are one row."),
  ];
}

const share = (value) => `${(100 * value).toFixed(1)}\u00a0%`;

function named(row) {
  const ends = row[row.part] ?? row.node ?? row.host;
  return `${row.part} ${Array.isArray(ends) ? ends.join(" – ") : ends}`;
}
