// The view Help: what the views answer, the words of the page, keys, and the documentation.

import { h, later, show } from "./dom.js";

const VIEWS = [
  ["design", "Design", "Which topology is best for these hosts, ports and data? How far is its time from the bound?"],
  ["boxes", "Boxes", "Which cables between boxes of accelerators are best, what do more cables bring, what do copper and optics cost?"],
  ["fabric", "Fabric", "How fast is a collective, or a job with process groups, on an existing fabric? Which links limit it?"],
  ["wiring", "Wiring", "Which ports move from the present wiring to a topology, in which stages? Which moves are done?"],
  ["training", "Training", "How long does an iteration of a model take, on which topology, and what limits it?"],
  ["rates", "Learning rate", "What does a tuned training run do?"],
  ["library", "Library", "Which designs, plans and jobs are stored? Which topologies are best known? How do designs compare?"],
];

const WORDS = [
  ["step", "One round in which every link may carry data once. An allreduce has two passes: a reduce-scatter and an allgather."],
  ["T_B", "Bandwidth cost: the time that data takes on the busiest links, in units of M/B, the data size M over the bandwidth B of a host.", "explanation/cost-model.md"],
  ["latency of a hop", "Time of a message of no bytes from a host to the next, α. A schedule takes α for each step, and T_B · M/B."],
  ["bound", "A time that no topology with these hosts and ports can beat.", "explanation/cost-model.md#lower-bounds"],
  ["frontier", "Topologies of which none has both fewer steps and a lower T_B than another.", "how-to/search-for-topologies.md"],
  ["shard", "The part of the data that one host owns: 1/N of the data."],
  ["algorithm bandwidth", "Data size over time, as in nccl-tests."],
  ["panel, plant", "A patch panel or optical switch; all panels of a room with the fibers between them.", "reference/plant.md"],
];

const KEYS = [["/", "search"], ["Tab, Enter", "walk through fields, tabs, points and rows"], ["← →", "next tab, next step of a slider"], ["+ − 0, arrows", "zoom a focused graph, show all of it, move it"], ["Ctrl and wheel, drag, double click", "the same with a pointer"]];

export function create() {
  return {
    element: h("div", {}, h("h3", {}, "The service"), h("ul", { class: "tree" },
      [["docs", "API, with every request (OpenAPI)"], ["openapi.json", "Schema of the API"], ["version", "Version of this service"], ["deprecations", "Former names"]].map(([path, text]) => h("li", {}, h("a", { href: path }, text))))),
    show(values, answer) {
      show(answer, h("h1", {}, "How to use the page"),
        h("p", { class: "lead" }, "Ask on the left, read on the right. The address of the page holds the question: copy it to send the question to a colleague. Each answer has the same request for curl, Python and the command line."),
        h("h2", {}, "Views"), list(VIEWS.map(([view, name, text]) => [h("a", { href: `#/${view}` }, name), text])),
        h("h2", {}, "Words"), list(WORDS.map(([word, text, path]) => [path ? h("a", { href: `documentation/${path}` }, word) : word, text])),
        h("h2", {}, "Keys"), list(KEYS.map(([name, text]) => [h("kbd", {}, name), text])),
        h("h2", {}, "Documentation"), later(contents().then(pagesOf)));
    },
  };
}

const list = (rows) => h("dl", { class: "words" }, rows.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

let known = null;

/** Return the pages of the documentation: `section`, `path`, `title` and `headings` of each. */
export async function contents() {
  known ??= fetch(new URL("documentation.json", import.meta.url)).then((answer) => answer.json());
  return known;
}

const pagesOf = (pages) => list([...Map.groupBy(pages, (page) => page.section)].map(([section, own]) =>
  [section, own.map((page, index) => [index > 0 && " · ", h("a", { href: `documentation/${page.path}` }, page.title)])]));
