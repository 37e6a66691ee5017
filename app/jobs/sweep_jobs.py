"""A sweep as one job whose questions are jobs of their own."""

from topoloom.app.jobs.model import Task
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.services.context import CacheMiss, Context
from topoloom.app.services.sweeps import Question
from topoloom.app.store.artifacts import key


def task_and_parts(context: Context, request: SweepRequest) -> tuple[Task, list[Task]]:
    """Return the task of a sweep, and those of its questions that are not answered yet.

    A topology that is to lose links is stored by this.
    """
    questions = sweeps.parts(context, request)
    try:
        identity = sweeps.create(context.looking(), request).id
    except CacheMiss as missing:
        identity = missing.identity
    parts = [_task(question) for question in questions]
    kinds = {"design", "frontier", "iteration"}
    missing = [
        part
        for part in parts
        if part.operation not in kinds or context.store.find(part.operation, part.identity) is None
    ]
    return Task.of("sweep", request.canonical(), identity), missing


def _task(question: Question) -> Task:
    body = question.body()
    if question.topology is None:
        return Task.of(question.operation, body, key(question.operation, body))
    return Task.of(question.operation, body)
