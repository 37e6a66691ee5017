// Time over message size as a ratio to the lower bound; a slider names the best at a size.

import { apart, axes, chart, path, scale } from "./charts.js";
import { h, s, show } from "./dom.js";
import { bytes, digits, seconds } from "./numbers.js";

/** Sizes of the chart, in bytes: 1 KiB to 1 GiB. */
export const SIZES = Array.from({ length: 11 }, (_, index) => 1024 * 4 ** index);

const SHORT = {
  "shifted-ring": "ring", "double-binary-tree": "double tree", "double-tree": "double tree (plain)", "torus-rings": "torus",
  "twisted-torus": "twisted torus", "permutation-rings": "permuted rings", "full-mesh-2d": "2D mesh", "full-mesh-3d": "3D mesh", "single-tree": "single tree", "recursive-doubling": "doubling",
  "switch-bruck": "switch", "switch-rabenseifner": "switch (RS)", "routed-swing": "routed Swing", "routed-trivance": "routed Trivance", direct: "direct",
};
const shortName = (name) => SHORT[name] || name;

/** Return the times of the designs of several sizes, with the bound of each size. */
function ratios(designs) {
  const rows = designs.map((design) => {
    const others = [...design.baselines, ...(design.assumed || [])];
    return {
      bytes: design.request.bytes,
      ours: design.co_design.seconds,
      bound: design.co_design.floor_seconds,
      name: design.co_design.name || design.co_design.recipe,
      id: design.co_design.topology_id,
      algorithm: design.co_design.tasks[0].algorithm,
      assumed: new Set((design.assumed || []).map((other) => other.name)),
      others: new Map(others.map((other) => [other.name, other.seconds])),
    };
  });
  const names = [...new Set(rows.flatMap((row) => [...row.others.keys()]))];
  return { rows, names };
}

/** Return the chart with its slider; `onSize` receives the id of the best topology of the chosen size. */
export function sizesChart(designs, chosen, onSize) {
  const { rows, names } = ratios(designs);
  let at = rows.reduce((best, row, index) => (Math.abs(Math.log(row.bytes / chosen)) < Math.abs(Math.log(rows[best].bytes / chosen)) ? index : best), 0);
  const told = h("output", { class: "told", for: "size-slider" });

  function draw(width, height) {
    const right = width < 480 ? 128 : 152;
    const box = { left: 44, right: width - right, top: 34, bottom: height - 44 };
    const all = rows.flatMap((row) => [row.ours, ...row.others.values()].map((value) => value / row.bound));
    const low = 0.94;
    const high = Math.min(8, Math.max(...all, 1.2)) * 1.05;
    const x = scale([rows[0].bytes, rows.at(-1).bytes], [box.left, box.right], true);
    const y = scale([low, high], [box.bottom, box.top], true);
    const clamp = (value) => Math.max(box.top, Math.min(box.bottom, y(value)));
    const line = (value) => path(rows.filter((row) => value(row) !== undefined).map((row) => [x(row.bytes), clamp(value(row) / row.bound)]));
    const row = rows[at];
    // Labels stand at the height that their lines have at the chosen size.
    const lines = [...names.map((name) => ({ name: shortName(name), title: name, kind: row.assumed.has(name) ? "other assumed" : "other", value: (one) => one.others.get(name) })),
      { name: "Topoloom", title: "the best topology and algorithm", kind: "ours", value: (one) => one.ours }];
    const labels = new Map(apart(lines.filter(({ value }) => value(row) !== undefined).map((one) => ({ one, y: clamp(one.value(row) / row.bound) + 4 })), 14, box.top + 4, box.bottom).map((label) => [label.one, label.y]));
    return axes(width, height, box, {
      x, y, title: "Time over message size, as a ratio to the lower bound", xName: "message size", yName: "time ÷ lower bound",
      xTicks: rows.filter((_, index) => index % (width < 480 ? 5 : 2) === 0).map((one) => [one.bytes, bytes(one.bytes)]),
      yTicks: [1, 1.2, 1.5, 2, 3, 4, 6, 8].filter((value) => value >= low && value <= high).map((value) => [value, String(value)]),
    },
    s("line", { class: "bound", x1: box.left, x2: box.right, y1: y(1), y2: y(1) }),
    s("line", { class: "cursor", x1: x(row.bytes), x2: x(row.bytes), y1: box.top, y2: box.bottom }),
    lines.map((one) => s("g", { class: `line ${one.kind}` }, s("title", {}, one.title),
      s("path", { class: "wide", d: line(one.value) }), s("path", { class: "stroke", d: line(one.value) }),
      labels.has(one) && [
        s("circle", { cx: x(row.bytes), cy: clamp(one.value(row) / row.bound), r: one.kind === "ours" ? 5 : 2.5 }),
        s("text", { x: box.right + 12, y: labels.get(one) }, `${one.name} ${digits(one.value(row) / row.bound)}`)])));
  }

  const columns = [
    { head: "size", cell: (row) => bytes(row.bytes) },
    { head: "lower bound", number: true, cell: (row) => seconds(row.bound) },
    { head: "best", number: true, cell: (row) => seconds(row.ours) },
    { head: "algorithm", cell: (row) => row.algorithm },
    ...names.map((name) => ({ head: shortName(name), number: true, cell: (row) => (row.others.has(name) ? seconds(row.others.get(name)) : "–") })),
  ];
  const made = chart(message(rows), draw, { columns, rows });
  const slider = h("input", { type: "range", id: "size-slider", min: 0, max: rows.length - 1, step: 1, value: at, oninput: () => { at = Number(slider.value); tell(); } });
  slider.value = String(at);
  function tell() {
    const row = rows[at];
    slider.setAttribute("aria-valuetext", bytes(row.bytes));
    const [next, time] = [...row.others].filter(([name]) => !row.assumed.has(name)).sort((one, other) => one[1] - other[1])[0] || [];
    show(told, h("strong", {}, bytes(row.bytes)), ": ", h("strong", { class: "accent" }, row.name), ` by ${row.algorithm}, ${seconds(row.ours)}`,
      next ? `; ${shortName(next)} takes ${digits(time / row.ours)} times as long` : "");
    made.redraw();
    onSize(row.id);
  }
  made.figure.querySelector(".drawing").after(h("label", { class: "slider" }, h("span", { class: "hidden" }, "Message size"), slider), told);
  tell();
  return made;
}

function message(rows) {
  const wins = rows.filter((row) => [...row.others].every(([name, time]) => row.assumed.has(name) || time >= row.ours));
  if (wins.length === rows.length) return "No wired baseline is faster at any size";
  return wins.length ? `No wired baseline is faster at ${wins.length} of ${rows.length} sizes` : "A wired baseline is faster at every size";
}
