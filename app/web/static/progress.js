// The progress of a plan: what was observed, which pairs are mis-patched, and what to do next.

import { get, post, send } from "./api.js";
import { h, show } from "./dom.js";
import { takesFiles } from "./form.js";
import { number, plural, share } from "./numbers.js";
import { apply, isDone, keyOf, movesOf, pairsBefore, panelsView } from "./panels.js";
import { table } from "./table.js";

const MOST_STEPS = 12; // Steps that "What to do next" lists for each panel.

/** Return stages, progress and panels of a stored plan; they change with every observation. */
export async function planProgress(plan) {
  const path = `/v1/patch-plans/${plan.id}`;
  const place = h("div", {});
  const draw = (progress) => show(place, progressView(plan, progress, form));
  const observe = async (text) => {
    const { version } = await get(`${path}/progress`);
    draw(await post(`${path}/observations`, bodyOf(text), { headers: { "If-Match": `"${version}"` } }));
  };
  const forget = async () => {
    await send(`${path}/progress`, "DELETE");
    draw(await get(`${path}/progress`));
  };
  const form = observationForm(observe, forget);
  draw(await get(`${path}/progress`));
  return place;
}

/** Read an observation: the JSON of the API, or the text of a device or tool. */
function bodyOf(text) {
  try {
    const found = JSON.parse(text);
    if (found.panels || found.neighbours) return found;
  } catch { /* The text is no JSON: a device wrote the text. */ }
  return { text };
}

function observationForm(observe, forget) {
  const area = h("textarea", { id: "observed", rows: 5, spellcheck: "false", "aria-describedby": "observed-hint" });
  const told = h("p", { class: "error", role: "alert" });
  const act = (label, kind, work) => {
    const button = h("button", { type: "button", class: kind, onclick: async () => {
      show(told);
      button.disabled = true;
      await work().catch((error) => { told.textContent = error.errors?.length ? error.errors.map((one) => one.detail).join(" ") : error.message; });
      button.disabled = false;
    } }, label);
    return button;
  };
  return h("div", { class: "field observe" }, h("label", { for: "observed" }, "What the panels show"), area, takesFiles(area),
    h("span", { class: "hint", id: "observed-hint" }, "Paste or drop the output of the panels, a list of cables, or the JSON of the API. The first observation reserves the plant for this plan."),
    told, h("div", { class: "actions" }, act("Compare with the plan", "primary", () => observe(area.value)), act("Forget all observations", "", forget)));
}

function progressView(plan, progress, form) {
  const standings = new Map(progress.panels.map((panel) => [panel.device, standingOf(plan, panel)]));
  return [
    h("h2", {}, "Stages"), stageTable(plan, standings),
    h("h2", {}, "Progress"), h("p", { class: "lead", role: "status" }, sentence(progress, standings)),
    progress.panels.map((panel) => nextSteps(plan, panel, standings.get(panel.device))),
    h("details", { open: progress.version > 0 }, h("summary", {}, "Report what the panels show"), form),
    h("h2", {}, "Panels"), panelsView(plan, standings),
  ];
}

/** Return what an observed panel holds: the state after its stage, and what differs from it. */
function standingOf(plan, panel) {
  const pairs = pairsBefore(plan, panel.device);
  const moves = movesOf(plan).filter((move) => move.device === panel.device);
  for (const move of moves) if (move.stage <= panel.stage) apply(pairs, move);
  for (const pair of panel.missing) pairs.delete(keyOf(pair));
  for (const pair of [...panel.outdated, ...panel.unexpected, ...panel.unrelated]) pairs.set(keyOf(pair), pair);
  const ahead = new Set(panel.ahead);
  for (const move of moves) if (ahead.has(`${move.op} ${keyOf(move)}`)) apply(pairs, move);
  const keyed = (list) => new Map(list.map((pair) => [keyOf(pair), pair]));
  return { pairs, stagesDone: panel.stages_done, wrong: panel.unexpected.length, unexpected: keyed(panel.unexpected), dark: keyed(panel.dark) };
}

function sentence(progress, standings) {
  if (progress.state === "planned") return "No panel is observed yet.";
  const wrong = [...standings.values()].reduce((sum, one) => sum + one.wrong, 0);
  const dark = [...standings.values()].reduce((sum, one) => sum + one.dark.size, 0);
  if (progress.state === "done") return "The plan is done: every panel is in its final state.";
  return [`${plural(progress.moves_left, "move")} left`, wrong ? `${plural(wrong, "pair")} mis-patched` : "no pair mis-patched",
    dark && `${plural(dark, "pair")} without light`, progress.unseen.length && `${plural(progress.unseen.length, "panel")} not seen yet`].filter(Boolean).join("; ") + ".";
}

/** Return the next moves on a panel: first the repair of what is wrong, then the stage that follows. */
function nextSteps(plan, panel, standing) {
  const wrong = new Map([...panel.unexpected, ...panel.outdated, ...panel.missing].map((pair) => [keyOf(pair), pair.label]));
  const repair = panel.repair.map((text) => {
    const [op, key] = [text.slice(0, text.indexOf(" ")), text.slice(text.indexOf(" ") + 1)];
    return { op, key, note: standing.unexpected.has(key) ? "mis-patched" : `stage ${panel.stage}`, label: wrong.get(key) };
  });
  const following = movesOf(plan).filter((move) => move.device === panel.device && move.stage === panel.stage + 1 && !isDone(move, standing))
    .map((move) => ({ op: move.op, key: keyOf(move), note: `stage ${move.stage}` }));
  const steps = [...repair, ...following];
  const dark = panel.dark.map((pair) => h("li", {}, "Check the fiber of ", h("strong", {}, keyOf(pair)), ": no light ", h("span", { class: "quiet" }, pair.label)));
  if (!steps.length && !dark.length) return h("p", { class: "quiet" }, `${panel.device}: nothing is left to do.`);
  return h("div", {}, h("h3", {}, `What to do next on ${panel.device}`), h("ol", { class: "steps" }, dark, steps.slice(0, MOST_STEPS).map((step) => h("li", {},
    h("span", { class: step.op }, step.op === "add" ? "Plug " : "Unplug "), h("strong", {}, step.key), h("span", { class: step.note === "mis-patched" ? "error" : "quiet" }, `, ${step.note}`),
    step.label && h("span", { class: "quiet" }, `, ${step.label.replace("--", " to ")}`)))),
  steps.length > MOST_STEPS && h("p", { class: "quiet" }, `Then ${plural(steps.length - MOST_STEPS, "move")} more of this stage; the table of the panel has all.`));
}

function stageTable(plan, standings) {
  const moves = movesOf(plan);
  const rows = plan.stages.map((stage) => {
    const own = moves.filter((move) => move.stage === stage.id);
    return { ...stage, moves: own.length, done: own.filter((move) => standings.has(move.device) && isDone(move, standings.get(move.device))).length };
  });
  const seen = standings.size > 0;
  if (!rows.length) return h("p", { class: "quiet" }, "No stage: the panels are wired so already.");
  return table("Stages and what is down in each", [
    { head: "stage", number: true, cell: (row) => row.id },
    seen && { head: "state", cell: (row) => (row.done === row.moves ? h("span", { class: "add" }, "✓ done") : row.done ? "under way" : "to do") },
    seen && { head: "done", cell: (row) => h("meter", { class: "ours", min: "0", max: String(row.moves), value: String(row.done), "aria-label": `${row.done} of ${row.moves} moves` }) },
    { head: "moves", number: true, cell: (row) => (seen ? `${row.done.toLocaleString("en-US")} of ${row.moves.toLocaleString("en-US")}` : row.moves.toLocaleString("en-US")) },
    { head: "links down", number: true, cell: (row) => row.effect.links_down.toLocaleString("en-US") },
    { head: "capacity left", number: true, cell: (row) => share(number(row.effect.capacity_left)) },
    { head: "hosts connected", cell: (row) => (row.effect.connected ? "all" : "not all") },
    rows.some((row) => row.effect.hosts_drained) && { head: "hosts affected", number: true, cell: (row) => row.effect.hosts_drained.length.toLocaleString("en-US") },
  ].filter(Boolean), rows);
}
