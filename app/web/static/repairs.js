// What happens to a wired plan if a part fails, and the repairs of each failure.

import { post } from "./api.js";
import { h, hidden, show } from "./dom.js";
import { number, plural, seconds, share } from "./numbers.js";
import { fileButton } from "./same.js";
import { table } from "./table.js";
import { followed } from "./waiting.js";

const WORST = 200; // Failures that are listed.
const MEMBERS = { host: "hosts", pair: "pairs" };
const NAMES = { "re-patch": "re-patch to free ports", "spare-ports": "also use spare ports", "spare-host": "replace the host", "left-out": "leave the part out" };

/** Return the worst single failures of a plan, made when they are first opened. */
export function failuresView(plan) {
  const path = `/v1/patch-plans/${plan.id}`;
  const place = h("div", {});
  const behind = h("details", { class: "behind", ontoggle: () => {
    if (place.childElementCount) return;
    place.append(followed("Removes every host, panel and pair in turn …", (options) => post(`${path}/fault-analysis`, { worst: WORST }, options), (found) => view(path, found)));
  } }, h("summary", {}, "If a host, a panel or a pair fails"), place);
  return behind;
}

function view(path, { failures, count, cut }) {
  const repairs = h("div", { "aria-live": "polite" });
  const rated = failures.some((row) => row.share !== undefined);
  const act = ({ kind, name }) => h("button", { type: "button", class: "download", onclick: () => show(repairs, repairsOf(path, kind, name)) }, "Repairs");
  return [h("p", { class: "lead" }, `${plural(count, "failure")} of one part; ${cut ? `${plural(cut, "failure")} cut hosts off` : "none cuts a host off"}. Worst first:`),
    table("Failures of one part", [
      { head: "failed", cell: (row) => row.parts.map((part) => `${part.kind} ${part.name}`).join(", ") },
      { head: "links lost", number: true, cell: (row) => row.lost_links.toLocaleString("en-US") },
      { head: "all reached", cell: (row) => (row.connected ? "yes" : h("span", { class: "error" }, "no")) },
      rated && { head: "rate left", number: true, cell: (row) => (row.share === undefined ? "–" : h("span", { title: row.share }, share(number(row.share)))) },
      { head: hidden("repairs"), cell: ({ parts: [part] }) => (part.kind in MEMBERS ? act(part) : "") },
    ].filter(Boolean), failures), repairs];
}

function repairsOf(path, kind, name) {
  const body = { [MEMBERS[kind]]: [name] };
  return [h("h3", {}, `Repairs after the failure of ${kind} ${name}`),
    followed("Compares the repairs …", (options) => post(`${path}/repairs`, body, options), ({ repairs }) => (repairs.length ? table("Repairs, fewest moves first", [
      { head: "repair", cell: (row) => NAMES[row.repair] },
      { head: "moves", number: true, cell: (row) => row.moves },
      { head: "by the panels", number: true, cell: (row) => (row.seconds ? seconds(row.seconds) : "–") },
      { head: "hosts that lose a pair", number: true, cell: (row) => row.hosts_drained },
      { head: "links dropped", number: true, cell: (row) => row.lost_links },
      { head: "rate left", number: true, cell: (row) => (row.schedule ? share(number(row.schedule.share)) : "–") },
      { head: "plan", cell: (row) => fileButton("JSON", `${path}/repairs`, `repair-${row.repair}.json`, null, { ...body, repair: row.repair }) },
    ], repairs) : h("p", { class: "quiet" }, "No repair is known for this part.")))];
}
