// From a question to its answer: a quiet wait, then the progress of a job, then answer or error.

import { h, show } from "./dom.js";
import { seconds } from "./numbers.js";

/** Send a question and show what comes back; `send` and `render` are functions. */
export async function ask({ form, answer, signal, send, render, suggestions = () => [] }) {
  form.accept();
  form.busy(true);
  answer.setAttribute("aria-busy", "true");
  const onJob = (job, cancel) => show(answer, progress(job, cancel));
  try {
    const found = await send({ onJob, signal });
    if (!signal.aborted) show(answer, render(found));
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    form.refuse(error, suggestions(error));
    show(answer, refusal(error, form));
  } finally {
    if (!signal.aborted) {
      answer.setAttribute("aria-busy", "false");
      form.busy(false);
    }
  }
}

/** Return a place for a part of an answer: a text, then the progress of the job, then what `render` makes of it. */
export function followed(waiting, send, render) {
  const place = h("div", {}, h("p", { class: "quiet" }, waiting));
  const onJob = (job, cancel) => show(place, progress(job, cancel, "h3"));
  send({ onJob }).then((found) => show(place, render(found)), (error) => show(place, h("p", { class: error.denied ? "quiet" : "error" }, error.message)));
  return place;
}

function refusal(error, form) {
  const located = ({ pointer, detail }) => [form.at(pointer)?.item.label, detail].filter(Boolean).join(": ");
  const marked = error.errors?.some(({ pointer }) => form.at(pointer));
  return h("div", { class: "refusal", role: "status" }, h("h1", {}, error.title || "This question has no answer"), error.errors?.length ? [marked && h("p", {}, "The form marks what to change:"), h("ul", {}, error.errors.map((each) => h("li", {}, located(each))))] : h("p", {}, error.message),
    error.denied && h("p", {}, "Stored answers that a key may read are in the ", h("a", { href: "#/library" }, "library"), "."),
    error.type && h("p", { class: "quiet" }, h("a", { href: error.type }, "What this problem means")));
}

/** Return the progress of a job, with its phase, its estimate and a button that cancels it. */
export function progress(job, cancel, heading = "h1") {
  const share = job.progress ?? 0;
  const told = h("span", { class: "error", role: "alert" });
  const button = h("button", { type: "button", onclick: async () => {
    button.disabled = true;
    try {
      await cancel();
    } catch (error) {
      told.textContent = error.message;
    }
  } }, "Cancel");
  const waits = job.state === "queued";
  const facts = [waits ? "other computations come first" : job.phase, job.estimate_seconds && `similar jobs take about ${seconds(job.estimate_seconds)}`].filter(Boolean).join("; ");
  return h("div", { class: "progress", role: "status" }, h(heading, {}, waits ? "The question waits for a free worker" : "The service computes the answer"),
    facts && h("p", {}, `${facts[0].toUpperCase()}${facts.slice(1)}.`),
    h("progress", { max: "1", value: share ? String(share) : null, "aria-label": "Progress" }), h("div", { class: "actions" }, button, told),
    h("p", { class: "quiet" }, "The computation continues if you close this page. The same address shows the answer later."));
}
