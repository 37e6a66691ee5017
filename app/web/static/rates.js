// The view Learning rate: sessions that the service tunes, live.

import { get, blob } from "./api.js";
import { axes, chart, logTicks, path, scale, tick, ticks } from "./charts.js";
import { figure, h, missing, s, show } from "./dom.js";
import { Form } from "./form.js";
import { digits, plural } from "./numbers.js";
import { files, sameElsewhere, snippet } from "./same.js";
import { table } from "./table.js";

const EVERY = 3_000; // Milliseconds between two looks at a running session.
const MOST_POINTS = 1_500; // Points of a curve that are drawn.

export async function create({ go }) {
  const { items } = await get("/v1/lr-sessions?limit=100").catch(() => ({ items: [] }));
  const options = items.map((item) => [item.id, `${item.name || item.id.slice(0, 8)} (${item.state})`]);
  const form = new Form([{ name: "session", label: "Session", kind: "select", options: items.length ? options : [["", "none yet"]] }], {}, { ask: go, button: "Show" });
  return {
    element: form.element,
    async show(values, answer, signal) {
      form.fill(values);
      const id = values.session || items[0]?.id;
      if (!id) return show(answer, none());
      let seen = -1;
      const look = async () => {
        if (signal.aborted) return;
        try {
          const session = await get(`/v1/lr-sessions/${id}`, { signal });
          if (session.sequence === seen && session.state === "running") {
            setTimeout(look, EVERY);
            return;
          }
          seen = session.sequence;
          const text = await (await blob(`/v1/lr-sessions/${id}/history?format=csv`)).text();
          if (signal.aborted) return;
          show(answer, sessionView(session, text));
          if (session.state === "running") setTimeout(look, EVERY);
        } catch (error) {
          if (signal.aborted) return;
          const unknown = [404, 422].includes(error.status);
          show(answer, unknown ? missing(`No session has the id ${id}`, options.map(([value, label]) => [`#/rates?session=${value}`, label])) : h("p", { class: "error" }, error.message));
        }
      };
      await look();
    },
  };
}

function none() {
  return [h("h1", {}, "No training run is tuned yet"),
    h("p", { class: "lead" }, "A training program opens a session; its loss, its rates and the tried candidates then show here, live."),
    h("h2", {}, "Open a session"),
    snippet("curl", `curl --json '{"name": "gpt", "min_lr": 0.0001, "max_lr": 0.1, "total_steps": 10000}' ${location.origin}/v1/lr-sessions`)];
}

function sessionView(session, text) {
  const rows = text.trim().split("\n").slice(1).map((line) => line.split(",")).map((cells) => ({
    step: Number(cells[1]), rate: Number(cells[2]), loss: Number(cells[3]), stage: cells[4], trial: cells[5], kept: cells[6] === "1" || cells[6] === "true",
  }));
  const kept = rows.filter((row) => row.kept);
  const last = kept.at(-1) || rows.at(-1);
  const total = session.options.total_steps;
  return [
    h("h1", {}, h("strong", { class: "accent" }, session.name || "This run"), ` is ${session.state} at step ${session.step.toLocaleString("en-US")} of ${total.toLocaleString("en-US")}.`),
    h("dl", { class: "figures" },
      figure("Loss", last && Number.isFinite(last.loss) ? digits(last.loss) : "–", "last kept step"),
      figure("Rate", session.action.lr ? session.action.lr.toExponential(2) : "–", `next: ${session.action.type.replace("_", " ")}`),
      figure("Steps in all", session.spent.toLocaleString("en-US"), `${plural(session.spent - session.step, "step")} of trials discarded`)),
    rows.length > 1 && h("div", { class: "charts" }, curves("Loss of the kept run, and of the trials", rows, (row) => row.loss, "loss"), curves("Learning rate", rows, (row) => row.rate, "rate")),
    session.stages.length > 0 && [h("h2", {}, "Stages"), h("div", { class: "charts low" }, session.stages.map(candidates).filter(Boolean).slice(-2)), stages(session.stages, session.options.group_ratios)],
    h("h2", {}, "Files"),
    files([["History (CSV)", `/v1/lr-sessions/${session.id}/history?format=csv`, "history.csv", "one line for each step"], ["Session (JSON)", `/v1/lr-sessions/${session.id}`, "session.json", "lr-session/1"], ["Plot (SVG)", `/v1/lr-sessions/${session.id}/history?format=svg`, "history.svg", "loss and rate, for papers"]]),
    h("h2", {}, "The same elsewhere"),
    sameElsewhere(`/v1/lr-sessions/${session.id}`, null, `client.lr_history("${session.id}", "csv")`, `topoloom lr show ${session.id}`),
  ];
}

function curves(title, rows, of, name) {
  const finite = rows.filter((row) => Number.isFinite(of(row)) && of(row) > 0);
  const thin = (list) => list.filter((_, index) => index % Math.ceil(list.length / MOST_POINTS) === 0);
  const kept = thin(finite.filter((row) => row.kept));
  const trials = thin(finite.filter((row) => !row.kept));
  const values = finite.map(of);
  const made = chart(title, (width, height) => {
    const box = { left: 56, right: width - 12, top: 34, bottom: height - 44 };
    const x = scale([0, Math.max(1, ...finite.map((row) => row.step))], [box.left, box.right]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const y = scale([low, high], [box.bottom, box.top], true);
    return axes(width, height, box, {
      x, y, title, xName: "step", yName: name,
      xTicks: ticks(0, Math.max(...finite.map((row) => row.step)), 5).map((value) => [value, value.toLocaleString("en-US")]),
      yTicks: logTicks(low, high).map((value) => [value, value < 0.01 ? value.toExponential(0) : tick(value)]),
    }, trials.map((row) => s("circle", { class: "trial", cx: x(row.step), cy: y(of(row)), r: 1.5 })),
    s("path", { class: "ours", d: path(kept.map((row) => [x(row.step), y(of(row))])) }));
  }, { columns: [{ head: "step", number: true, cell: (row) => row.step }, { head: name, number: true, cell: (row) => of(row).toPrecision(4) }], rows: thin(kept).filter((_, index) => index % Math.ceil(kept.length / 100) === 0) });
  return made.figure;
}

/** Return the forecasts of the rates that a stage tried; the chosen rate is ringed. Trials of ratios have other scales. */
function candidates(stage) {
  const scales = String(stage.attempts[0]?.scales);
  const tried = stage.attempts.filter((one) => one.forecast > 0 && String(one.scales) === scales);
  if (tried.length < 2) return null;
  const [rates, losses] = [tried.map((one) => one.rate), tried.map((one) => one.forecast)];
  const title = `Forecast loss of the rates tried at step ${stage.start.toLocaleString("en-US")}`;
  const draw = (width, height) => {
    const box = { left: 56, right: width - 24, top: 34, bottom: height - 44 };
    const x = scale([Math.min(...rates) / 1.3, Math.max(...rates) * 1.3], [box.left, box.right], true);
    const y = scale([Math.min(...losses) / 1.1, Math.max(...losses) * 1.1], [box.bottom, box.top], true);
    const isChosen = (one) => Math.abs(one.rate - stage.rate) < 1e-9;
    return axes(width, height, box, {
      x, y, title, xName: "learning rate", yName: "forecast loss",
      xTicks: logTicks(Math.min(...rates), Math.max(...rates)).map((value) => [value, value.toExponential(0)]),
      yTicks: logTicks(Math.min(...losses), Math.max(...losses)).map((value) => [value, tick(value)]),
    }, tried.map((one) => s("g", { class: isChosen(one) ? "point best" : "point" }, s("title", {}, `${one.rate.toExponential(2)}: ${digits(one.forecast)}, ${one.status}`),
      isChosen(one) && s("circle", { class: "ring", cx: x(one.rate), cy: y(one.forecast), r: 9 }), s("circle", { cx: x(one.rate), cy: y(one.forecast), r: 4.5 }),
      isChosen(one) && s("text", { x: x(one.rate), y: y(one.forecast) - 14, "text-anchor": "middle" }, "chosen"))),
    // The chosen rate may lie between those that were tried.
    stage.rate && !tried.some(isChosen) && [s("line", { class: "cursor", x1: x(stage.rate), x2: x(stage.rate), y1: box.top, y2: box.bottom }),
      s("text", { class: "ours", x: x(stage.rate) + 8, y: box.top + 8 }, `chosen ${stage.rate.toExponential(2)}`)]);
  };
  return chart(title, draw, { columns: [
    { head: "rate", number: true, cell: (one) => one.rate.toExponential(2) },
    { head: "forecast", number: true, cell: (one) => digits(one.forecast) },
    { head: "state", cell: (one) => one.status },
  ], rows: tried }, 260).figure;
}

function stages(list, groups) {
  const scaled = (stage) => groups.map((name, place) => `${name} × ${digits(stage.scales[place])}`).join(", ");
  return table("Stages", [
    { head: "first step", number: true, cell: (stage) => stage.start },
    { head: "steps", number: true, cell: (stage) => stage.tau },
    { head: "chosen", number: true, cell: (stage) => (stage.rate ? stage.rate.toExponential(2) : "–") },
    ...(groups.length ? [{ head: "scales", cell: (stage) => (stage.scales ? scaled(stage) : "–") }] : []),
    { head: "tried", number: true, cell: (stage) => (stage.attempts.length ? plural(stage.attempts.length, groups.length ? "trial" : "rate") : "–") },
  ], list);
}
