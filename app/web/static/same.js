// "The same elsewhere": the request by curl, in Python and on the command line, to copy; and files.

import { blob, key } from "./api.js";
import { h, later } from "./dom.js";
import { fields } from "./form.js";

/** Return the texts of a request for other programs, and files; a request without a body reads its path. */
export function sameElsewhere(path, body, python, command, downloads = []) {
  const secret = key.get() ? " -H \"Authorization: Bearer $TOPOLOOM_KEY\"" : "";
  const curl = `curl --fail-with-body${secret} ${body ? `--json ${quoted(JSON.stringify(body))} ` : ""}${quoted(location.origin + path)}`;
  const client = `from topoloom import Client\n\nclient = Client("${location.origin}"${key.get() ? ", key=os.environ[\"TOPOLOOM_KEY\"]" : ""})\nanswer = ${python}`;
  return h("div", { class: "same" }, snippet("curl", curl), snippet("Python", key.get() ? `import os\n\n${client}` : client), command && snippet("Command line", command), downloads.length > 0 && files(downloads));
}

export function snippet(title, text) {
  const copy = h("button", { type: "button", class: "plain", onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  } }, "Copy");
  return h("div", { class: "snippet" }, h("div", { class: "snippet-head" }, h("h3", {}, title), copy), h("pre", { tabindex: "0" }, h("code", {}, text)));
}

/** Return a text as a word of a POSIX shell. */
export function quoted(text) {
  return /^[\w.,/:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Return a value as a Python literal. */
function literal(value) {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`).join(", ")}}`;
  return JSON.stringify(value);
}

export const keywords = (body) => Object.entries(body).map(([name, value]) => `${name}=${literal(value)}`).join(", ");

/** Return options of the command line: {max_steps: 3} -> "--max-steps 3" */
export function options(body) {
  return Object.entries(body).map(([name, value]) => {
    const flag = `--${name.replaceAll("_", "-")}`;
    return value === true ? flag : `${flag} ${quoted(String(value))}`;
  }).join(" ");
}

/** Return the command for the optimum of a fabric or recipe with its lost and slow parts; none for a file. */
export function optimumCommand({ topology: { fabric, recipe, changes = {} }, ...rest }) {
  const lost = [["--without-node", changes.without_nodes, String], ["--without-link", changes.without_links, (pair) => pair.join(",")],
    ["--slow-link", changes.slow_links, ([one, other, share]) => `${one},${other}=${share}`]]
    .flatMap(([flag, parts = [], text]) => parts.map((part) => `${flag} ${quoted(text(part))}`));
  return fabric || recipe ? ["topoloom optimum", quoted(fabric || recipe), options(rest), ...lost].join(" ") : null;
}

/** Return a list of downloads `[label, path, file name, what the file is for, body]`; a body is posted. */
export function files(entries) {
  return h("ul", { class: "files" }, entries.map(([label, path, name, use, body]) => {
    const told = h("span", { class: "error", role: "alert" });
    return h("li", {}, fileButton(label, path, name, told, body), h("span", { class: "quiet" }, use), told);
  }));
}

/** Return a button that saves a file of the service; an error stands in `told`, or on the button. */
export function fileButton(label, path, name, told = null, body = null) {
  const button = h("button", { type: "button", class: "download", onclick: () => download(path, name, told || button, body) }, label);
  return button;
}

/** Return the files of an answer with a topology and a schedule: `first`, those of both, and `rest`, as of `files`. */
export function answerFiles(first, topology, schedule, stem, rest = []) {
  const path = `/v1/schedules/${schedule}`;
  return h("div", {}, files([
    first,
    ["Topology (JSON)", `/v1/topologies/${topology}`, `${stem}.topology.json`, "nodes and links, topology/1"],
    ["Schedule (JSON)", path, `${stem}.schedule.json`, "every message, schedule/1"],
    ["Schedule (MSCCL XML)", `${path}?format=msccl-xml`, `${stem}.xml`, "for MSCCL and RCCL"],
    ["Schedule (MSCCL++)", `${path}?format=mscclpp-json`, `${stem}.mscclpp.json`, "an execution plan for MSCCL++"],
    ...rest.filter(Boolean),
  ]), everyFormat("topology", `/v1/topologies/${topology}`, stem), everyFormat("schedule", path, `${stem}.schedule`));
}

/** Return a choice of every format in which the service writes a document, such as a "topology". */
export function everyFormat(what, path, stem) {
  return later(fields().then(({ formats }) => {
    const select = h("select", { "aria-label": `Format of the ${what}` }, formats[what].map((name) => h("option", {}, name)));
    const told = h("span", { class: "error", role: "alert" });
    const act = () => download(`${path}?format=${select.value}`, (type) => `${stem}.${select.value}.${suffixOf(type)}`, told);
    return h("div", { class: "inline" }, h("span", {}, `The ${what} in any format:`), select, h("button", { type: "button", onclick: act }, "Download"), told);
  }));
}

const SUFFIXES = [["json", "json"], ["xml", "xml"], ["csv", "csv"], ["html", "html"], ["zip", "zip"], ["svg", "svg"]];
const suffixOf = (type) => SUFFIXES.find(([part]) => type.includes(part))?.[1] || "txt";

/** Save a file of the service; `name` may be a function of its media type. */
async function download(path, name, told, body) {
  if (told.tagName !== "BUTTON") told.textContent = "";
  try {
    const content = await blob(path, body);
    save(content, typeof name === "function" ? name(content.type) : name);
  } catch (error) {
    told.textContent = error.message;
  }
}

/** Save a blob as a file.  A link cannot send a key, so the page has read the file. */
function save(content, name) {
  const link = h("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
