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
>>> engine.dispose(); folder.cleanup()
"""

from collections.abc import Callable, Sequence
from copy import copy

from sqlalchemy import Engine

from topoloom.app.jobs import queries, transitions
from topoloom.app.jobs.enqueue import QueueLimits, Wish, add
from topoloom.app.jobs.errors import JobEnded, NotEnded
from topoloom.app.jobs.model import DEFAULT_PRIORITY, Job, JobId, State, Task
from topoloom.app.jobs.webhooks import deliveries
from topoloom.app.jobs.webhooks.deliveries import Delivery
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.observability.logs import note
from topoloom.app.store.database import DatabaseNotReady, is_in_memory
from topoloom.app.store.errors import NotOwner, NotStored
from topoloom.app.store.owners import EVERYONE, OPERATORS, owner_of
from topoloom.app.store.quotas import Quotas

LIMITS = QueueLimits(10_000, 2_500)


class Jobs:
    """The jobs of a database.

    Every new job calls ``added``, which may wake a worker of this process.  Every cancellation and
    every resend calls ``ended``, which may wake the messenger.  Owners see their own jobs and those
    of callers without a key; not ``private``, they see all.
    """

    def __init__(
        self,
        engine: Engine,
        limits: QueueLimits = LIMITS,
        webhooks: WebhookRules | None = None,
        added: Callable[[], object] = lambda: None,
        ended: Callable[[], object] = lambda: None,
        private: bool = True,
        quotas: Quotas | None = None,
    ) -> None:
        self._engine, self._limits, self._added = engine, limits, added
        self._ended = ended
        self._webhooks = webhooks or WebhookRules()
        self._private, self._owner = private, EVERYONE
        self._quotas = quotas or Quotas(engine, 0)

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

        Args:
            task: The operation and its request.
            priority: 1 to 1000; among the jobs of one owner, smaller numbers go first.
            webhook: URL that is sent the job's document when it has ended.
            owner: Owner that the limits count the job for, at most 128 characters; owners take
                turns.
            parts: Tasks that must have ended before; they become jobs of their own.

        Raises:
            QueueFull, TooManyJobs, QuotaExceeded: A limit on how many wait is passed, or the owner
                may store nothing more.
            WebhookRefused: Nothing is sent to this URL.
            DatabaseNotReady: The database lives in memory.
        """
        if webhook is not None:
            self._webhooks.target(webhook)
        if is_in_memory(self._engine.url):
            raise DatabaseNotReady("database_url: jobs need a database that outlives the process")
        self._quotas.require_room(owner_of(owner))
        owned = [part.of_owner(owner) for part in parts]
        wish = Wish(task.of_owner(owner), owner, priority, webhook, owned)
        job = add(self._engine, wish, self._limits)
        self._quotas.forget(owner_of(owner))
        self._added()
        # The log line and the span of the request name the job.
        note(job=job)
        return job

    def on_behalf_of(self, caller: str) -> "Jobs":
        """Return the jobs as a caller sees them, an owner or an address."""
        view = copy(self)
        view._owner = owner_of(caller)
        return view

    def state(self, job: JobId) -> Job:
        """Return a job as it stands, or raise `NotStored`."""
        found = queries.read(self._engine, job)
        if self._seen_by is not None and owner_of(found.owner) not in (self._seen_by, EVERYONE):
            raise NotStored("job", job)
        return found

    @property
    def _seen_by(self) -> str | None:
        return None if self._owner in OPERATORS or not self._private else self._owner

    def _require_owned(self, job: JobId) -> None:
        """Raise `NotStored` or `NotOwner` unless the owner may change a job."""
        found = self.state(job)
        if self._owner not in OPERATORS and found.owner != self._owner:
            raise NotOwner("job", job)

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
            self._engine,
            limit,
            after,
            state=state,
            operation=operation,
            parent=parent,
            seen_by=self._seen_by,
        )

    def total(
        self,
        *,
        state: State | None = None,
        operation: str | None = None,
        parent: JobId | None = None,
    ) -> int:
        """Return the number of jobs over all pages of a list."""
        return queries.total(
            self._engine,
            state=state,
            operation=operation,
            parent=parent,
            seen_by=self._seen_by,
        )

    def cancel(self, job: JobId) -> Job:
        """Cancel a job with its parts: at once, or as soon as its worker has heard of it.

        Raises:
            NotStored: There is no such job.
            NotOwner: The job has another owner.
            JobEnded: It has ended.
        """
        self._require_owned(job)
        if not transitions.cancel(self._engine, job):
            raise JobEnded(self.state(job).state)
        self._ended()
        return self.state(job)

    def complete(self, job: JobId, made: str) -> None:
        """End a job that no worker has taken, as its answer ``made`` is stored."""
        if transitions.complete(self._engine, job, made):
            self._ended()

    def forget(self, job: JobId) -> None:
        """Delete a job that has ended; its answer stays where it is.

        Raises:
            NotStored: There is no such job.
            NotOwner: The job has another owner.
            NotEnded: It may still be carried out.
        """
        self._require_owned(job)
        if not transitions.forget(self._engine, [job]):
            raise NotEnded(self.state(job).state)

    def deliveries(self, job: JobId) -> Sequence[Delivery]:
        """Return the webhook deliveries of a job; raise `NotStored` or `NotOwner`."""
        self._require_owned(job)
        return deliveries.of_job(self._engine, job)

    def resend(self, job: JobId, delivery: str) -> Delivery:
        """Send a webhook of an ended job again, under the same id.

        Raises:
            NotStored: There is no such job, or no such delivery.
            NotOwner: The job has another owner.
            NotEnded: The job has not ended.
        """
        self._require_owned(job)
        found = deliveries.resend(self._engine, job, delivery)
        self._ended()
        return found
