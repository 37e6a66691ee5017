"""What people said of a stored document: its labels, and whether it is pinned."""

from typing import Any

from pydantic import Field

from topoloom.app.documents.base import Document, Identity
from topoloom.app.store.retention import Standing


class StandingDocument(Document):
    """Labels and pin of a stored document."""

    id: Identity = Field(description="what the document is stored under")
    pinned: bool = Field(description="whether it is kept whatever is let go")
    labels: list[str] = Field(description="its labels, sorted")


def of(found: Standing) -> dict[str, Any]:
    """Return labels and pin as they travel."""
    return StandingDocument(id=found.id, pinned=found.pinned, labels=list(found.labels)).given()
