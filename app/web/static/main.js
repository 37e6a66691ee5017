// The frame of the page: views by address, theme, key and the number of running jobs.

import { get, key } from "./api.js";
import * as boxes from "./boxes.js";
import * as design from "./design.js";
import { guides, h, missing, show } from "./dom.js";
import * as fabric from "./fabric.js";
import * as help from "./help.js";
import * as iteration from "./iteration.js";
import * as library from "./library.js";
import { plural } from "./numbers.js";
import * as rates from "./rates.js";
import { search } from "./search.js";
import { themes } from "./theme.js";
import * as wiring from "./wiring.js";

const VIEWS = { design, boxes, fabric, wiring, training: iteration, rates, library, help };
const NAMES = { design: "Design", boxes: "Boxes", fabric: "Fabric", wiring: "Wiring", training: "Training", rates: "Learning rate", library: "Library" };
/** View -> pages of the documentation about its questions. */
const GUIDES = {
  design: [["how-to/search-for-topologies.md", "Search for topologies"], ["tutorials/hosts-to-cables.md", "From hosts to cables"]],
  boxes: [["how-to/boxes.md", "Design with boxes of accelerators"]],
  fabric: [["how-to/read-your-fabric.md", "Read the fabric that you have"], ["how-to/process-groups.md", "Find the rates of process groups"]],
  wiring: [["how-to/carry-out-a-plan.md", "Carry out a patch plan"], ["reference/plant.md", "The plant"]],
  training: [["how-to/whole-iterations.md", "Simulate whole iterations"]],
  rates: [["how-to/tune-learning-rates.md", "Tune learning rates"]],
  library: [["how-to/use-the-page.md", "Use the page"], ["how-to/jobs.md", "Run long computations as jobs"]],
  help: [["index.md", "Documentation"], ["how-to/use-the-page.md", "Use the page"]],
};

const JOBS_EVERY = 15_000; // Milliseconds between two looks at the jobs.

const question = document.getElementById("question");
const answer = document.getElementById("answer");
let current = { name: "", view: null };
let running = new AbortController();
let locked = false; // Whether the service has asked for a key.

/** Read the address: `#/view?field=value`. */
function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: path || "design", values: Object.fromEntries(new URLSearchParams(query)) };
}

function go(name, values) {
  const hash = `#/${name}?${new URLSearchParams(values)}`;
  if (location.hash === hash) open();
  else location.hash = hash;
}

async function open() {
  const { name, values } = address();
  running.abort();
  running = new AbortController();
  const { signal } = running;
  if (!Object.hasOwn(VIEWS, name)) {
    current = { name: "", view: null };
    show(question, guides(GUIDES.help));
    show(answer, missing(`No view has the address #/${name}`, Object.entries(NAMES).map(([view, label]) => [`#/${view}`, label])));
    document.title = "Topoloom";
    for (const link of document.querySelectorAll("#views a")) link.removeAttribute("aria-current");
    return;
  }
  if (name !== current.name) {
    const view = await VIEWS[name].create({ go: (asked) => go(name, asked) });
    if (signal.aborted) return;
    current = { name, view };
    show(question, fold(view, GUIDES[name]));
    show(answer, h("p", { class: "quiet" }, "Loading …"));
    document.title = `${NAMES[name] || "Help"} – Topoloom`;
    for (const link of document.querySelectorAll("#views a")) link.toggleAttribute("aria-current", link.hash === `#/${name}`);
    for (const link of document.querySelectorAll("#views a[aria-current]")) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
  await current.view.show(values, answer, signal);
}

/** Return the form of a view, and links to its guides; on a phone it folds to one line above the answer. */
function fold(view, pages) {
  const details = h("details", { class: "sheet", open: matchMedia("(min-width: 760px)").matches }, h("summary", {}, "Question"), view.element, guides(pages));
  matchMedia("(min-width: 760px)").addEventListener("change", (event) => { details.open = event.matches; });
  view.element.addEventListener("submit", () => { if (innerWidth < 760) details.open = false; });
  return details;
}

function signIn() {
  const dialog = document.getElementById("sign-in");
  const text = document.getElementById("key-text");
  const button = document.getElementById("key");
  // A service that asks for no key needs no button.
  const label = () => {
    button.textContent = key.get() ? "Sign out" : "Sign in";
    button.hidden = !locked && !key.get();
  };
  label();
  button.addEventListener("click", () => {
    if (!key.get()) return dialog.showModal();
    key.set("");
    label();
    return open();
  });
  document.addEventListener("key-needed", () => {
    locked = true;
    label();
    if (!dialog.open) dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "save" || !text.value.trim()) return;
    key.set(text.value.trim());
    text.value = "";
    label();
    current.name = "";
    open();
  });
}

/** Show how many jobs wait or run; a service that asks for a key is not asked without one. */
async function jobs() {
  const link = document.getElementById("jobs");
  try {
    const lists = document.hidden || (locked && !key.get()) ? [] : await Promise.all(["queued", "running"].map((state) => get(`/v1/jobs?state=${state}&limit=100`)));
    const count = lists.reduce((sum, list) => sum + list.items.length, 0);
    link.textContent = plural(count, "job");
    link.hidden = count === 0;
  } catch {
    link.hidden = true;
  }
  setTimeout(jobs, JOBS_EVERY);
}

show(document.getElementById("views"), Object.entries(NAMES).map(([name, label]) => h("a", { href: `#/${name}` }, label)));
themes();
signIn();
search(document.getElementById("search"), document.getElementById("hits"));
addEventListener("hashchange", open);
await open();
setTimeout(jobs, JOBS_EVERY);
