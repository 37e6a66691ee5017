"""Requests about stored documents, from path and query instead of one body."""

from typing import Literal

from pydantic import Field

from topoloom.app.requests.base import Request
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.patch_plans import FaultAnalysisRequest, RepairsRequest
from topoloom.app.requests.schedules import ExportRequest


class StoredQuestion(Request):
    """A stored document; the service recomputes a damaged document."""

    kind: str = Field(description="kind of document")
    id: IdPrefix = Field(description="id of the document, or a prefix")


class PartQuestion(StoredQuestion):
    """Members of a stored document."""

    paths: list[str] = Field(description="members, with dots for nested members")


class RepairsQuestion(Request):
    """Stored plan, wired, and its dead parts."""

    id: IdPrefix = Field(description="id of the plan, or a prefix")
    on: RepairsRequest


class FaultAnalysisQuestion(Request):
    """Stored plan, wired, and the failures to examine."""

    id: IdPrefix = Field(description="id of the plan, or a prefix")
    on: FaultAnalysisRequest


class ExportQuestion(Request):
    """Stored document and export format."""

    kind: Literal["topology", "schedule", "patch-plan", "design"] = Field(
        description="kind of document"
    )
    id: IdPrefix = Field(description="id of the document")
    format: str = Field(description="a format of the kind", max_length=40)
    options: ExportRequest = Field(
        default=ExportRequest(), description="options of a schedule format"
    )

    @property
    def variant(self) -> str:
        """The format with its options, as a short text.

        >>> ExportQuestion(kind="schedule", id="0" * 64, format="chakra-et").variant
        'chakra-et'
        """
        options = self.options.canonical()
        return "-".join([self.format, *(f"{name}={value}" for name, value in options.items())])
