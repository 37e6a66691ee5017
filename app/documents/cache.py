"""cache/1: size of the stored documents, and the limit."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.store.artifacts import KINDS
from topoloom.app.store.eviction import Usage


class KindUsage(Document):
    """Stored documents of a kind."""

    documents: int = Field(description="number of documents", ge=0)
    bytes: int = Field(description="stored size in bytes", ge=0)
    pinned: int = Field(description="number of pinned documents", ge=0)
    labelled: int = Field(description="number of documents with labels", ge=0)


class CacheDocument(KindUsage):
    """cache/1."""

    schema_: Literal["cache/1"] = Field(alias="schema", description="cache/1")
    limit_bytes: int = Field(
        description="limit of the total size, or the quota of the owner of the key; 0 for no limit",
        ge=0,
    )
    kinds: dict[str, KindUsage] = Field(description="plural of the kind -> usage of the kind")


def of(found: Mapping[str, Usage], limit_bytes: int) -> dict[str, Any]:
    """Return the cache/1 document."""
    totals = {
        name: sum(getattr(one, name) for one in found.values())
        for name in ("documents", "bytes", "pinned", "labelled")
    }
    kinds = {
        KINDS[kind].replace("_", "-"): KindUsage(
            documents=one.documents, bytes=one.bytes, pinned=one.pinned, labelled=one.labelled
        )
        for kind, one in found.items()
    }
    document = CacheDocument(schema="cache/1", **totals, limit_bytes=limit_bytes, kinds=kinds)
    return {"schema": "cache/1", **document.given()}
