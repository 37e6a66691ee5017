"""Running jobs in the worker pool of a process."""

from math import inf

from topoloom.app.jobs.model import Cancelled, Perform, Reporting, Task
from topoloom.app.jobs.worker_pool import errors
from topoloom.app.jobs.worker_pool.pool import JOB_SECONDS, WorkerPool
from topoloom.app.jobs.worker_pool.task import Task as Work
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import DatabaseNotReady
from topoloom.app.store.document_store import Store
from topoloom.app.store.owners import owner_of


class _Asked:
    """The cancellation request of a job, with the interface of an event."""

    def __init__(self, reporting: Reporting) -> None:
        self._reporting = reporting

    def is_set(self) -> bool:
        """Whether the work shall end now."""
        return self._reporting.cancelled()


def perform_by(pool: WorkerPool, store: Store) -> Perform:
    """Return a function that runs tasks in worker processes, within the limits of the pool."""

    def perform(task: Task, reporting: Reporting) -> str:
        def hear(stage: str, done: int, total: int) -> None:
            reporting.progress(done / total if total else 0.0, stage)

        try:
            work = Work.of(task.operation, task.body.encode(), owner_of(task.owner))
            # A job that a restart interrupted does not yield, and so ends before the next restart.
            short_seconds = inf if reporting.is_resumed else JOB_SECONDS
            done = pool.run(work, _Asked(reporting), hear, short_seconds=short_seconds)
        except errors.Cancelled:
            raise Cancelled from None
        if store.settled() is not None:
            # A job is done only when its answer is stored; the worker tries again.
            raise DatabaseNotReady("database_url: the answer could not be stored")
        assert isinstance(done.answer, Artefact)
        return done.answer.id

    return perform
