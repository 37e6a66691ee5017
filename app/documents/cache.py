"""cache/1: how much is stored, and how much may be."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document
from topoloom.app.store.artifacts import KINDS
from topoloom.app.store.eviction import Usage


class KindUsage(Document):
    """What is stored of a kind."""

    documents: int = Field(description="how many", ge=0)
    bytes: int = Field(description="their size as they are stored", ge=0)
    pinned: int = Field(description="how many are pinned", ge=0)
    labelled: int = Field(description="how many have labels", ge=0)


class CacheDocument(KindUsage):
    """cache/1."""

    schema_: Literal["cache/1"] = Field(alias="schema", description="cache/1")
    limit_bytes: int = Field(description="largest size of all documents; 0 for no limit", ge=0)
    kinds: dict[str, KindUsage] = Field(description="the same of each kind, by its plural")


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
