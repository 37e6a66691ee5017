"""Job API and job worker of a process; a service starts its worker with the first job."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.config import Settings
from topoloom.app.jobs.enqueue import QueueLimits
from topoloom.app.jobs.errors import WorkersExist
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Perform
from topoloom.app.jobs.webhooks.messenger import Messenger
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.jobs.worker import Worker, WorkerLimits
from topoloom.app.store.database import DatabaseNotReady, is_in_memory

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0


def jobs_on(engine: Engine, settings: Settings, added: Callable[[], object] = lambda: None) -> Jobs:
    """Return the job API of an open database, with the limits of the settings."""
    limits = QueueLimits(settings.max_queued_jobs, settings.max_queued_jobs_per_owner)
    return Jobs(engine, limits, webhook_rules(settings), added)


def webhook_rules(settings: Settings) -> WebhookRules:
    """Return the rules for targets of webhooks."""
    hosts = (name.strip().lower() for name in settings.webhook_hosts.split(","))
    named = tuple(name for name in hosts if name)
    return WebhookRules(named, settings.webhook_secret, settings.webhook_private)


def worker_on(engine: Engine, settings: Settings, perform: Perform) -> Worker:
    """Return a worker, not started, that carries out tasks by ``perform``."""
    from topoloom.app.api.problems import described
    from topoloom.app.jobs import document as document

    limits = WorkerLimits(
        settings.worker_concurrency,
        settings.max_running_jobs_per_owner,
        settings.keep_jobs_days,
    )
    return Worker(
        engine,
        perform,
        lambda error, path: described(error, path).model_dump(),
        limits,
        Messenger(webhook_rules(settings), document.body),
    )


class Host:
    """Job worker inside the process of a service.

    The worker starts with the first job, added here or left by another process.  A service that
    only reads stays small, and starts at once.
    """

    def __init__(self, engine: Engine, settings: Settings, perform: Perform) -> None:
        self._make = lambda: worker_on(engine, settings, perform)
        self.jobs = jobs_on(engine, settings, self.wake)
        self._woken, self._stopping = Event(), Event()
        self._thread: Thread | None = None
        self._worker: Worker | None = None
        self.takes_jobs = not is_in_memory(engine.url)
        self._wanted = settings.run_worker and self.takes_jobs

    def start(self) -> None:
        """Start to look for work, unless the settings leave jobs to other processes."""
        if self._wanted:
            self._thread = Thread(target=self._run, name="jobs-host", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Signal that there is work."""
        self._woken.set()

    def stop(self) -> None:
        """Stop the worker; its running jobs return to the queue."""
        self._stopping.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        if self._worker is not None:
            self._worker.stop()
        self.jobs.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self.jobs.unfinished() and self._begun():
                    return
            except (SQLAlchemyError, DatabaseNotReady) as error:
                log.warning("jobs: %s", str(error).splitlines()[0])
            except Exception:
                # The service answers requests without a worker; the next round tries again.
                log.exception("jobs: no worker could be started")
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()

    def _begun(self) -> bool:
        worker = self._make()
        try:
            worker.start()
        except WorkersExist:
            # Two services in one process: the worker of the other service uses its own database.
            return False
        self._worker = worker
        return True
