"""Verifications: what an independent checker says of any schedule on any topology."""

from app.artefacts import Artefact
from app.checking_requests import VerifyRequest
from app.documents.subject import Subject
from app.documents.verification import VERIFICATION, Checked
from app.services.context import Context
from app.services.given_schedules import given

__all__ = ["create"]


def create(context: Context, request: VerifyRequest) -> Artefact:
    """Return the stored verification/1 document of a schedule.

    That a schedule is not valid is an answer; that it cannot be read as one is an error.
    """
    found = given(context, request)

    def compute() -> Checked:
        subject = Subject.of(found.loaded.id, found.loaded.topology)
        said = [str(violation) for violation in found.violations()]
        return Checked(subject, found.form, said, found.stored_id, found.remarks())

    return context.keep(VERIFICATION, found.asked, compute)
