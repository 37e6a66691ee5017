"""Labels and pin of a stored document."""

from typing import Any

from pydantic import Field

from topoloom.app.documents.base import Document, Identity
from topoloom.app.store.retention import Standing


class StandingDocument(Document):
    """Labels and pin of a stored document, and whether the document is shared."""

    id: Identity = Field(description="id of the document")
    pinned: bool = Field(description="whether the document is protected from deletion and eviction")
    labels: list[str] = Field(description="labels that the caller may see, sorted")
    shared: bool = Field(description="whether every key may read the document")


def of(found: Standing) -> dict[str, Any]:
    """Return the document of labels and pin."""
    labels = list(found.labels)
    document = StandingDocument(
        id=found.id, pinned=found.pinned, labels=labels, shared=found.shared
    )
    return document.given()
