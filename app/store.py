"""The content-addressed cache: what has been computed once is read ever after.

A document's id is the SHA-256 of the canonical JSON of (kind, kernel version,
request).  Two processes that compute the same document at the same time both
succeed: the first insert wins, and since documents are deterministic it does not
matter which.  Nothing is stored when a computation fails.
"""

import base64
import binascii
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy import Engine, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from app.config import KERNEL_VERSION
from app.tables import TABLES

__all__ = [
    "Artefact",
    "Asked",
    "Computed",
    "InvalidCursor",
    "Listed",
    "Store",
    "canonical",
    "compact",
    "key",
]

PACKED_JSON = "application/json+gzip"

Asked: TypeAlias = Mapping[str, Any]
"""A question as plain JSON: the key of its answer, and nothing that is computed with."""


class InvalidCursor(ValueError):
    """A list's cursor is not one that an earlier answer gave."""


@dataclass(frozen=True, slots=True)
class Computed:
    """An answer as it will be kept, and a few facts of it for lists."""

    content: bytes
    media_type: str
    summary: dict[str, Any]

    @classmethod
    def json(cls, document: dict[str, Any], summary: dict[str, Any]) -> "Computed":
        """Return a JSON object as an answer."""
        # mtime=0: the same document gives the same bytes.
        return cls(gzip.compress(compact(document).encode(), mtime=0), PACKED_JSON, summary)


@dataclass(frozen=True, slots=True)
class Artefact:
    """A stored answer.

    ``digest`` is the SHA-256 of ``content``; ``fresh`` tells whether it was computed
    for this very call.
    """

    kind: str
    id: str
    content: bytes
    media_type: str
    digest: str
    summary: dict[str, Any]
    fresh: bool = False

    def text(self) -> str:
        """Return the JSON text."""
        return gzip.decompress(self.content).decode()

    def document(self) -> dict[str, Any]:
        """Return the parsed JSON."""
        return json.loads(gzip.decompress(self.content))


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a list: what was asked, and when it was first answered."""

    id: str
    kernel_version: str
    created_at: datetime
    request: dict[str, Any]
    summary: dict[str, Any]


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, ASCII.

    >>> canonical({"b": [1, 2], "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def key(kind: str, request: Asked) -> str:
    """Return the id of the answer to a request.

    >>> key("design", {"nodes": 8}) == key("design", {"nodes": 8})
    True
    >>> key("design", {"nodes": 8}) == key("frontier", {"nodes": 8})
    False
    """
    text = canonical({"kernel": KERNEL_VERSION, "kind": kind, "request": request})
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """Documents by kind and id, in the tables of `app.tables`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, kind: str, identity: str) -> Artefact | None:
        """Return the stored document, or None."""
        table = TABLES[kind]
        query = select(table).where(table.id == identity)
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        summary = json.loads(row.summary)
        return Artefact(kind, identity, row.document, row.media_type, row.digest, summary)

    def get_or_compute(
        self, kind: str, request: Asked, compute: Callable[[str], Computed]
    ) -> Artefact:
        """Return the answer to a request, from the database if it is there.

        ``compute`` is called with the document's id when it is not stored yet.  An
        error it raises passes through, and nothing is stored.
        """
        identity = key(kind, request)
        found = self.get(kind, identity)
        if found is not None:
            return found
        computed = compute(identity)
        content, summary = computed.content, computed.summary
        digest = hashlib.sha256(content).hexdigest()
        artefact = Artefact(
            kind, identity, content, computed.media_type, digest, summary, fresh=True
        )
        values = {
            "id": identity,
            "kernel_version": KERNEL_VERSION,
            "request": canonical(request),
            "summary": compact(summary),
            "media_type": computed.media_type,
            "document": content,
            "digest": digest,
            "created_at": datetime.now(UTC).replace(tzinfo=None),
        }
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(TABLES[kind]).values(values))
        except IntegrityError:
            # Somebody else stored the same answer in the meantime.
            return self.get(kind, identity) or artefact
        return artefact

    def page(self, kind: str, limit: int, cursor: str | None) -> tuple[list[Listed], str | None]:
        """Return up to ``limit`` entries, newest first, and the cursor of the next page.

        Raises
        ------
        InvalidCursor
            The cursor is not one that this method returned.
        """
        table = TABLES[kind]
        query = select(
            table.id, table.kernel_version, table.created_at, table.request, table.summary
        )
        query = query.order_by(table.created_at.desc(), table.id.desc()).limit(limit + 1)
        if cursor is not None:
            query = query.where(tuple_(table.created_at, table.id) < tuple_(*_position(cursor)))
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        entries = [
            Listed(
                row.id,
                row.kernel_version,
                row.created_at,
                json.loads(row.request),
                json.loads(row.summary),
            )
            for row in rows[:limit]
        ]
        more = len(rows) > limit
        return entries, _cursor(entries[-1]) if more else None


def compact(document: dict[str, Any]) -> str:
    """Return compact JSON that keeps the document's own order of keys, for people."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _cursor(entry: Listed) -> str:
    text = f"{entry.created_at.isoformat()}|{entry.id}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _position(cursor: str) -> tuple[datetime, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        moment, _, identity = base64.urlsafe_b64decode(padded).decode().partition("|")
        return datetime.fromisoformat(moment).replace(tzinfo=None), identity
    except (ValueError, binascii.Error):
        raise InvalidCursor("cursor: must be one that an earlier answer gave") from None
