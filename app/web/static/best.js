// The best known topologies of a range of sizes, and their time over the number of hosts.

import { get } from "./api.js";
import { axes, chart, logTicks, path, scale, tick, ticks } from "./charts.js";
import { h, hidden, s } from "./dom.js";
import { bytes, fraction, nameOf, percent, seconds } from "./numbers.js";
import { keywords, options, sameElsewhere } from "./same.js";
import { table } from "./table.js";

const USUAL = { nodes_min: "16", nodes_max: "1024", degree: "4", collective: "allreduce", bytes: "1MB" };
const SAMPLES = 48; // Sizes of the chart; each is one request.
const FILTERS = ["degree", "links", "collective", "bytes", "max_steps", "max_bandwidth", "node_gbps", "port_gbps", "alpha_us"];

/** Return the chart of the time over hosts, and the table of the topologies nearest to their bounds. */
export async function bestKnown(values) {
  const asked = { ...USUAL, ...(values.nodes && { nodes_min: values.nodes, nodes_max: values.nodes }), ...values };
  const filters = Object.fromEntries(FILTERS.filter((name) => asked[name]).map((name) => [name, asked[name]]));
  const range = new URLSearchParams({ ...filters, nodes_min: asked.nodes_min, nodes_max: asked.nodes_max, limit: "100" });
  const { candidates, request } = await get(`/v1/best?${range}`);
  if (!candidates.length) return h("p", { class: "quiet" }, "No topology of these sizes is stored or in the atlas. ", h("a", { href: "#/design" }, "Ask for a design"), " to search.");
  const points = await overHosts(filters, request);
  return h("div", {},
    h("p", { class: "lead" }, `Time of one ${request.collective} of ${bytes(request.bytes)} with ${request.degree} ports of each host, from the atlas and from stored answers, without a search.`),
    points.length > 1 && h("div", { class: "charts one" }, timeChart(points, filters)),
    h("h2", {}, "Topologies nearest to their bound"), bestTable(candidates, filters),
    h("h2", {}, "The same elsewhere"), elsewhere(range));
}

const AROUND = 16; // Greatest factor between the hosts of a design and those of its chart.

/** Return the best known times for more and fewer hosts than those of a design with one collective. */
export async function moreHosts({ nodes, ...request }) {
  const given = Object.fromEntries(Object.entries(request).filter(([name, value]) => FILTERS.includes(name) && value !== null));
  const range = { nodes_min: Math.max(4, Math.ceil(nodes / AROUND)), nodes_max: Math.min(16_384, nodes * AROUND) };
  const points = await overHosts(given, { ...given, ...range });
  if (points.length < 2) return h("p", { class: "quiet" }, "The atlas has no other numbers of hosts with these ports.");
  const address = `#/library?${new URLSearchParams({ list: "best", ...given, ...range })}`;
  return h("div", {}, h("div", { class: "charts one" }, timeChart(points, given)), h("p", { class: "quiet" }, "From the atlas and stored answers, without a search. ", h("a", { href: address }, "With filters, in the library")));
}

function elsewhere(query) {
  const asked = Object.fromEntries([...query].map(([name, text]) => [name, Number.isFinite(Number(text)) ? Number(text) : text]));
  return sameElsewhere(`/v1/best?${query}`, null, `client.best(${keywords(asked)})`, `topoloom best ${options(asked)}`);
}

/** Return the fastest known topology of sizes of the atlas, evenly on a logarithmic scale. */
async function overHosts(filters, { nodes_min: least, nodes_max: most, degree, links }) {
  const query = new URLSearchParams({ nodes_min: least, nodes_max: most, degree, links });
  const sizes = [...new Set((await get(`/v1/atlas?${query}`)).points.map((point) => point.nodes))].sort((one, other) => one - other);
  const share = (size) => Math.floor((SAMPLES * Math.log(size / least)) / (Math.log(most / least) || 1));
  const chosen = sizes.filter((size, index) => index === 0 || index === sizes.length - 1 || share(size) !== share(sizes[index - 1]));
  const found = await Promise.all(chosen.map((size) => get(`/v1/best?${new URLSearchParams({ ...filters, nodes: size, limit: "1" })}`)));
  return found.flatMap(({ candidates }) => candidates.slice(0, 1));
}

function timeChart(points, filters) {
  const worst = Math.max(...points.map((point) => point.seconds / point.bound_seconds));
  const title = `The best known times are at most ${percent(worst)} above the lower bound`;
  const [least, most] = [points[0].nodes, points.at(-1).nodes];
  const draw = (width, height) => {
    const box = { left: 64, right: width - 20, top: 34, bottom: height - 44 };
    const top = 1000 * Math.max(...points.map((point) => point.seconds));
    const x = scale([least, most], [box.left, box.right], true);
    const y = scale([0, top * 1.05], [box.bottom, box.top]);
    return axes(width, height, box, {
      x, y, title, xName: "hosts", yName: "time, ms",
      xTicks: logTicks(least, most).map((value) => [value, value.toLocaleString("en-US")]),
      yTicks: ticks(0, top, 5).map((value) => [value, tick(value)]),
    },
    s("path", { class: "bound", d: path(points.map((point) => [x(point.nodes), y(1000 * point.bound_seconds)])) }),
    s("path", { class: "ours", d: path(points.map((point) => [x(point.nodes), y(1000 * point.seconds)])) }),
    points.map((point) => s("a", { href: designOf(point, filters), "aria-label": `${point.nodes} hosts: ${nameOf(point)}, ${seconds(point.seconds)}` },
      s("title", {}, `${point.nodes.toLocaleString("en-US")} hosts: ${nameOf(point)}\n${seconds(point.seconds)}, bound ${seconds(point.bound_seconds)}`),
      s("circle", { class: "cursor-dot", cx: x(point.nodes), cy: y(1000 * point.seconds), r: 4 }))),
    s("text", { class: "ours", x: box.left + 8, y: box.top + 8 }, "best known"), s("text", { class: "note", x: box.left + 8, y: box.top + 24 }, "thin line: lower bound"));
  };
  const made = chart(title, (width, height) => {
    const drawn = draw(width, height);
    // Its points are links, which a picture must not hold.
    drawn.setAttribute("role", "group");
    return drawn;
  }, { columns: columnsOf(filters), rows: points }, 320);
  return made.figure;
}

const designOf = (point, filters = {}) => `#/design?${new URLSearchParams({ ...filters, nodes: point.nodes, degree: point.degree })}`;

function columnsOf(filters) {
  return [
    { head: "hosts", number: true, cell: (row) => row.nodes.toLocaleString("en-US") },
    { head: "topology", cell: (row) => h("a", { title: row.recipe, href: designOf(row, filters) }, nameOf(row)) },
    { head: "time", number: true, cell: (row) => seconds(row.seconds) },
    { head: "above bound", number: true, cell: (row) => percent(row.seconds / row.bound_seconds) },
  ];
}

function bestTable(candidates, filters) {
  return table("Best known topologies", [
    ...columnsOf(filters),
    { head: hidden("wiring"), cell: (row) => h("a", { href: `#/wiring?${new URLSearchParams({ recipe: row.recipe })}` }, "wiring") },
    { head: "steps", number: true, cell: (row) => h("span", { title: `bound ${row.bounds.steps}` }, row.steps) },
    { head: "T_B", number: true, cell: (row) => h("span", { title: `${row.bandwidth}, bound ${row.bounds.bandwidth}` }, fraction(row.bandwidth)) },
    { head: "algorithm", cell: (row) => row.algorithm },
    { head: "from", cell: (row) => [...new Set(row.known_from.map((one) => one.kind))].join(", ") },
  ], candidates);
}
