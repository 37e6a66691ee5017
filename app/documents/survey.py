"""survey/1: the worst failures of a plan that was carried out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Exact, Presented, omitted

if TYPE_CHECKING:
    from topoloom.synth.wiring.operations.worst_failures import Failure


class PartDocument(Document):
    """What fails."""

    kind: Literal["host", "panel", "pair"] = Field(description="what it is")
    name: str = Field(description="its name; of a pair panel/port-port")


class FailureDocument(Document):
    """What a failure leaves."""

    parts: list[PartDocument] = Field(description="what fails together")
    lost_links: int = Field(description="lost links between hosts that are left", ge=0)
    connected: bool = Field(description="whether the hosts that are left reach each other")
    share: Exact = omitted("share of the algbw of the best allgather that is left, where computed")


class SurveyDocument(Document):
    """survey/1."""

    schema_: Literal["survey/1"] = Field(alias="schema", description="survey/1")
    plan_id: Digest = Field(description="the plan that was carried out")
    at_once: int = Field(description="how many parts fail together", ge=1)
    count: int = Field(description="failures that were looked at", ge=0)
    cut: int = Field(description="those of them that cut hosts off", ge=0)
    failures: list[FailureDocument] = Field(description="the worst of them, the worst first")


def of(plan_id: str, at_once: int, found: "Sequence[Failure]", worst: int) -> Presented:
    """Return the survey/1 document of so many failures."""
    return SurveyDocument(
        schema="survey/1",
        plan_id=plan_id,
        at_once=at_once,
        count=len(found),
        cut=sum(not failure.connected for failure in found),
        failures=[_row(failure) for failure in found[:worst]],
    ).given()


def _row(failure: "Failure") -> FailureDocument:
    more = {} if failure.share is None else {"share": str(failure.share)}
    return FailureDocument(
        parts=[PartDocument(kind=part.kind, name=part.name) for part in failure.parts],
        lost_links=failure.lost_links,
        connected=failure.connected,
        **more,
    )
