// Requests to the public API, with the key of the tab, and the jobs of long computations.

const KEY = "topoloom-key";
const JSON_BODY = { "Content-Type": "application/json" };

export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)),
};

/** A problem of the service (RFC 9457): `errors` has a pointer and a rule each; `denied` is a lack of rights. */
class Problem extends Error {
  constructor(document) {
    const [, scope] = (document.status === 403 && /the scope (\S+)/.exec(document.detail)) || [];
    const rules = (document.errors || []).map(({ pointer, detail }) => [pointer.slice(1).replaceAll("/", " "), detail].filter(Boolean).join(": "));
    super(scope ? `This needs a key with the scope ${scope}.` : document.status === 401 ? "Sign in with an API key." : rules.join("; ") || document.detail || document.title);
    const denied = [401, 403].includes(document.status);
    Object.assign(this, { status: document.status, type: document.type, title: document.title, denied, errors: (!denied && document.errors) || [] });
  }
}

async function request(path, options = {}) {
  const headers = { ...options.headers };
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ status: 0, title: "The service does not answer", detail: "The service does not answer. Check the connection, then ask again." });
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let problem = { status: answer.status, title: `The service answers ${answer.status}` };
  try {
    problem = JSON.parse(text);
  } catch { /* A proxy may answer without JSON. */ }
  if (answer.status === 401) document.dispatchEvent(new CustomEvent("key-needed"));
  throw new Problem(problem);
}

/** Read a JSON document. */
export async function get(path, options) {
  return (await request(path, options)).json();
}

/** Read a document as pieces of text, while they arrive. */
export async function stream(path) {
  return pieces((await request(path)).body);
}

async function* pieces(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** Read a file, or have a body answered as a file; return its blob. */
export async function blob(path, body = null) {
  return (await request(path, body ? { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) } : {})).blob();
}

/**
 * Send a request and return its answer.  A computation that takes longer than `wait` seconds is
 * followed as a job: `onJob` receives the job at every change, and a function that cancels it.
 */
export async function post(path, body, { onJob = () => {}, signal, wait = 2, headers = {} } = {}) {
  const answer = await request(path, {
    method: "POST",
    headers: { ...JSON_BODY, Prefer: `wait=${wait}`, ...headers },
    body: JSON.stringify(body),
    signal,
  });
  const found = await answer.json();
  if (answer.status !== 202) return found;
  const ended = await follow(found, onJob, signal);
  if (ended.state === "done") {
    // A batch has no document: its parts are stored now, and the same request returns them.
    return ended.result_url ? get(ended.result_url, { signal }) : post(path, body, { onJob, signal, wait: 60 });
  }
  if (ended.problem) throw new Problem(ended.problem);
  throw new Problem({ status: 0, title: "The job was cancelled", detail: "The job was cancelled." });
}

/** Send a request without a body, such as DELETE. */
export function send(path, method) {
  return request(path, { method });
}

export const cancel = (job) => send(`/v1/jobs/${job.id}/cancel`, "POST");

/** Follow a job until it ends; a broken stream is opened again after the last event. */
async function follow(job, onJob, signal) {
  let latest = job;
  onJob(latest, () => cancel(latest));
  while (!["done", "failed", "cancelled"].includes(latest.state)) {
    const headers = { "Last-Event-ID": String(latest.revision) };
    const stream = await request(`/v1/jobs/${job.id}/events`, { headers, signal });
    for await (const event of events(stream.body)) {
      latest = event;
      onJob(latest, () => cancel(latest));
    }
    if (!["done", "failed", "cancelled"].includes(latest.state)) latest = await get(`/v1/jobs/${job.id}`, { signal });
  }
  return latest;
}

/** Yield the data of server-sent events.  EventSource cannot send a key. */
async function* events(body) {
  let rest = "";
  for await (const piece of pieces(body)) {
    const parts = (rest + piece).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data: "));
      if (data.length) yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
    }
  }
}
