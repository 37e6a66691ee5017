"""The ids, kinds and bytes of stored documents.

This module uses no database; `app.store.document_store` stores the documents in a database.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from topoloom.app.config import KERNEL_VERSION

T = TypeVar("T")

PACKED = "+gzip"
"""Suffix of the media types whose content is gzipped."""

PACKED_JSON = f"application/json{PACKED}"
"""Media type of a stored JSON document: its compact text, gzipped."""

ID_LENGTH = 64
"""Hexadecimal characters of an id."""

MIN_PREFIX = 6
"""Least length of a unique id prefix, in hexadecimal characters."""

EVERYONE = ""
"""The owner of shared documents."""

Asked: TypeAlias = Mapping[str, Any]
"""A request as plain JSON: the cache key of its answer."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "design": "designs",
        "frontier": "frontiers",
        "topology": "topologies",
        "cost": "costs",
        "optimum": "optima",
        "schedule": "schedules",
        "patch-plan": "patch_plans",
        "export": "exports",
        "verification": "verifications",
        "simulation": "simulations",
        "comparison": "comparisons",
        "plot": "plots",
        "sweep": "sweeps",
        "iteration": "iterations",
        "box-design": "box_designs",
    }
)
"""Kind of document -> name of its table."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The stored form of an answer, and its summary for lists."""

    content: bytes
    media_type: str
    summary: dict[str, Any]

    @classmethod
    def json(cls, document: dict[str, Any], summary: dict[str, Any]) -> "Computed":
        """Return a JSON object as an answer."""
        # mtime=0: the same document gives the same bytes.  Level 9 takes five times as long as 6,
        # and saves 6 percent of a topology of 4,000 hosts.
        return cls(gzip.compress(compact(document).encode(), 6, mtime=0), PACKED_JSON, summary)


@dataclass(frozen=True, slots=True)
class Artefact:
    """A stored answer.

    ``digest`` is its seal (`store.row_mapping`), which changes with ``content``; ``fresh`` tells
    whether this call computed the answer.
    """

    kind: str
    id: str
    content: bytes
    media_type: str
    digest: str
    summary: dict[str, Any]
    fresh: bool = False

    @property
    def is_packed(self) -> bool:
        """Whether the content is gzipped."""
        return self.media_type.endswith(PACKED)

    def text(self) -> str:
        """Return the JSON text."""
        return gzip.decompress(self.content).decode()

    def document(self) -> dict[str, Any]:
        """Return the parsed JSON."""
        return json.loads(gzip.decompress(self.content))


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a list: the request, and the time of its first answer."""

    id: str
    kernel_version: str
    created_at: datetime
    request: dict[str, Any]
    summary: dict[str, Any]
    pinned: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of answer: its name in the store, its encoder and its decoder.

    ``encode`` takes a value and its id.  ``decode`` reads a stored value back; it is None for
    kinds that no computation reads.
    """

    name: str
    encode: Callable[[T, str], Computed]
    decode: Callable[[Artefact], T] | None = None

    def read(self, artefact: Artefact) -> T:
        """Return the value of a stored answer."""
        assert self.decode is not None
        return self.decode(artefact)


class Answer(Generic[T]):
    """A stored answer and its value.

    A new answer holds the computed value.  A stored answer is decoded once, on the first read of
    its value; ``require_decodable`` raises if decoding is not allowed.
    """

    def __init__(
        self,
        artefact: Artefact,
        kind: Kind[T],
        computed: list[T],
        require_decodable: Callable[[Artefact], None] | None = None,
    ) -> None:
        self.artefact = artefact
        self.id = artefact.id
        self._kind = kind
        self._values = computed
        self._require_decodable = require_decodable

    @property
    def value(self) -> T:
        """The domain value."""
        if not self._values:
            if self._require_decodable is not None:
                self._require_decodable(self.artefact)
            self._values = [self._kind.read(self.artefact)]
        return self._values[0]


def canonical(value: Any) -> str:
    """Return the canonical JSON text of a value: sorted keys, no blanks, ASCII.

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
    return key_of(KERNEL_VERSION, kind, canonical(request))


def key_of(kernel_version: str, kind: str, request: str) -> str:
    """Return the id of the answer of a kernel version to a request in canonical JSON.

    >>> key_of(KERNEL_VERSION, "design", '{"nodes":8}') == key("design", {"nodes": 8})
    True
    """
    head = canonical({"kernel": kernel_version, "kind": kind})
    # The members of a canonical object are sorted: the request is the last.
    text = f'{head[:-1]},"request":{request}}}'
    return hashlib.sha256(text.encode()).hexdigest()


def compact(document: dict[str, Any]) -> str:
    """Return compact JSON in the key order of the document."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
