// Forms of a question.  Limits and defaults come from the schema of the API; errors stand at
// their field.  The values of a form are texts by field name, as in the address of the page.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { bytes } from "./numbers.js";

const MOST_OF_A_RULE = 160; // Characters of a rule at its field.

let schemas = null;

/** Return the fields of all forms by request. */
export async function fields() {
  schemas ??= fetch(new URL("fields.json", import.meta.url)).then((answer) => answer.json());
  return schemas;
}

/**
 * Return a form.  `items` are fields `{name, label, kind, unit, options, read}`, or alternatives
 * `{label, either: [{label, fields}]}` of which the form shows one.  The choice is a value itself
 * if the alternatives have a `name`, and each a `value`.  `ask` receives the values.
 */
export class Form {
  constructor(items, schema, { ask, button }) {
    this.schema = schema;
    this.inputs = new Map();
    this.alternatives = [];
    this.general = h("p", { class: "error", role: "alert" });
    this.button = h("button", { class: "primary" }, button);
    this.ask = ask;
    this.element = h("form", { novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      this.ask(this.values());
    } }, items.map((item) => this.item(item)), this.general, h("div", { class: "actions" }, this.button));
  }

  item(item) {
    if (item.more) return h("details", {}, h("summary", {}, item.more), item.fields.map((one) => this.item(one)));
    return item.either ? this.either(item) : this.field(item);
  }

  either(item) {
    const id = `choose-${this.alternatives.length}`;
    const groups = item.either.map((one) => h("div", { class: "group" }, one.fields.map((field) => this.item(field))));
    const select = h("select", { id, onchange: () => {
      choose(select.selectedIndex);
      if (item.name) this.ask(this.values());
    } }, item.either.map((one) => h("option", { value: one.value }, one.label)));
    const choose = (index) => {
      select.selectedIndex = index;
      groups.forEach((group, other) => { group.hidden = other !== index; });
    };
    choose(0);
    const names = item.either.map((one) => one.fields.flatMap((field) => (field.fields || [field]).map((inner) => inner.name)));
    this.alternatives.push({ name: item.name, names, select, choose });
    return h("div", { class: item.beside ? "field beside" : "field" },
      h("label", { for: id }, item.label), select, groups);
  }

  field(item) {
    const { name, kind = "number" } = item;
    const rules = this.schema[name] || {};
    const id = `field-${name}`;
    const common = { id, name, "aria-describedby": `${id}-hint ${id}-error`, autocomplete: "off" };
    const options = item.options || (rules.enum || []).map((value) => [value, value]);
    const input = {
      number: () => h("input", { ...common, type: "text", inputmode: "decimal", placeholder: rules.default ?? item.placeholder }),
      text: () => h("input", { ...common, type: "text", placeholder: item.placeholder, spellcheck: "false", list: item.list ? `${id}-list` : null }),
      area: () => h("textarea", { ...common, rows: item.rows || 4, spellcheck: "false", placeholder: item.placeholder }),
      check: () => h("input", { ...common, type: "checkbox" }),
      select: () => h("select", common, options.map(([value, label]) => h("option", { value }, label))),
    }[kind]();
    const error = h("span", { class: "error", id: `${id}-error`, role: "alert" });
    const hint = h("span", { class: "hint", id: `${id}-hint`, title: rules.description }, hintOf(item, rules));
    if (kind === "number") input.addEventListener("change", () => check(input, error, rules));
    this.inputs.set(name, { item, input, error });
    return h("div", { class: `field ${kind}` }, h("label", { for: id, title: rules.description }, item.label),
      h("span", { class: "entry" }, input, item.unit && h("span", { class: "unit" }, item.unit)), kind === "area" && takesFiles(input), hint, error,
      item.list && h("datalist", { id: `${id}-list` }, item.list.map((value) => h("option", { value }))));
  }

  /** Return the shown values, without empty fields and chosen defaults. */
  values() {
    const hidden = new Set(this.alternatives.flatMap(({ names, select }) =>
      names.filter((_, index) => index !== select.selectedIndex).flat()));
    const found = Object.fromEntries(this.alternatives.filter(({ name }) => name).map(({ name, select }) => [name, select.value]));
    for (const [name, { item, input }] of this.inputs) {
      const text = item.kind === "check" ? (input.checked ? "true" : "") : input.value.trim();
      const usual = item.kind === "select" && text === this.schema[name]?.default;
      if (!hidden.has(name) && text !== "" && !usual) found[name] = text;
    }
    return found;
  }

  /** Fill in values, and show the alternatives that they belong to. */
  fill(values) {
    for (const [name, { item, input }] of this.inputs) {
      if (item.kind === "check") input.checked = values[name] === "true";
      else if (name in values) {
        // The service says what is wrong with a value that the form does not offer.
        if (input.tagName === "SELECT" && ![...input.options].some(({ value }) => value === values[name])) input.append(h("option", {}, values[name]));
        input.value = values[name];
      }
      else if (input.tagName === "SELECT") input.value = this.schema[name]?.default ?? input.options[0]?.value ?? "";
      else input.value = "";
    }
    for (const folded of this.element.querySelectorAll("details")) {
      folded.open ||= [...folded.querySelectorAll("[name]")].some(({ name }) => name in values && values[name] !== String(this.schema[name]?.default));
    }
    for (const { name, names, select, choose } of this.alternatives) {
      const chosen = (group, index) => (name ? select.options[index].value === values[name] : group.some((one) => one in values));
      choose(Math.max(0, names.findIndex(chosen)));
    }
  }

  /**
   * Fill in the values of an address, or the example of an empty one.  An address with the `id` of a
   * stored answer of a kind fills in its request; then return the promise of the answer.
   */
  open(kind, values, example, signal) {
    if (!values.id) {
      this.fill(Object.keys(values).length ? values : example);
      return null;
    }
    return get(`/v1/${kind}/${encodeURIComponent(values.id)}`, { signal }).then((found) => {
      this.fill(textsOf(found.request));
      return found;
    });
  }

  /** Return the body of a request with these values. */
  body(values) {
    const found = {};
    for (const [name, text] of Object.entries(values)) {
      const item = this.inputs.get(name)?.item;
      if (item) found[name] = (item.read || READ[item.kind || "number"])(text);
    }
    return found;
  }

  /** Return the field that a JSON pointer names, if the form has the field. */
  at(pointer) {
    const name = pointer.split("/")[1];
    return this.inputs.get(name) || this.inputs.get(this.aliases?.[name]);
  }

  /** Show an error at each field that it names, the rest at the end of the form; a lack of rights is no error. */
  refuse(problem, suggestions = []) {
    this.accept();
    if (problem.denied) return;
    const rest = [];
    for (const { pointer, detail } of problem.errors?.length ? problem.errors : [{ pointer: "", detail: problem.message }]) {
      const place = pointer.split("/").slice(2).filter((part) => part !== "id");
      const field = this.at(pointer);
      if (!field) {
        rest.push(`${pointer && pointer !== "/id" ? `${pointer}: ` : ""}${detail}`);
        continue;
      }
      // The answer beside the form has the whole rule.
      const rule = detail.length > MOST_OF_A_RULE ? `${detail.slice(0, MOST_OF_A_RULE)} …` : detail;
      field.error.append(place.length ? `${place.join(" ")}: ${rule}` : rule);
      field.input.setAttribute("aria-invalid", "true");
      field.error.append(...suggestions.map(({ label, values }) => h("button", { type: "button", class: "suggestion", onclick: () => this.ask({ ...this.values(), ...values }) }, label)));
      suggestions = [];
      for (let folded = field.input.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    }
    show(this.general, rest.join(" "));
    const first = this.element.querySelector("[aria-invalid]");
    if (first) first.focus({ preventScroll: false });
  }

  /** Remove all errors. */
  accept() {
    show(this.general);
    for (const { input, error } of this.inputs.values()) {
      show(error);
      input.removeAttribute("aria-invalid");
    }
  }

  busy(is) {
    this.element.setAttribute("aria-busy", String(is));
  }
}

/** Return the texts of the fields of a request, as in an address. */
function textsOf(request) {
  const texts = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== false).map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]));
  const size = bytes(request.bytes ?? 0).replace("\u00a0", "");
  if (/^\d+[A-Z]/.test(size)) texts.bytes = size;
  if (request.workload) texts.workload = request.workload.map((task) => `${task.collective} ${task.bytes} ${task.count ?? 1}`).join("\n");
  return texts;
}

/** Numbers are sent as numbers; another text is sent as it is, and the service names the rule. */
const READ = {
  number: (text) => (Number.isFinite(Number(text)) ? Number(text) : text),
  text: (text) => text,
  area: (text) => text,
  select: (text) => text,
  check: () => true,
};

/** Say at once where a number is outside of the limits that the service states. */
function check(input, error, { minimum = -Infinity, maximum = Infinity }) {
  const value = Number(input.value);
  const wrong = input.value.trim() && (Number.isNaN(value) ? "must be a number" : value < minimum ? `must be at least ${minimum}` : value > maximum ? `must be at most ${maximum.toLocaleString("en-US")}` : "");
  input.toggleAttribute("aria-invalid", Boolean(wrong));
  if (wrong) input.setAttribute("aria-invalid", "true");
  show(error, wrong || "");
}

function hintOf(item, rules) {
  if (item.hint !== undefined) return item.hint;
  if (item.kind && item.kind !== "number") return null;
  if (rules.minimum === undefined || rules.minimum <= 0.001 || rules.maximum > 1e8) return null;
  return `${rules.minimum} to ${rules.maximum.toLocaleString("en-US")}`;
}

/** Read a file into a text area: a file that is dropped there, or chosen by the returned button. */
export function takesFiles(area) {
  const read = async (file) => { if (file) area.value = await file.text(); };
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    read(event.dataTransfer.files[0]);
  });
  const chosen = h("input", { type: "file", class: "hidden", tabindex: "-1", "aria-hidden": "true", onchange: () => read(chosen.files[0]) });
  return h("span", { class: "take" }, h("button", { type: "button", class: "plain", onclick: () => chosen.click() }, "Choose a file …"), chosen);
}
