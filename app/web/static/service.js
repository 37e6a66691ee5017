// The service itself: its version, what is stored, and for an administrator keys and the audit log.

import { get, key } from "./api.js";
import { guides, h, later } from "./dom.js";
import { bytes, plural, when } from "./numbers.js";
import { table } from "./table.js";

/** Return the state of the service; each part states what the key may not see. */
export async function serviceView() {
  const [version, cache] = await Promise.all([get("/version"), get("/v1/cache")]);
  return h("div", {},
    h("p", { class: "lead" }, `Topoloom ${version.version}. ${plural(cache.documents, "stored answer")} take ${bytes(cache.bytes)}${cache.limit_bytes ? ` of ${bytes(cache.limit_bytes)}` : ""}.`),
    guides([["how-to/run-the-service.md", "Run the service"], ["how-to/keys-and-owners.md", "Share a service between teams"], ["how-to/watch-the-service.md", "Watch the service"]]),
    h("h2", {}, "Stored answers"), table("Stored answers by kind", [
      { head: "kind", cell: ([kind]) => kind },
      { head: "answers", number: true, cell: ([, own]) => own.documents.toLocaleString("en-US") },
      { head: "pinned", number: true, cell: ([, own]) => own.pinned.toLocaleString("en-US") },
      { head: "size", number: true, cell: ([, own]) => bytes(own.bytes) },
    ], Object.entries(cache.kinds).filter(([, own]) => own.documents)),
    key.get() && [h("h2", {}, "Keys"), later(get("/v1/keys").then(({ items }) => keyTable(items)))],
    h("h2", {}, "Administrative requests"), later(get("/v1/audit-log?limit=100").then(({ items }) => auditTable(items))));
}

function keyTable(items) {
  if (!items.length) return h("p", { class: "quiet" }, "No key exists.");
  return table("Keys", [
    { head: "key", cell: (row) => row.id },
    { head: "name", cell: (row) => row.name },
    { head: "owner", cell: (row) => row.owner },
    { head: "scopes", cell: (row) => row.scopes.join(", ") },
    { head: "state", cell: (row) => row.state },
    { head: "last used", cell: (row) => (row.used_at ? when(row.used_at) : "never") },
    { head: "expires", cell: (row) => (row.expires_at ? when(row.expires_at) : "never") },
  ], items);
}

function auditTable(items) {
  if (!items.length) return h("p", { class: "quiet" }, "No administrative request is recorded.");
  return table("Administrative requests", [
    { head: "when", cell: (row) => when(row.at) },
    { head: "owner", cell: (row) => row.owner },
    { head: "key", cell: (row) => row.key || "–" },
    { head: "action", cell: (row) => row.action },
    { head: "target", cell: (row) => row.target },
    { head: "status", number: true, cell: (row) => row.status || "–" },
  ], items);
}
