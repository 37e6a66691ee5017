"""The job queue: DBOS Transact distributes the turns of jobs to workers.

A turn of a job is one workflow, ``JOB.TURN``, with one step.  The job tables
(`app.jobs.transitions`) hold the state of every job.  The reconciler rebuilds a lost workflow
from these tables; a duplicate workflow changes nothing.  The queue may therefore lose entries,
for instance after a loss of power.

The tables of DBOS are separate: in a file beside an embedded database, in the schema `SCHEMA`
of a PostgreSQL database.  Only opening a queue imports DBOS; reading jobs does not.
"""

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from topoloom.app.jobs.errors import WorkersExist
from topoloom.app.jobs.model import JobId
from topoloom.app.jobs.transitions import Due
from topoloom.app.store.database import DatabaseNotReady, is_embedded, is_in_memory, open_engine

log = logging.getLogger(__name__)

SCHEMA = "topoloom_jobs"
QUEUE = "jobs"
WORKFLOW = "turn"
APPLICATION = "topoloom"
VERSION = "1"
"""Of the workflow: raise it when its arguments change."""

POLL_SECONDS = 0.2
AT_ONCE = 500


class Taken(NamedTuple):
    """A turn that a worker has taken from the queue, and perhaps ended."""

    id: JobId
    turn: int
    worker: str


Carry = Callable[[JobId, int], None]
"""Carries out a turn of a job; it must not raise."""

_launch = Lock()


def beside(url: URL) -> URL:
    """Return where the queue of a database is: the same server, or a file beside the file.

    >>> from sqlalchemy.engine import make_url
    >>> beside(make_url("sqlite:////data/topoloom.db")).database
    '/data/topoloom.db-jobs'
    """
    return url.set(database=f"{url.database}-jobs") if is_embedded(url) else url


def migrate(url: URL) -> None:
    """Make the queue's tables, or bring them to what this version needs.

    Raises
    ------
    DatabaseNotReady
        The database cannot be reached, or does not allow it.
    """
    from dbos import DBOS

    where = beside(url)
    with _quiet(), _reached():
        if is_embedded(where):
            # The first connection fixes the journal mode: set WAL before DBOS connects.
            engine = _open(where)
            engine.connect().close()
            engine.dispose()
        DBOS.migrate(where.render_as_string(hide_password=False), schema=SCHEMA)


class Carrier:
    """The queue of a database, opened."""

    def __init__(self, url: URL) -> None:
        if is_in_memory(url):
            raise DatabaseNotReady("database_url: jobs need a database that outlives the process")
        from dbos import DBOSClient, DBOSPortableJSONSerializer

        if is_embedded(url):
            migrate(url)
        self._url = beside(url)
        self._engine = _open(self._url)
        self._serializer = DBOSPortableJSONSerializer()
        self._launched = False
        try:
            with _quiet(), _reached():
                self._client = DBOSClient(
                    system_database_engine=self._engine,
                    dbos_system_schema=SCHEMA,
                    serializer=self._serializer,
                    application_name=APPLICATION,
                    retry_connection_errors=False,
                )
                # Now, and not after the first job was written down.
                self._client.list_workflows(limit=1, load_input=False, load_output=False)
        except BaseException:
            self._engine.dispose()
            raise

    def put(self, due: Iterable[Due]) -> None:
        """Enqueue turns of jobs; a turn that is already queued stays unchanged."""
        with _reached(), self._engine.begin() as connection:
            for one in due:
                self._client.enqueue_in_transaction(
                    connection,
                    {
                        "workflow_name": WORKFLOW,
                        "queue_name": QUEUE,
                        "workflow_id": _workflow(one.id, one.turn),
                        "app_version": VERSION,
                        # Owners take turns, and each has its own limit of running jobs.
                        "queue_partition_key": one.owner or "-",
                        "priority": one.priority,
                    },
                    one.id,
                    one.turn,
                )

    def lacks(self, due: Iterable[Due], workers: Collection[str]) -> list[Due]:
        """Return the turns that neither wait in the queue nor run on one of the workers.

        The queue lost or never received them, or a worker died while it took them.
        """
        with _reached():
            live = self._client.list_workflows(
                status=["ENQUEUED", "PENDING"], load_input=False, load_output=False
            )
        held = {
            one.workflow_id
            for one in live
            if one.status == "ENQUEUED" or one.executor_id in workers
        }
        return [one for one in due if _workflow(one.id, one.turn) not in held]

    def taken(self) -> list[Taken]:
        """Return the turns that workers have taken, alive or not."""
        with _reached():
            pending = self._client.list_workflows(
                status="PENDING", load_input=False, load_output=False
            )
        parts = ((one.workflow_id.partition("."), one.executor_id or "") for one in pending)
        return [Taken(job, int(turn), worker) for (job, _, turn), worker in parts]

    def renew(self, due: Iterable[Due]) -> None:
        """Enqueue again the turns whose workflows ended or were lost before a worker took them."""
        lacking = list(due)
        if not lacking:
            return
        ids = [_workflow(one.id, one.turn) for one in lacking]
        with _reached():
            self._client.cancel_workflows(ids)
            self._client.delete_workflows(ids)
        self.put(lacking)

    def take_out(self, turns: Iterable[tuple[JobId, int]]) -> None:
        """Remove from the queue the turns that no worker may run any more."""
        ids = [_workflow(job, turn) for job, turn in turns]
        if ids:
            with _reached():
                self._client.cancel_workflows(ids)

    def sweep(self) -> None:
        """Delete ended workflows; the job tables hold all their results."""
        with _reached():
            ended = self._client.list_workflows(
                status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
                load_input=False,
                load_output=False,
                limit=AT_ONCE,
            )
            if ended:
                self._client.delete_workflows([one.workflow_id for one in ended])

    def launch(self, worker: str, carry: Carry, concurrency: int, most_of_owner: int) -> None:
        """Start to run turns from the queue as ``worker``, at most ``concurrency`` at a time.

        The queue stores ``concurrency``: the value of the latest worker applies to all workers.

        Raises
        ------
        WorkersExist
            This process takes turns already.
        """
        from dbos import DBOS

        if not _launch.acquire(blocking=False):
            raise WorkersExist("this process carries out jobs already")
        try:
            with _quiet(), _reached():
                # Register before the launch: DBOS then polls the queue at once.
                self._client.register_queue(
                    QUEUE,
                    worker_concurrency=concurrency,
                    partition_concurrency=most_of_owner,
                    polling_interval_sec=POLL_SECONDS,
                )
                DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_named(carry))
                # Its handler of before may write to a closed stream; it makes a new one.
                logging.getLogger("dbos").handlers.clear()
                DBOS(config=self._config(worker))
                DBOS.listen_queues([QUEUE])
                DBOS.launch()
        except BaseException:
            self._end_dbos()
            raise
        self._launched = True

    def _config(self, worker: str) -> Any:
        return {
            "name": APPLICATION,
            "system_database_url": self._url.render_as_string(hide_password=False),
            "system_database_engine": self._engine,
            "dbos_system_schema": SCHEMA,
            "executor_id": worker,
            "application_version": VERSION,
            "serializer": self._serializer,
            "log_level": "WARNING",
            "run_migrations": False,
            "use_listen_notify": False,
            "enable_otlp": False,
        }

    def close(self) -> None:
        """Close the queue."""
        if self._launched:
            self._launched = False
            self._end_dbos()
        with contextlib.suppress(Exception):
            self._client.destroy()
        self._engine.dispose()

    def _end_dbos(self) -> None:
        from dbos import DBOS

        with _quiet():
            DBOS.destroy(destroy_registry=True)
        _launch.release()


def _named(carry: Carry) -> Callable[[str, int], None]:
    def turn(job: str, number: int) -> None:
        carry(job, number)

    return turn


def _workflow(job: JobId, turn: int) -> str:
    return f"{job}.{turn}"


def _open(url: URL) -> Engine:
    if not is_embedded(url):
        return open_engine(url.render_as_string(hide_password=False))
    engine = create_engine(url)
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    # Written ahead: putting a turn in the queue takes 1 ms instead of 20.  A loss of power may
    # lose the last of them, which the jobs' own tables then replace.
    connection.isolation_level = None
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.isolation_level = "IMMEDIATE"


@contextlib.contextmanager
def _reached() -> Any:
    from dbos import error as dbos_errors

    try:
        yield
    except (DBAPIError, dbos_errors.DBOSInitializationError) as error:
        log.warning("the queue of jobs cannot be used: %s", str(error).splitlines()[0])
        raise DatabaseNotReady(
            "database_url: the queue of jobs cannot be used; run `topoloom db migrate`"
        ) from error


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep the informational messages of DBOS out of the log; pass its warnings."""
    logger = logging.getLogger("dbos")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
