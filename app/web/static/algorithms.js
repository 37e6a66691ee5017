// The times of every algorithm of a collective on one topology, over message size.

import { post } from "./api.js";
import { h } from "./dom.js";
import { bytes } from "./numbers.js";
import { seriesChart } from "./series.js";
import { followed } from "./waiting.js";

/** Return the comparison of all algorithms for `{topology, collective, ...}`. */
export function algorithmsView(request) {
  return followed("Compares the algorithms …", (options) => post("/v1/comparisons", request, options), view);
}

function view({ fabric: { sizes, algorithms, switch_over: over } }) {
  const plain = (name) => name.replace(/ --max-gap (\S+)/, " (gap $1)").replace(/ --max-height (\S+)/, " (height $1)").replace(/ --steps (\S+)/, " ($1 steps)");
  const series = algorithms.map(({ name }) => ({ name: plain(name), times: sizes.map((row) => row.times.find((one) => one.name === name)?.seconds) }));
  return [h("p", { class: "lead" }, `Fastest: ${over.map((one, index) => `${plain(one.name)}${index ? ` from ${bytes(one.from_bytes)}` : ""}`).join(", ")}.`),
    h("div", { class: "charts one" }, seriesChart(sizes.map((row) => row.bytes), series))];
}
