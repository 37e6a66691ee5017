"""survey/1: the worst failures of a wired plan."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Exact, Presented, given_members, omitted

if TYPE_CHECKING:
    from topoloom.synth.wiring.operations.worst_failures import Failure


class FailedPart(Document):
    """A failing part."""

    kind: Literal["host", "panel", "pair"] = Field(description="kind of the part")
    name: str = Field(description="name of the part; panel/port-port for a pair")


class FailureDocument(Document):
    """The effect of a failure."""

    parts: list[FailedPart] = Field(description="parts that fail simultaneously")
    lost_links: int = Field(description="lost links between surviving hosts", ge=0)
    connected: bool = Field(description="whether all surviving hosts reach each other")
    share: Exact = omitted("remaining share of the algbw of the best allgather, if computed")


class SurveyDocument(Document):
    """survey/1."""

    schema_: Literal["survey/1"] = Field(alias="schema", description="survey/1")
    plan_id: Digest = Field(description="digest of the wired plan")
    at_once: int = Field(description="number of parts that fail simultaneously", ge=1)
    count: int = Field(description="number of examined failures", ge=0)
    cut: int = Field(description="number of failures that cut hosts off", ge=0)
    failures: list[FailureDocument] = Field(description="worst failures, worst first")


def of(plan_id: str, at_once: int, found: "Sequence[Failure]", worst: int) -> Presented:
    """Return the survey/1 document with the ``worst`` worst failures."""
    return SurveyDocument(
        schema="survey/1",
        plan_id=plan_id,
        at_once=at_once,
        count=len(found),
        cut=sum(not failure.connected for failure in found),
        failures=[_row(failure) for failure in found[:worst]],
    ).given()


def _row(failure: "Failure") -> FailureDocument:
    return FailureDocument(
        parts=[FailedPart(kind=part.kind, name=part.name) for part in failure.parts],
        lost_links=failure.lost_links,
        connected=failure.connected,
        **given_members(share=None if failure.share is None else str(failure.share)),
    )
