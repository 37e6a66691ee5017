"""Verifications: the verdict of the independent checker on any schedule and topology."""

from topoloom.app.documents.base import Subject
from topoloom.app.documents.verification import VERIFICATION, Checked
from topoloom.app.requests.evaluations import VerifyRequest
from topoloom.app.services.context import Context
from topoloom.app.services.submitted_schedules import submitted_schedule
from topoloom.app.store.artifacts import Artefact


def create(context: Context, request: VerifyRequest) -> Artefact:
    """Return the stored verification/1 document of a schedule.

    An invalid schedule is an answer; a document that is not a schedule is an error.
    """
    found = submitted_schedule(context, request)

    def compute() -> Checked:
        subject = Subject.of(found.loaded.id, found.loaded.topology)
        said = [str(violation) for violation in found.violations()]
        return Checked(subject, found.form, said, found.stored_id, found.remarks())

    return context.answer(VERIFICATION, found.asked, compute).artefact
