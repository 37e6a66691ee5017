"""An answer as the row that it is to be: its columns, and what lists know of it.

Nothing here knows of a database: `app.store.document_store` and `app.store.embedded_writer` write
rows into one.
"""

from typing import Any

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.store.artifacts import Artefact, Asked, Computed, canonical, compact
from topoloom.app.store.index_metadata import Facts, facts_of, sortable
from topoloom.app.store.integrity import seal
from topoloom.app.store.write_behind import Pending

__all__ = ["NAMED", "columns_of", "row_of"]

NAMED = "topology"
"""The kind whose documents have names of their own."""


def columns_of(kind: str, facts: Facts, content: bytes, *texts: str) -> dict[str, Any]:
    """Return the columns of a row that are made from its facts, and how large it is."""
    inherited = ("nodes", "degree", "links", "steps")
    found: dict[str, Any] = {name: getattr(facts, name) for name in inherited}
    found["bandwidth"] = None if facts.bandwidth is None else sortable(facts.bandwidth)
    found["size"] = len(content) + sum(map(len, texts))
    return found


def row_of(
    kind: str, request: Asked, identity: str, computed: Computed, facts: Facts | None = None
) -> Pending:
    """Return an answer as a row; ``facts`` are what is known of it, where they were read before."""
    content, media_type = computed.content, computed.media_type
    summary, asked = compact(computed.summary), canonical(request)
    digest = seal(identity, media_type, summary, content)
    if facts is None:
        facts = facts_of(kind, KERNEL_VERSION, asked, summary, media_type, content)
    values = columns_of(kind, facts, content, asked, summary) | {
        "kernel_version": KERNEL_VERSION,
        "request": asked,
        "summary": summary,
        "media_type": media_type,
        "document": content,
        "digest": digest,
    }
    if kind == NAMED:
        values["name"] = computed.summary.get("name", "")
    artefact = Artefact(kind, identity, content, media_type, digest, computed.summary, fresh=True)
    return Pending(artefact, values, facts)
