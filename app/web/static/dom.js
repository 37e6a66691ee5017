// Elements of HTML and SVG, made without markup in texts: no value of an answer becomes code.

import { plural } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Return an HTML element; an attribute `onclick` is a listener. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return a text for screen readers alone, such as the head of a column of buttons. */
export const hidden = (text) => h("span", { class: "hidden" }, text);

/** Return an SVG element. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Replace the content of an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

/** Return an SVG drawing with a title for screen readers. */
export function drawing(width, height, title, ...children) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, children);
}

/** Return a figure of an answer in large type: its name, value and note. */
export function figure(name, value, note) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, h("small", {}, note)));
}

/** Return links to pages of the documentation, `[path, title]` each. */
export function guides(pages) {
  return h("p", { class: "guides" }, pages.map(([path, title]) => h("a", { href: `documentation/${path}` }, title)));
}

/** Return the answer to an address that names nothing; `links` are `[address, label]` of what there is. */
export function missing(title, links) {
  return h("div", { class: "refusal", role: "status" }, h("h1", {}, title), links.length > 0 && h("p", {}, "There are: ", links.map(([href, label], index) => [index ? ", " : "", h("a", { href }, label)]), "."));
}

/** Return what an answer assumes, as sentences that name the option that changes each. */
export function notes(texts) {
  return texts.length > 0 && h("details", { class: "assumed" }, h("summary", {}, `${plural(texts.length, "fact")} that the question does not state`),
    h("ul", {}, texts.map((text) => h("li", {}, text))));
}

/** Return a bar of a share of the most; `kind` is "ours" or "other". */
export const bar = (value, most, kind) => h("meter", { class: kind, min: "0", max: String(most), value: String(Math.max(0, Math.min(value, most))), "aria-hidden": "true" });

/** Return tabs, `[name, build, guide]` each; a tab is built when it is first opened. */
export function tabs(label, entries, chosen = 0) {
  const panels = entries.map(([name], index) => h("div", {
    role: "tabpanel", id: `panel-${index}`, "aria-labelledby": `tab-${index}`, hidden: true, tabindex: "0", class: "panel",
  }));
  const buttons = entries.map(([name], index) => h("button", {
    type: "button", role: "tab", id: `tab-${index}`, "aria-controls": `panel-${index}`,
    onclick: () => open(index),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) open((index + step + entries.length) % entries.length).focus();
    },
  }, name));
  const list = h("div", { role: "tablist", "aria-label": label }, buttons);
  function open(index) {
    list.scrollLeft = buttons[index].offsetLeft - list.offsetLeft - 40; // On a phone not all tabs are in view.
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === index));
      button.tabIndex = other === index ? 0 : -1;
      panels[other].hidden = other !== index;
    });
    if (!panels[index].childNodes.length) {
      const [, build, guide] = entries[index];
      show(panels[index], build(), guide && guides([guide]));
    }
    return buttons[index];
  }
  open(chosen);
  return h("section", { class: "tabs" }, list, panels);
}

/** Return an element that shows the elements of `work`, a promise or a function, once they are there, or the error. */
export function later(work, waiting = "Loading …") {
  const told = h("p", { class: "quiet" }, waiting);
  const place = h("div", {}, told);
  const promise = typeof work === "function" ? work((text) => show(told, text)) : work;
  promise.then((found) => show(place, found), (error) => show(place, h("p", { class: error.denied ? "quiet" : "error" }, error.message)));
  return place;
}
