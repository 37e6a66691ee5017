// What a link of a fabric is worth: the rate gained with more capacity, and lost with less.

import { post } from "./api.js";
import { h } from "./dom.js";
import { digits, number, plural } from "./numbers.js";
import { table } from "./table.js";
import { followed } from "./waiting.js";

/** Return the values of the links for `{topology, collective}`; `unit` is that of capacities. */
export function valuesView(request, unit) {
  return followed("Finds the value of every link …", (options) => post("/v1/optima", { ...request, values: true }, options), ({ values, algbw }) => view(values, algbw, unit));
}

function view(values, now, unit) {
  const rate = unit === "link" ? "links" : unit;
  const gained = (row) => number(row.all_doubled ?? row.doubled ?? now) - now;
  const rows = [...values].sort((one, other) => gained(other) - gained(one));
  const exact = (text) => (text === undefined ? "–" : h("span", { title: text }, digits(number(text))));
  const best = rows[0];
  const lead = gained(best) > 0 ? `Twice the links between ${plural(best.equivalent_pairs ?? 1, "pair")} of nodes such as ${best.ends.join(" – ")} raise the rate from ${digits(now)} to ${digits(now + gained(best))} ${rate}.`
    : "No doubled links between equivalent pairs of nodes raise the rate.";
  return [h("p", { class: "lead" }, lead), table("Values of the links, most useful first", [
    { head: "links between", cell: (row) => row.ends.join(" – ") },
    { head: "equivalent pairs", number: true, cell: (row) => row.equivalent_pairs ?? 1 },
    { head: `capacity, ${rate}`, number: true, cell: (row) => exact(row.capacity) },
    { head: "gain per unit", number: true, cell: (row) => exact(row.more) },
    { head: "loss per unit", number: true, cell: (row) => exact(row.less) },
    { head: `doubled, ${rate}`, number: true, cell: (row) => exact(row.doubled) },
    { head: `all doubled, ${rate}`, number: true, cell: (row) => exact(row.all_doubled) },
  ], rows)];
}
