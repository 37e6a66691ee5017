"""Rows of stored answers: sealed on creation, checked on every read.

A row holds an id, the request whose digest is the id, and an answer.  The seal (the ``digest``
of the row) is a digest of the id and of the whole answer: a document in another row, with or
without its digest, does not match.

This module uses no database: `app.store.document_store` writes the rows.
"""

import hashlib
import json
import logging
import re
import zlib
from typing import Any, NamedTuple

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.store.artifacts import (
    PACKED_JSON,
    Artefact,
    Asked,
    Computed,
    canonical,
    compact,
    key_of,
)
from topoloom.app.store.index_metadata import Facts, facts_of, sortable
from topoloom.app.store.write_behind import Pending

log = logging.getLogger(__name__)

NAMED = "topology"
"""The kind whose documents have names."""


def columns_of(kind: str, facts: Facts, content: bytes, *texts: str) -> dict[str, Any]:
    """Return the columns of a row that hold its facts and its size in bytes."""
    inherited = ("nodes", "degree", "links", "steps")
    found: dict[str, Any] = {name: getattr(facts, name) for name in inherited}
    found["bandwidth"] = None if facts.bandwidth is None else sortable(facts.bandwidth)
    found["size"] = len(content) + sum(map(len, texts))
    return found


def row_of(
    kind: str, request: Asked, identity: str, computed: Computed, facts: Facts | None = None
) -> Pending:
    """Return an answer as a row; ``facts`` are its facts if they are known already."""
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


_BEGINNING = 4096
"""Bytes at the start of a JSON document that contain its id."""

_ID = re.compile(rb'"id":"([0-9a-f]{64})"')


class StoredRow(NamedTuple):
    """The columns of a document in its table, by their names."""

    id: str
    kernel_version: str
    request: str
    summary: str
    media_type: str
    document: bytes
    digest: str


def seal(identity: str, media_type: str, summary: str, content: bytes) -> str:
    """Return the SHA-256 that binds an answer to its id.

    >>> one, other = (seal(64 * mark, "text/plain", "{}", b"x") for mark in "ab")
    >>> one == other
    False
    """
    head = json.dumps([identity, media_type, summary]).encode()
    found = hashlib.sha256(head)
    found.update(content)
    return found.hexdigest()


def verified_document(kind: str, row: StoredRow) -> Artefact | None:
    """Return the document of a row; None if it is not the answer to the request of the row.

    Takes one pass over the stored document without decompression.
    """
    if not isinstance(row.document, bytes):  # SQLite stores any type
        return _refused(kind, row, "the document is not of bytes")
    if key_of(row.kernel_version, kind, row.request) != row.id:
        return _refused(kind, row, "the id is not that of the question")
    if row.digest != seal(row.id, row.media_type, row.summary, row.document) and not _older(row):
        return _refused(kind, row, "the document is not the one that was stored")
    return Artefact(kind, row.id, row.document, row.media_type, row.digest, json.loads(row.summary))


def _refused(kind: str, row: StoredRow, why: str) -> None:
    log.error("the stored %s %s is damaged: %s", kind, row.id, why)


def _older(row: StoredRow) -> bool:
    """Return whether a row of a version without seals holds the document of its id.

    Its digest is that of the document alone.  A JSON document contains its id.  A packed schedule
    does not, and is accepted only if it cannot be computed again.
    """
    if row.digest != hashlib.sha256(row.document).hexdigest():
        return False
    try:
        if row.media_type == PACKED_JSON:
            said = _ID.search(_beginning(row.document))
            return said is not None and said[1].decode() == row.id and _is_object(row.summary)
        said = json.loads(row.summary)["id"]
    except (ValueError, KeyError, TypeError, zlib.error):
        return False
    return said == row.id and row.kernel_version != KERNEL_VERSION


def _beginning(document: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(document, _BEGINNING)


def _is_object(text: str) -> bool:
    found: Any = json.loads(text)
    return isinstance(found, dict)
