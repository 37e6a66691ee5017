// Tables.  A long table draws only the rows in view, and has a field that finds rows.

import { h, show } from "./dom.js";
import { plural } from "./numbers.js";

const LONG = 200; // Rows above which a table draws only the rows in view.
const HEIGHT = 32; // Pixels of a row of a long table, as in the style sheet.
const CHUNK = 10; // Rows that enter and leave together; as many are drawn above and below the view.

/** Return a table; a column has `head`, `cell` of a row, and `number` for right alignment. */
export function table(caption, columns, rows, rowAttributes = () => ({})) {
  const align = (column) => (column.number ? "number" : null);
  const line = (row, index) => h("tr", { "aria-rowindex": index + 2, ...rowAttributes(row, index) },
    columns.map((column) => h("td", { class: align(column) }, column.cell(row, index))));
  const heads = columns.map((column) => h("th", { scope: "col", class: align(column) }, column.head));
  const body = h("tbody", {});
  const region = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { "aria-rowcount": rows.length + 1 }, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, heads)), body));
  if (rows.length > LONG) return long(region, heads, body, columns, rows, line);
  show(body, rows.map(line));
  return region;
}

function long(region, heads, body, columns, rows, line) {
  const texts = rows.map((row, index) => columns.map((column) => textOf(column.cell(row, index))));
  // The longest text of a column holds its width, so that no column moves while the table scrolls.
  heads.forEach((head, at) => head.append(h("span", { class: "sizer", "aria-hidden": "true" },
    texts.reduce((longest, cells) => (cells[at].length > longest.length ? cells[at] : longest), ""))));
  const haystack = texts.map((cells) => cells.join(" ").toLowerCase());
  const count = h("output", { class: "quiet" });
  const find = h("input", { type: "search", placeholder: "Find rows", "aria-label": `Find rows of: ${region.getAttribute("aria-label")}`, oninput: () => select() });
  let shown = [];
  let drawn = -1;
  let lines = new Map(); // Drawn rows by their index.
  function select() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.map((_, index) => index).filter((index) => words.every((word) => haystack[index].includes(word)));
    count.textContent = words.length ? `${shown.length.toLocaleString("en-US")} of ${plural(rows.length, "row")}` : plural(rows.length, "row");
    drawn = -1;
    region.scrollTop = 0;
    draw();
  }
  function draw() {
    const first = Math.max(0, (Math.floor(region.scrollTop / HEIGHT / CHUNK) - 1) * CHUNK);
    if (first === drawn) return;
    drawn = first;
    const last = Math.min(shown.length, first + Math.ceil((region.clientHeight || 480) / HEIGHT) + 3 * CHUNK);
    lines = new Map(shown.slice(first, last).map((index) => [index, lines.get(index) || line(rows[index], index)]));
    show(body, gap(first), [...lines.values()], gap(shown.length - last));
  }
  region.classList.add("long");
  region.addEventListener("scroll", draw, { passive: true });
  select();
  return h("div", {}, h("div", { class: "inline find" }, find, count), region);
}

/** Return a row in place of rows that are not drawn. */
function gap(count) {
  const space = h("td", {});
  space.style.height = `${count * HEIGHT}px`;
  return count > 0 && h("tr", { class: "gap", "aria-hidden": "true" }, space);
}

const textOf = (cell) => (cell instanceof Node ? cell.textContent : String(cell ?? ""));
