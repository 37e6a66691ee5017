// "The same elsewhere": the request by curl, in Python and on the command line, to copy; and files.

import { blob, get, key } from "./api.js";
import { h, later } from "./dom.js";

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
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
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

/** Return a list of downloads `[label, path, file name, what the file is for]`. */
export function files(entries) {
  return h("ul", { class: "files" }, entries.map(([label, path, name, use]) => {
    const told = h("span", { class: "error", role: "alert" });
    return h("li", {}, h("button", { type: "button", class: "download", onclick: () => download(path, name, told) }, label), h("span", { class: "quiet" }, use), told);
  }));
}

/** Return a choice of every format in which the service writes a document of a route `/v1/…/{id}`. */
export function everyFormat(what, route, id, stem) {
  return later(get("/openapi.json").then(({ paths }) => {
    const { schema } = paths[route].get.parameters.find(({ name }) => name === "format");
    const names = (schema.anyOf || [schema]).flatMap((one) => one.enum || []);
    const select = h("select", { "aria-label": `Format of the ${what}` }, names.map((name) => h("option", {}, name)));
    const told = h("span", { class: "error", role: "alert" });
    const act = () => download(`${route.replace("{id}", id)}?format=${select.value}`, (type) => `${stem}.${select.value}.${suffixOf(type)}`, told);
    return h("div", { class: "inline" }, h("span", {}, `The ${what} in any format:`), select, h("button", { type: "button", onclick: act }, "Download"), told);
  }));
}

const SUFFIXES = [["json", "json"], ["xml", "xml"], ["csv", "csv"], ["html", "html"], ["zip", "zip"], ["svg", "svg"]];
const suffixOf = (type) => SUFFIXES.find(([part]) => type.includes(part))?.[1] || "txt";

/** Save a file of the service; `name` may be a function of its media type. */
async function download(path, name, told) {
  told.textContent = "";
  try {
    const content = await blob(path);
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
