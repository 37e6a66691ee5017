// Tables.  A long table draws only the rows in view, and has a field that finds rows.

import { h, show } from "./dom.js";
import { plural } from "./numbers.js";

const LONG = 200; // Rows above which a table draws only the rows in view.
const HEIGHT = 32; // Pixels of a row of a long table, as in the style sheet.
const AROUND = 8; // Rows that are drawn above and below the view.

/** Return a table; a column has `head`, `cell` of a row, and `number` for right alignment. */
export function table(caption, columns, rows) {
  const align = (column) => (column.number ? "number" : null);
  const region = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });
  if (rows.length > LONG) return long(region, caption, columns, rows, align);
  region.append(h("table", {}, h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: align(column) }, column.head)))),
    h("tbody", {}, rows.map((row, index) => h("tr", {}, columns.map((column) => h("td", { class: align(column) }, column.cell(row, index))))))));
  return region;
}

/** Fill a region with rows that stand at their places by themselves: a browser lays out new rows alone. */
function long(region, caption, columns, rows, align) {
  const texts = rows.map((row, index) => columns.map((column) => textOf(column.cell(row, index))));
  const haystack = texts.map((cells) => cells.join(" ").toLowerCase());
  // The longest text of a column holds its width, so that no column moves while the table scrolls.
  const longest = columns.map((_, at) => texts.reduce((most, cells) => (cells[at].length > most.length ? cells[at] : most), ""));
  const head = h("div", { role: "row", class: "cells head", "aria-rowindex": 1 },
    columns.map((column, at) => h("div", { role: "columnheader", class: align(column) }, column.head, h("span", { class: "sizer", "aria-hidden": "true" }, longest[at]))));
  const body = h("div", { role: "rowgroup", class: "rows" });
  const count = h("output", { class: "quiet" });
  const find = h("input", { type: "search", placeholder: "Find rows", "aria-label": `Find rows of: ${caption}`, oninput: () => select() });
  const drawn = new Map(); // Rows by their place.
  let shown = [];
  const line = (index, place) => {
    const row = h("div", { role: "row", class: "cells", "aria-rowindex": index + 2 }, columns.map((column) => h("div", { role: "cell", class: align(column) }, column.cell(rows[index], index))));
    row.style.top = `${place * HEIGHT}px`;
    return row;
  };
  function select() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.map((_, index) => index).filter((index) => words.every((word) => haystack[index].includes(word)));
    count.textContent = words.length ? `${shown.length.toLocaleString("en-US")} of ${plural(rows.length, "row")}` : plural(rows.length, "row");
    body.style.height = `${shown.length * HEIGHT}px`;
    drawn.clear();
    show(body);
    region.scrollTop = 0;
    draw();
  }
  function draw() {
    const first = Math.max(0, Math.floor(region.scrollTop / HEIGHT) - AROUND);
    const last = Math.min(shown.length, first + Math.ceil((region.clientHeight || 480) / HEIGHT) + 2 * AROUND);
    for (const [place, row] of drawn) {
      if (place >= first && place < last) continue;
      row.remove();
      drawn.delete(place);
    }
    for (let place = first; place < last; place += 1) {
      if (drawn.has(place)) continue;
      drawn.set(place, line(shown[place], place));
      body.append(drawn.get(place));
    }
  }
  region.classList.add("long");
  region.append(h("div", { role: "table", "aria-label": caption, "aria-rowcount": rows.length + 1 }, h("div", { role: "rowgroup", class: "heads" }, head), body));
  region.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(() => {
    body.style.setProperty("--columns", [...head.children].map((cell) => `${cell.offsetWidth}px`).join(" "));
    draw();
  }).observe(head);
  select();
  return h("div", {}, h("div", { class: "inline find" }, find, count), region);
}

const textOf = (cell) => (cell instanceof Node ? cell.textContent : String(cell ?? ""));
