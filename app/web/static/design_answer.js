// The answer to a design: a sentence, three figures, two charts, and tabs with the details.

import { algorithmsView } from "./algorithms.js";
import { get, post } from "./api.js";
import { moreHosts } from "./best.js";
import { bar, figure, h, hidden, later, show, tabs } from "./dom.js";
import { faultsView } from "./faults.js";
import { frontierChart } from "./frontier.js";
import { bytes, digits, fraction, listed, nameOf, percent, plural, seconds, share } from "./numbers.js";
import { pinButton } from "./pin.js";
import { playerView } from "./player.js";
import { answerFiles, keywords, options, sameElsewhere } from "./same.js";
import { SIZES, sizesChart } from "./sizes.js";
import { table } from "./table.js";
import { topologyView } from "./topology.js";
import { followed } from "./waiting.js";
import { shortened, uniformWiring } from "./wiring.js";

const USUAL = { "double-binary-tree": "double binary trees", "torus-rings": "the best ring torus", "shifted-ring": "a ring", switch: "a switch without latency" };

/** Return the elements of the answer. */
export function answerOf(design, body, signal) {
  const details = h("div", {});
  const best = design.frontier.find((point) => point.topology_id === design.best.topology_id) || design.frontier[0];
  const pick = (point) => show(details, pointTabs(design, body, point, point === best));
  const frontier = frontierChart(design, pick);
  const charts = h("div", { class: "charts" }, frontier.figure);
  if (design.request.collective) charts.append(later(overSizes(design, body, frontier.mark, signal), "Computes the times of other message sizes …"));
  else charts.append(tasksFigure(design));
  pick(best);
  return [sentence(design), figures(design, best), charts, details];
}

/** Return the times of a design at all sizes of the chart, as one batch; `onSize` as of `sizesChart`. */
async function overSizes(design, body, onSize, signal) {
  const timed = Object.fromEntries(Object.entries(body).filter(([name]) => !WIRING.includes(name)));
  const batch = { designs: SIZES.map((size) => ({ ...timed, bytes: size })) };
  const { items } = await post("/v1/designs/batch", batch, { signal, wait: 60 });
  const designs = items.map((item) => item.design).filter(Boolean);
  return sizesChart(designs, design.request.bytes, onSize).figure;
}

/** Return the name of the bound of a design: an allreduce in one pass may take less than in two passes. */
function boundName(design) {
  return design.workload.tasks.some((task) => task.collective === "allreduce") ? "bound of two passes" : "lower bound";
}

/** Return the answer in words, as the command line says it. */
function sentence(design) {
  const { best, bounds, request } = design;
  const ratio = best.seconds / bounds.seconds;
  const bound = boundName(design);
  const gap = Math.abs(ratio - 1) < 0.0005 ? (ratio === 1 ? `which is the ${bound}` : `within 0.1% of the ${bound}`)
    : `${percent(ratio)} ${ratio > 1 ? "above" : "below"} the ${bound}`;
  const task = request.collective ? `a${/^a/.test(request.collective) ? "n" : ""} ${request.collective} of ${bytes(request.bytes)}`
    : `${plural(design.workload.tasks.reduce((sum, task) => sum + task.count, 0), "collective")}${design.workload.preset ? ` of ${design.workload.preset}` : ""}`;
  const times = new Map(design.baselines.map((other) => [other.name, other.seconds]));
  const switches = (design.assumed || []).filter((other) => other.name.startsWith("switch-")).map((other) => other.seconds);
  if (switches.length) times.set("switch", Math.min(...switches));
  const others = Object.entries(USUAL).filter(([name]) => times.has(name))
    .map(([name, words], index) => `${words} ${index ? "" : "would take "}${against(times.get(name) / best.seconds)}`);
  return h("h1", {}, h("strong", { class: "accent" }, nameOf(best)), ` takes ${seconds(best.seconds)} for ${task} on ${request.nodes.toLocaleString("en-US")} hosts, ${gap}`,
    others.length > 0 && h("span", { class: "others" }, `; ${listed(others)}`), ".");
}

function against(ratio) {
  if (ratio >= 2) return `${digits(ratio)} times as long`;
  if (Math.abs(ratio - 1) < 0.0005) return "just as long";
  return ratio >= 1 ? `${percent(ratio)} longer` : `${percent(ratio)} less`;
}

const WIRING = ["current_wiring", "panels", "plant", "objective", "max_moves"]; // They change no time.

const PROVEN = {
  optimal: ["proven optimal", "The topology meets both lower bounds, in both directions."],
  "steps-optimal": ["fewest steps, proven", "No topology with these hosts and ports has fewer steps."],
  "bandwidth-optimal": ["least T_B, proven", "No topology with these hosts and ports has a lower bandwidth cost."],
  "best-known": ["best known", "The bounds leave room for a better topology; none is known."],
};

function figures(design, best) {
  const schedule = design.best.schedule;
  const [label, meaning] = PROVEN[best.status] || PROVEN["best-known"];
  const [steps, cost] = schedule ? [schedule.steps, schedule.bandwidth] : [best.steps, best.bandwidth];
  return h("dl", { class: "figures" },
    figure("Time", seconds(design.best.seconds), `bound ${seconds(design.bounds.seconds)}`),
    figure("Steps", String(steps), `one pass ${best.steps}, bound ${design.bounds.steps}`),
    figure("Bandwidth cost T_B", h("span", { title: cost }, fraction(cost)), `one pass ${fraction(best.bandwidth)}, bound ${fraction(design.bounds.bandwidth)}, in units of M/B`),
    h("div", { class: "marks" }, h("dt", { class: "hidden" }, "Proof"),
      h("dd", {}, h("span", { class: "mark", title: meaning }, label), " ", schedule && h("span", { class: "mark", title: "An independent verifier followed the schedule chunk by chunk." }, "schedule verified"), later(pinned(design), ""))));
}

/** Return the button that pins the design. */
async function pinned(design) {
  return pinButton("designs", await get(`/v1/designs/${design.id}/labels`));
}

function pointTabs(design, body, point, isBest) {
  const topology = point.topology_id ? get(`/v1/topologies/${point.topology_id}`) : post("/v1/topologies", { recipe: point.recipe });
  const collective = design.request.collective || design.workload.tasks[0].collective;
  const schedule = isBest && design.best.schedule ? Promise.resolve(design.best.schedule.id)
    : topology.then((found) => post("/v1/schedules", { topology: { id: found.id }, collective })).then((found) => found.id);
  schedule.catch(() => {});
  return [
    h("h2", {}, nameOf(point), h("span", { class: "quiet" }, ` ${point.steps} steps, T_B ${fraction(point.bandwidth)}, ${seconds(point.seconds)}${isBest ? "" : " – another point of the frontier"}`)),
    tabs("Details", [
      ["Topology", () => later(topology.then((found) => topologyView(found, { about: proof(design, point) }))), ["explanation/cost-model.md", "The cost model"]],
      ["Schedule", () => later((tell) => Promise.all([topology, schedule]).then(([found, id]) => scheduleView(found, id, tell, design.request))), ["explanation/schedules.md", "Schedules"]],
      ["Wiring", () => later(topology.then((found) => uniformWiring({ id: found.id }))), ["explanation/wiring.md", "Wiring"]],
      design.trade_off && ["Moves", () => tradeOff(design), ["explanation/co-design.md", "Co-design"]],
      ["Algorithms", () => later(topology.then((found) => algorithmsView({ topology: { id: found.id }, collective, alpha_us: design.request.alpha_us }))), ["explanation/cost-model.md", "The cost model"]],
      ["Alternatives", () => alternatives(design), ["explanation/cost-model.md#baselines", "Baselines"]],
      design.request.collective && collective !== "all-to-all" && ["More hosts", () => later(moreHosts(design.request)), ["explanation/discovery.md", "How topologies are found"]],
      ["Faults", () => later(topology.then((found) => faultsView(found, collective === "all-to-all" ? "allgather" : collective))), ["notes/single-faults.md", "Single faults"]],
      ["Files", () => later(Promise.all([topology, schedule]).then(([found, id]) => fileList(design, found, id))), ["reference/schedule-formats.md", "Schedule formats"]],
      ["API", () => sameElsewhere("/v1/designs", shortened(body), `client.design(${keywords(shortened(body))})`, design.request.collective || body.preset ? `topoloom design ${options(body)}` : null), ["how-to/use-the-client.md", "Call the service from Python"]],
    ].filter(Boolean)),
  ];
}

/** Return the player of a schedule, and its simulated time if the design has one message size. */
async function scheduleView(topology, id, tell, { bytes: size, alpha_us, node_gbps, port_gbps, degree }) {
  const player = await playerView(topology, id, tell);
  if (!size) return player;
  const speed = { bytes: size, alpha_us, node_gbps: node_gbps ?? port_gbps * degree };
  return h("div", {}, player, followed("Simulates the schedule …", (extra) => post(`/v1/schedules/${id}/simulation`, speed, extra), ({ seconds: time, utilisation: use }) =>
    h("p", {}, "Simulated message by message, ", h("strong", {}, `${bytes(size)} take ${seconds(time)}`), `: no host waits for the end of a step. Links carry data for ${share(use.mean)} of this time.`)));
}

/** Return the cost of a point, and why no topology costs less. */
function proof({ request, bounds }, point) {
  const { nodes, degree, links } = request;
  const hosts = nodes.toLocaleString("en-US");
  const reach = (steps) => Array.from({ length: steps + 1 }, (_, hop) => (hop === 0 ? 1 : degree * (links === "bidirectional" ? degree - 1 : degree) ** (hop - 1))).reduce((sum, count) => sum + count);
  const near = reach(bounds.steps - 1);
  const why = near < nodes ? `: in ${plural(bounds.steps - 1, "step")} a host of ${plural(degree, "port")} reaches at most ${(near - 1).toLocaleString("en-US")} of the ${(nodes - 1).toLocaleString("en-US")} others` : "";
  const [fewest, least] = [point.gap.steps === 0, point.gap.bandwidth === "0"];
  return [h("h3", {}, "Cost, and its proof"),
    h("p", {}, h("strong", {}, plural(point.steps, "step")), fewest ? ", and no topology has fewer" : `; no topology has fewer than ${bounds.steps}`, `${why}.`),
    h("p", {}, h("strong", {}, `T_B ${point.bandwidth}`), least ? ", and no topology has less" : ` = ${fraction(point.bandwidth)}; no topology has less than ${bounds.bandwidth}`, `: each of ${hosts} hosts receives the data of all others.`)];
}

/** Return the topologies that no other beats in both time and moves from the present wiring. */
function tradeOff({ trade_off: rows, best }) {
  return table("Topologies by time and by moves", [
    { head: "topology", cell: (row) => h("span", { class: row.topology_id === best.topology_id ? "accent" : "", title: row.recipe }, nameOf(row)) },
    { head: "time", number: true, cell: (row) => seconds(row.seconds) },
    { head: "moves", number: true, cell: (row) => h("span", { title: `no plan has fewer than ${row.lower_bound}` }, row.moves.toLocaleString("en-US")) },
    { head: "by the panels", number: true, cell: (row) => (row.rewiring_seconds ? seconds(row.rewiring_seconds) : "–") },
    { head: "hosts that lose a link", number: true, cell: (row) => row.drained },
  ], rows);
}

/** Return the times of the best topology and of all baselines as bars. */
function alternatives(design) {
  const rows = [
    { name: nameOf(design.best), seconds: design.best.seconds, kind: "ours" },
    { name: boundName(design), seconds: design.bounds.seconds, kind: "bound" },
    ...design.baselines.map((other) => ({ ...other, kind: "other" })),
    ...(design.assumed || []).map((other) => ({ ...other, kind: "other", note: other.assumption })),
  ].sort((one, other) => one.seconds - other.seconds);
  const most = Math.min(Math.max(...rows.map((row) => row.seconds)), 5 * design.best.seconds);
  return table("Times of the alternatives", [
    { head: "network", cell: (row) => h("span", { class: row.kind === "ours" ? "accent" : "" }, row.name) },
    { head: hidden("bar"), cell: (row) => bar(row.seconds, most, row.kind) },
    { head: "time", number: true, cell: (row) => seconds(row.seconds) },
    { head: "to the best", number: true, cell: (row) => `${digits(row.seconds / design.best.seconds)} ×` },
    { head: "assumed", cell: (row) => h("span", { class: "wrap" }, row.note || "") },
  ], rows);
}

function tasksFigure(design) {
  const tasks = design.co_design.tasks.slice(0, 50);
  return h("figure", { class: "chart" }, h("h2", { class: "title" }, "The fastest algorithm of each collective"), table("Collectives of the workload", [
    { head: "collective", cell: (task) => task.collective },
    { head: "size", number: true, cell: (task) => bytes(task.bytes) },
    { head: "count", number: true, cell: (task) => task.count },
    { head: "algorithm", cell: (task) => task.algorithm },
    { head: "time of one", number: true, cell: (task) => seconds(task.seconds) },
  ], tasks));
}

function fileList({ id, request }, topology, schedule) {
  const stem = topology.name || "topology";
  const { nodes, degree, links, collective, node_gbps, port_gbps, alpha_us } = request;
  const hosts = { nodes, degree, links };
  const timed = { ...hosts, collective, alpha_us, ...(port_gbps ? { port_gbps } : { node_gbps }) };
  return answerFiles(["Design (JSON)", `/v1/designs/${id}`, `${stem}.design.json`, "this answer, with exact numbers"], topology.id, schedule, stem, [
    ["Traces (Chakra)", `/v1/schedules/${schedule}?format=chakra-et&bytes=${request.bytes || 1048576}`, `${stem}.chakra.zip`, "one trace for each rank, for ASTRA-sim"],
    ...[["msccl-xml", "MSCCL"], ["mscclpp-json", "MSCCL++"]].map(([format, runtime]) => [`Programs (${runtime})`, `/v1/designs/${id}?format=${format}`, `${stem}.${format}.zip`, "programs that together serve all message sizes"]),
    ["Frontier (SVG)", "/v1/plots/frontier", `${stem}.frontier.svg`, "a picture for a report", hosts],
    collective && ["Times over size (SVG)", "/v1/plots/sizes", `${stem}.sizes.svg`, "a picture for a report", timed],
    ["Load of the links (SVG)", "/v1/plots/load", `${stem}.load.svg`, "a picture of the schedule, up to 512 nodes", { schedule_id: schedule }],
  ]);
}
