"""Requests of operations that no single body of the service asks for: made of path and query."""

from typing import Literal

from pydantic import Field

from topoloom.app.requests.base import Request
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.patch_plans import RepairsRequest, SurveyRequest
from topoloom.app.requests.schedules import ExportRequest, SimulationRequest


class StoredQuestion(Request):
    """Which stored document; a damaged one is computed anew."""

    kind: str = Field(description="kind of document")
    id: IdPrefix = Field(description="its id, or the beginning of it")


class PartQuestion(StoredQuestion):
    """Which members of a stored document."""

    paths: list[str] = Field(description="members, with dots for members within members")


class SimulationQuestion(Request):
    """Which stored schedule to simulate, and on which fabric."""

    id: IdPrefix = Field(description="id of the schedule, or the beginning of it")
    on: SimulationRequest


class RepairsQuestion(Request):
    """Which stored plan was carried out, and what of it is dead."""

    id: IdPrefix = Field(description="id of the plan, or the beginning of it")
    on: RepairsRequest


class SurveyQuestion(Request):
    """Which stored plan was carried out, and which failures of it are looked at."""

    id: IdPrefix = Field(description="id of the plan, or the beginning of it")
    on: SurveyRequest


class ExportQuestion(Request):
    """Which stored document is wanted in which format."""

    kind: Literal["topology", "schedule", "patch-plan", "design"] = Field(
        description="kind of document"
    )
    id: IdPrefix = Field(description="its id")
    format: str = Field(description="one of the formats of its kind", max_length=40)
    options: ExportRequest = Field(default=ExportRequest(), description="of a schedule's format")

    @property
    def variant(self) -> str:
        """The format and what is said about it, in a few words.

        >>> ExportQuestion(kind="schedule", id="0" * 64, format="chakra-et").variant
        'chakra-et'
        """
        said = self.options.canonical()
        return "-".join([self.format, *(f"{name}={value}" for name, value in said.items())])
