// Schedules as links over time.  A schedule of a thousand hosts has millions of messages: the page
// reads them while they arrive, and keeps four numbers of each.

import { get, stream } from "./api.js";

const WHOLE = 128; // Nodes up to which a schedule is one JSON value.

/**
 * Return the parts of a stored schedule: `{collective, kind, unit, steps}` with the sends of each
 * step in columns of node indices and counts, or trees or routes as the service sends them.
 * `told` receives the number of messages read.
 */
export async function partsOf(id, graph, told = () => {}) {
  const path = `/v1/schedules/${id}`;
  const ids = graph.nodes.map((node) => node.id);
  if (graph.nodes.length > WHOLE) return read(await stream(path), ids, told);
  const schedule = await get(path);
  return (schedule.parts || [schedule]).map((part) => (part.steps ? { ...part, unit: part.chunks_per_shard, steps: part.steps.map((sends) => columns(ids).add(sends)) } : part));
}

/** Return an empty table of sends, which grows; `ids` are the names of the nodes by index. */
function columns(ids) {
  const index = new Map(ids.map((id, at) => [id, at]));
  const names = ["source", "target", "shard"];
  const found = { length: 0, add(sends) {
    if (found.length + sends.length > found.source.length) {
      for (const name of [...names, "count"]) {
        const grown = new Int32Array(2 * (found.length + sends.length));
        grown.set(found[name].subarray(0, found.length));
        found[name] = grown;
      }
    }
    for (const send of sends) {
      for (const name of names) found[name][found.length] = index.get(send[name]);
      found.count[found.length] = send.count;
      found.length += 1;
    }
    return found;
  } };
  for (const name of [...names, "count"]) found[name] = new Int32Array(16);
  return found;
}

/** Read a schedule in pieces of text: between the brackets of a step stand its sends, objects of numbers. */
export async function read(pieces, ids, told = () => {}) {
  const parts = [];
  let [rest, head, part, step, whole, count] = ["", "", null, null, null, 0];
  const take = (text) => {
    const sends = JSON.parse(`[${text.replace(/^\s*,/, "")}]`);
    count += sends.length;
    step.add(sends);
  };
  for await (const piece of pieces) {
    if (whole) {
      whole.push(piece);
      continue;
    }
    rest += piece;
    for (let at = rest.search(/[[\]]/); at >= 0; at = rest.search(/[[\]]/)) {
      const [text, bracket] = [rest.slice(0, at), rest[at]];
      rest = rest.slice(at + 1);
      if (step) {
        take(text);
        step = null;
      } else if (bracket === "[" && part) {
        part.steps.push(step = columns(ids));
      } else if (/"steps":\s*$/.test(text)) {
        const value = (name) => new RegExp(`"${name}":\\s*"?([^",}]+)`).exec(text)?.[1];
        parts.push(part = { kind: "steps", collective: value("collective"), unit: Number(value("chunks_per_shard") ?? 1), steps: [] });
      } else if (/"kind":\s*"(?!steps|sequence)/.test(text)) {
        whole = [head, text, bracket, rest];
        break;
      } else part = null;
      if (!parts.length) head += text + bracket;
    }
    if (step && rest.includes("}")) {
      const end = rest.lastIndexOf("}") + 1;
      take(rest.slice(0, end));
      rest = rest.slice(end);
      told(count);
    }
  }
  if (!whole) return parts;
  const schedule = JSON.parse(whole.join(""));
  return schedule.parts || [schedule];
}
