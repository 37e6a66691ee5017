"""verification/1: the result of the independent checker for a schedule on a topology."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AboutTopology,
    Document,
    Identity,
    Subject,
    given_members,
    omitted,
)
from topoloom.app.store.artifacts import Computed, Kind

MAX_SHOWN = 1000
"""Limit of listed violations; counting ends at 10,000."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked schedule, with its violations as sentences."""

    subject: Subject
    form: str
    violations: Sequence[str]
    schedule_id: str | None = None
    notes: Sequence[str] = ()


class VerificationSummary(Document):
    """Summary of a verification in lists."""

    name: str = Field(description="name of the topology; may be empty")
    valid: bool = Field(description="whether the schedule is valid")
    found: int = Field(description="number of violations", ge=0)


class VerificationDocument(AboutTopology[Literal["verification/1"]]):
    """verification/1."""

    format: str = Field(description="format of the schedule; json is schedule/1")
    schedule_id: Identity = omitted("id of the schedule, if stored")
    valid: bool = Field(description="whether the schedule is valid on this topology")
    found: int = Field(description="number of violations; counting ends at 10000", ge=0)
    violations: list[str] = Field(description=f"the first {MAX_SHOWN} violations, as sentences")
    notes: list[str] = omitted(
        "file: dialect of the reading, if relevant, and content that no runtime reads"
    )


def of(answer: Checked, identity: str) -> VerificationDocument:
    """Return the verification/1 document."""
    return VerificationDocument(
        schema="verification/1",
        id=identity,
        format=answer.form,
        valid=not answer.violations,
        found=len(answer.violations),
        violations=list(answer.violations[:MAX_SHOWN]),
        **answer.subject.members(),
        **given_members(schedule_id=answer.schedule_id, notes=list(answer.notes) or None),
    )


def _encode(answer: Checked, identity: str) -> Computed:
    valid, found = not answer.violations, len(answer.violations)
    summary = VerificationSummary(name=answer.subject.name, valid=valid, found=found)
    return Computed.json(of(answer, identity).given(), summary.given())


VERIFICATION = Kind("verification", _encode)
