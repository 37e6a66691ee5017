"""Public job API: add a job, read its state, wait for its end, cancel the job.

>>> import tempfile
>>> from topoloom.app.store.database import open_database
>>> from topoloom.app.jobs.model import Task
>>> folder = tempfile.TemporaryDirectory()
>>> engine = open_database(f"sqlite:///{folder.name}/topoloom.db")
>>> jobs = Jobs(engine)
>>> job = jobs.enqueue(Task.of("design", {"nodes": 12, "degree": 4}))
>>> jobs.enqueue(Task.of("design", {"degree": 4, "nodes": 12})) == job
True
>>> jobs.state(job).state.value, jobs.cancel(job).state.value
('queued', 'cancelled')
>>> jobs.close(); engine.dispose(); folder.cleanup()
"""

import logging
import time
from collections.abc import Callable, Sequence
from threading import Lock

from sqlalchemy import Engine

from topoloom.app.jobs import queries, transitions
from topoloom.app.jobs.completion_hooks import follow
from topoloom.app.jobs.dbos_queue import Carrier
from topoloom.app.jobs.enqueue import Added, QueueLimits, Wish, add
from topoloom.app.jobs.errors import JobEnded, NotEnded
from topoloom.app.jobs.model import DEFAULT_PRIORITY, Job, JobId, State, Task
from topoloom.app.jobs.transitions import Due
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import DatabaseNotReady

log = logging.getLogger(__name__)

LIMITS = QueueLimits(10_000, 2_500)
WAIT_STEP_SECONDS = 0.1


class Jobs:
    """The jobs of a database.

    Reading jobs needs the job tables only; the first new job opens the queue.  Every new job calls
    ``added``, which may start a worker of this process.
    """

    def __init__(
        self,
        engine: Engine,
        limits: QueueLimits = LIMITS,
        webhooks: WebhookRules | None = None,
        added: Callable[[], object] = lambda: None,
    ) -> None:
        self._engine, self._limits, self._added = engine, limits, added
        self._webhooks = webhooks or WebhookRules()
        self._carrier: Carrier | None = None
        self._lock = Lock()

    def enqueue(
        self,
        task: Task,
        *,
        priority: int = DEFAULT_PRIORITY,
        webhook: str | None = None,
        owner: str = "",
        parts: Sequence[Task] = (),
    ) -> JobId:
        """Return the job that carries out a task; an unfinished one of its identity, if any.

        Parameters
        ----------
        task : Task
            The operation and its request.
        priority : int
            1 to 1000; among the jobs of one owner, smaller numbers go first.
        webhook : str or None
            URL that is sent the job's document when it has ended.
        owner : str
            Owner that the limits count the job for, at most 128 characters; owners take turns.
        parts : sequence of Task
            Tasks that must have ended before; they become jobs of their own.

        Raises
        ------
        QueueFull, TooManyJobs
            A limit on how many wait is passed.
        WebhookRefused
            Nothing is sent to this URL.
        DatabaseNotReady
            The queue cannot be opened.
        """
        if webhook is not None:
            self._webhooks.target(webhook)
        carrier = self.carrier()
        wish = Wish(task, owner, priority, webhook, parts)
        added = add(self._engine, wish, self._limits)
        try:
            carrier.put(self._due(added, wish))
        except DatabaseNotReady:
            # The job is in the tables already; the reconciler adds it to the queue.
            log.warning("the job %s is not in the queue yet", added.job)
        self._added()
        return added.job

    def _due(self, added: Added, wish: Wish) -> list[Due]:
        behind = min(wish.priority + 100, 1000) if wish.parts else wish.priority
        return [Due(job, 0, wish.owner, behind) for job in added.ready]

    def state(self, job: JobId) -> Job:
        """Return a job as it stands, or raise `NotStored`."""
        return queries.read(self._engine, job)

    def list(
        self,
        limit: int,
        after: JobId | None = None,
        *,
        state: State | None = None,
        operation: str | None = None,
        parent: JobId | None = None,
    ) -> tuple[list[Job], JobId | None]:
        """Return a page of jobs, newest first, and the id after which the next page begins.

        Parts of other jobs are listed only when ``parent`` names their job.
        """
        return queries.page(
            self._engine, limit, after, state=state, operation=operation, parent=parent
        )

    def cancel(self, job: JobId) -> Job:
        """Cancel a job with its parts: at once, or as soon as its worker has heard of it.

        Raises
        ------
        NotStored
            There is no such job.
        JobEnded
            It has ended.
        """
        self.state(job)
        carrier = self.carrier()
        ending = transitions.ask_to_cancel(self._engine, job)
        if ending is None:
            raise JobEnded(self.state(job).state)
        parts = transitions.cancel_parts(self._engine, job) if ending.won else []
        follow(self._engine, carrier, [ending, *parts])
        return self.state(job)

    def forget(self, job: JobId) -> None:
        """Delete a job that has ended; its answer stays where it is.

        Raises
        ------
        NotStored
            There is no such job.
        NotEnded
            It may still be carried out.
        """
        if not transitions.forget(self._engine, [job]):
            raise NotEnded(self.state(job).state)

    def wait(
        self, job: JobId, seconds: float, heard: Callable[[Job], object] = lambda _: None
    ) -> Job:
        """Return a job when it has ended, or as it stands after so long.

        ``heard`` is called with every change on the way.
        """
        end, revision = time.monotonic() + seconds, 0
        while True:
            found = self.state(job)
            if found.revision != revision:
                revision = found.revision
                heard(found)
            if found.state.ended or time.monotonic() >= end:
                return found
            time.sleep(min(WAIT_STEP_SECONDS, max(0.0, end - time.monotonic())))

    def unfinished(self) -> bool:
        """Whether there is anything for a worker to do."""
        return any(
            queries.page(self._engine, 1, state=state)[0] for state in (State.QUEUED, State.RUNNING)
        )

    def carrier(self) -> Carrier:
        """Return the queue, opened."""
        with self._lock:
            if self._carrier is None:
                self._carrier = Carrier(self._engine.url)
            return self._carrier

    def close(self) -> None:
        """Close the queue."""
        with self._lock:
            if self._carrier is not None:
                self._carrier.close()
                self._carrier = None
