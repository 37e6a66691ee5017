"""verification/1: what the independent checker says of a schedule on a topology."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import AboutTopology, Document, Identity, Subject, omitted
from topoloom.app.store.artifacts import Computed, Kind

MAX_SHOWN = 1000
"""So many violations are written out; all are counted, up to ten thousand."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A schedule that was checked, and every violation as a sentence."""

    subject: Subject
    form: str
    violations: Sequence[str]
    schedule_id: str | None = None
    notes: Sequence[str] = ()


class VerificationSummary(Document):
    """What lists say of a verification."""

    name: str = Field(description="name of the topology; empty if it has none")
    valid: bool = Field(description="whether the schedule does what it says")
    found: int = Field(description="how many violations were found", ge=0)


class VerificationDocument(AboutTopology[Literal["verification/1"]]):
    """verification/1."""

    format: str = Field(description="what the schedule was written as; json is schedule/1")
    schedule_id: Identity = omitted("of a stored schedule: what it is stored under")
    valid: bool = Field(description="whether the schedule does what it says, on this topology")
    found: int = Field(description="how many violations were found; counting ends at 10000", ge=0)
    violations: list[str] = Field(description=f"the first {MAX_SHOWN} of them, in words")
    notes: list[str] = omitted(
        "of a file: as which dialect it is read, where that matters, and what no run-time reads"
    )


def of(answer: Checked, identity: str) -> VerificationDocument:
    """Return the verification/1 document."""
    more: dict[str, Any] = answer.subject.members()
    if answer.schedule_id is not None:
        more["schedule_id"] = answer.schedule_id
    if answer.notes:
        more["notes"] = list(answer.notes)
    return VerificationDocument(
        schema="verification/1",
        id=identity,
        format=answer.form,
        valid=not answer.violations,
        found=len(answer.violations),
        violations=list(answer.violations[:MAX_SHOWN]),
        **more,
    )


def _encode(answer: Checked, identity: str) -> Computed:
    valid, found = not answer.violations, len(answer.violations)
    summary = VerificationSummary(name=answer.subject.name, valid=valid, found=found)
    return Computed.json(of(answer, identity).given(), summary.given())


VERIFICATION = Kind("verification", _encode)
