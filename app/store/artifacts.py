"""Computed documents as they are kept: their ids, their kinds, their bytes.

Nothing here knows of a database; `app.store.document_store` keeps them in one.
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
"""End of the media types whose content is gzipped."""

PACKED_JSON = f"application/json{PACKED}"
"""Media type of a stored JSON document: its compact text, gzipped."""

ID_LENGTH = 64
"""Hexadecimal characters of an id."""

MIN_PREFIX = 6
"""Hexadecimal characters of an id that are enough to ask for it, if no other begins so."""

Asked: TypeAlias = Mapping[str, Any]
"""A question as plain JSON: the key of its answer, and nothing that is computed with."""

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
    }
)
"""Kind of document -> the table it is kept in."""


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

    ``digest`` is its seal (`store.row_mapping`), which changes with ``content``; ``fresh`` tells
    whether it was computed for this very call.
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
    """An entry of a list: what was asked, and when it was first answered."""

    id: str
    kernel_version: str
    created_at: datetime
    request: dict[str, Any]
    summary: dict[str, Any]
    pinned: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of answer: its name in the store, and how its values are stored.

    ``encode`` takes a value and its id.  ``decode`` reads a stored value back; kinds that no
    computation reads have none.
    """

    name: str
    encode: Callable[[T, str], Computed]
    decode: Callable[[Artefact], T] | None = None

    def read(self, artefact: Artefact) -> T:
        """Return the value of a stored answer."""
        assert self.decode is not None
        return self.decode(artefact)


class Answer(Generic[T]):
    """A stored answer beside its value.

    One that was computed just now has the value it was made from; a stored one is decoded
    when its value is asked for, once; ``require_decodable`` raises if it must not be here.
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
    return key_of(KERNEL_VERSION, kind, canonical(request))


def key_of(kernel_version: str, kind: str, request: str) -> str:
    """Return the id of the answer that some version gives to a request in canonical JSON.

    >>> key_of(KERNEL_VERSION, "design", '{"nodes":8}') == key("design", {"nodes": 8})
    True
    """
    head = canonical({"kernel": kernel_version, "kind": kind})
    # The members of a canonical object are sorted: the request is the last.
    text = f'{head[:-1]},"request":{request}}}'
    return hashlib.sha256(text.encode()).hexdigest()


def compact(document: dict[str, Any]) -> str:
    """Return compact JSON that keeps the document's own order of keys, for people."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
