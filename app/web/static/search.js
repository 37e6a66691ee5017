// The search box: stored designs, topologies and plans, named fabrics, and the documentation.

import { get } from "./api.js";
import { EXAMPLE } from "./design.js";
import { h, show } from "./dom.js";
import { contents } from "./help.js";
import { nameOf } from "./numbers.js";

const PAGES = 3; // Pages of 100 entries that are searched of each list, newest first.
const MOST = 8; // Hits that are shown.

/** Make an input search; the key `/` leads to it. */
export function search(input, list) {
  let entries = null;
  let hits = [];
  let at = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (index) => {
    at = (index + hits.length) % hits.length;
    [...list.children].forEach((option, other) => option.setAttribute("aria-selected", String(other === at)));
    input.setAttribute("aria-activedescendant", `hit-${at}`);
  };
  const open = (hit) => {
    close();
    input.value = "";
    input.blur();
    location.assign(hit.href);
  };
  async function find() {
    const text = input.value.trim();
    if (!text) return close();
    entries ??= load();
    const known = await entries;
    if (text !== input.value.trim()) return; // Another text is typed meanwhile.
    hits = [...direct(text), ...matching(known, text)].slice(0, MOST);
    show(list, hits.length ? hits.map((hit, index) => h("li", { role: "option", id: `hit-${index}`, onmousedown: (event) => { event.preventDefault(); open(hit); } },
      h("span", { class: "kind" }, hit.kind), h("span", {}, hit.label), h("span", { class: "quiet" }, hit.note)))
      : h("li", { class: "quiet", role: "option", "aria-disabled": "true" }, "Nothing stored fits. Type a number of hosts and ports, such as 64 4, to ask for a design."));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (hits.length) mark(0);
  }
  input.addEventListener("input", find);
  input.addEventListener("focus", () => { entries = null; });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (hits.length && !list.hidden && step) mark(at + step);
    else if (hits.length && !list.hidden && event.key === "Enter") open(hits[at]);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
  });
}

/** Return what a text asks for by itself: hosts and ports, or a recipe. */
function direct(text) {
  const numbers = text.match(/^(\d+)[\s,x×]+(\d+)$/);
  if (numbers) return [hit("design", `${numbers[1]} hosts of ${numbers[2]} ports`, "find the best topology", `#/design?${new URLSearchParams({ ...EXAMPLE, nodes: numbers[1], degree: numbers[2] })}`)];
  if (/^[A-Z]\w*\(.*\)$/.test(text)) return ["fabric", "wiring"].map((view) => hit(view, text, view === "fabric" ? "its best throughput" : "its patch plan", `#/${view}?${new URLSearchParams({ recipe: text })}`));
  return [];
}

const hit = (kind, label, note, href, { id = "", recipe = "" } = {}) => ({ kind, label, note, href, id, text: `${kind} ${label} ${note}`.toLowerCase(), recipe: recipe.toLowerCase() });

/** Return the entries that have all words: a number in their text, a name also in their recipe, or an id. */
function matching(entries, text) {
  const words = text.toLowerCase().split(/\s+/);
  const has = (entry, word) => entry.text.includes(word) || (!/^\d+$/.test(word) && entry.recipe.includes(word)) || (word.length >= 6 && entry.id.startsWith(word));
  return entries.filter((entry) => words.every((word) => has(entry, word)));
}

/** Return all entries that can be found: designs that differ in the message size alone are one. */
async function load() {
  const [designs, topologies, plans, pages, fabrics] = await Promise.all([stored("designs"), stored("topologies"), stored("patch-plans"), contents(), get("/v1/fabrics").then(({ items }) => items, () => [])]);
  const short = (id) => id.slice(0, 16);
  const found = [
    ...designs.map(({ id, request, summary }) => hit("design", nameOf(summary), `${request.nodes} hosts, ${request.degree} ports, ${request.collective || request.preset || "a workload"}`, `#/design?id=${short(id)}`, { id, recipe: summary.recipe })),
    ...topologies.map(({ id, request, summary }) => hit("topology", summary.name || short(id), `${summary.nodes} nodes`, `#/fabric?recipe=${short(id)}`, { id, recipe: request?.recipe })),
    ...plans.map(({ id, summary }) => hit("plan", summary.name || short(id), `${summary.removes + summary.adds} moves`, `#/wiring?plan=${short(id)}`, { id })),
    ...pages.flatMap(({ path, title, headings }) => [["", ""], ...headings].map(([text, anchor]) => hit("guide", text || title, text ? title : "", `documentation/${path}${anchor && `#${anchor}`}`))),
    ...fabrics.map(({ name, title }) => hit("fabric", name, title, `#/fabric?fabric=${name.replace(/-N$/, "-2")}`)),
  ];
  return [...new Map(found.map((one) => [one.text, one])).values()];
}

async function stored(kind) {
  const found = [];
  let cursor = null;
  for (let page = 0; page < PAGES && (page === 0 || cursor); page += 1) {
    const query = new URLSearchParams({ limit: "100", fields: "id,request,summary", ...(cursor && { cursor }) });
    const answer = await get(`/v1/${kind}?${query}`).catch(() => ({ items: [] }));
    found.push(...answer.items);
    cursor = answer.next_cursor;
  }
  return found;
}
