// The frontier: steps against bandwidth cost, with the region that no topology reaches.

import { apart, axes, chart, fit, scale, tick, ticks } from "./charts.js";
import { h, s } from "./dom.js";
import { fraction, nameOf, number, seconds } from "./numbers.js";

/**
 * Return the chart of the frontier of a design, and `mark`, which rings the best topology by its id;
 * `pick` receives a chosen point.
 */
export function frontierChart(design, pick) {
  const points = design.frontier;
  let best = design.best.topology_id;
  const isBest = (point) => point.topology_id && point.topology_id === best;
  const title = points.length > 1 ? `${points.length} topologies trade steps for bandwidth`
    : points[0].status === "optimal" ? "One topology meets both bounds" : "One topology beats all others";

  function draw(width, height) {
    const box = { left: 52, right: width - 16, top: 34, bottom: height - 44 };
    const bound = { steps: design.bounds.steps, bandwidth: number(design.bounds.bandwidth) };
    const most = Math.max(bound.steps + 2, ...points.map((point) => point.steps + 1));
    const costs = points.map((point) => number(point.bandwidth));
    const spread = Math.max(...costs, bound.bandwidth * 1.15) - bound.bandwidth;
    const low = Math.max(0, bound.bandwidth - spread * 0.3);
    const high = bound.bandwidth + spread * 1.12;
    const x = scale([Math.max(0, bound.steps - 1), most], [box.left, box.right]);
    const y = scale([low, high], [box.bottom, box.top]);
    const steps = ticks(Math.max(0, bound.steps - 1), most, Math.min(8, most)).filter(Number.isInteger);
    const labels = apart(points.map((point) => ({ point, y: y(number(point.bandwidth)) - 15 })), 15, box.top + 8, box.bottom - 6);
    const drawn = axes(width, height, box, {
      x, y, title, xName: "steps of one pass", yName: "bandwidth cost T_B, in units of M/B",
      xTicks: steps.map((value) => [value, String(value)]),
      yTicks: ticks(low, high, 4).map((value) => [value, tick(value)]),
    },
    s("defs", {}, s("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "hatch" }))),
    s("path", { class: "impossible", d: `M${box.left} ${box.top}H${x(bound.steps)}V${y(bound.bandwidth)}H${box.right}V${box.bottom}H${box.left}Z`, fill: "url(#hatch)" }),
    s("path", { class: "bound", d: `M${x(bound.steps)} ${box.top}V${y(bound.bandwidth)}H${box.right}` }),
    s("text", { class: "note", x: box.right, y: y(bound.bandwidth) + 16, "text-anchor": "end" }, width < 360 ? "lower bound" : "lower bound: nothing below or left"),
    labels.map(({ point, y: labelY }) => {
      const [px, py] = [x(point.steps), y(number(point.bandwidth))];
      const name = fit(nameOf(point), box.right - x(bound.steps) - 16);
      const half = name.length * 3.4;
      const middle = Math.max(x(bound.steps) + 14 + half, Math.min(px, box.right - half));
      return s("g", { class: isBest(point) ? "point best" : "point", tabindex: "0", role: "button", "aria-label": `${nameOf(point)}: ${point.steps} steps, T_B ${point.bandwidth}, ${seconds(point.seconds)}`,
        onclick: () => pick(point), onkeydown: (event) => (event.key === "Enter" ? pick(point) : null) },
      s("title", {}, `${point.recipe}\n${point.steps} steps, T_B ${point.bandwidth}\n${seconds(point.seconds)}`),
      isBest(point) && s("circle", { class: "ring", cx: px, cy: py, r: 10 }),
      s("circle", { cx: px, cy: py, r: 5 }),
      s("text", { x: middle, y: labelY, "text-anchor": "middle" }, name));
    }));
    // Its points are buttons, which a picture must not hold.
    drawn.setAttribute("role", "group");
    return drawn;
  }
  const columns = [
    { head: "topology", cell: (row) => h("span", { title: row.recipe }, nameOf(row)) },
    { head: "steps", number: true, cell: (row) => row.steps },
    { head: "T_B", number: true, cell: (row) => h("span", { title: row.bandwidth }, fraction(row.bandwidth)) },
    { head: "time", number: true, cell: (row) => seconds(row.seconds) },
    { head: "proven", cell: (row) => row.status },
  ];
  const { figure, redraw } = chart(title, draw, { columns, rows: points }, 360);
  const mark = (id) => {
    best = id;
    redraw();
  };
  return { figure, mark };
}
