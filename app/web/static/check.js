// A check of a schedule that somebody else made: the verifier follows its file on the topology.

import { post } from "./api.js";
import { h, show } from "./dom.js";
import { takesFiles } from "./form.js";
import { digits, plural, seconds } from "./numbers.js";
import { followed } from "./waiting.js";

const MOST = 50; // Violations that are listed.

/** Return the form that checks a file on a topology, and simulates a valid one. */
export function checkView(topologyId) {
  const place = h("div", { "aria-live": "polite" });
  const area = h("textarea", { id: "checked", rows: 6, spellcheck: "false", "aria-describedby": "checked-hint" });
  const size = h("input", { type: "text", id: "checked-bytes", value: "1MB", autocomplete: "off" });
  const check = () => {
    const body = { topology: { id: topologyId }, ...scheduleOf(area.value) };
    show(place, followed("Follows every message …", (options) => post("/v1/verifications", body, options), (found) => (found.valid ? sound(found, { ...body, bytes: size.value.trim() }) : broken(found))));
  };
  return h("div", {}, h("div", { class: "field observe" }, h("label", { for: "checked" }, "A schedule for this topology"), area, takesFiles(area),
    h("span", { class: "hint", id: "checked-hint" }, "MSCCL XML, an MSCCL++ plan, or schedule/1; files can be dropped here")),
  h("div", { class: "inline" }, h("label", { for: "checked-bytes" }, "Data size"), size, h("button", { type: "button", class: "primary", onclick: check }, "Check and simulate")), place);
}

/** Return the members of a request for the text of a schedule. */
function scheduleOf(text) {
  if (text.trim().startsWith("<")) return { text, format: "msccl-xml" };
  try {
    const schedule = JSON.parse(text);
    if (schedule.schema) return { schedule };
  } catch { /* The service names what is wrong in the text. */ }
  return { text, format: "mscclpp-json" };
}

function sound(found, body) {
  return [h("p", { class: "lead" }, h("strong", {}, "The schedule is valid: "), "every host ends with the data that the collective promises."), (found.notes || []).map((note) => h("p", { class: "quiet" }, note)),
    followed("Simulates the schedule …", (options) => post("/v1/simulations", body, options), (simulated) => h("p", {}, "Simulated message by message, ", h("strong", {}, seconds(simulated.seconds)),
      simulated.algbw ? ` for this size: ${digits(simulated.algbw)} GB/s.` : "."))];
}

function broken({ found, violations }) {
  return [h("p", { class: "error" }, `The schedule is not valid: ${plural(found, "violation")}.`),
    h("ul", {}, violations.slice(0, MOST).map((text) => h("li", {}, text)))];
}
