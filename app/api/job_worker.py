"""Job API, job worker and webhook messenger of a process."""

from collections.abc import Callable

from sqlalchemy import Engine

from topoloom.app.config import Settings
from topoloom.app.jobs.enqueue import QueueLimits
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Perform, State
from topoloom.app.jobs.webhooks.messenger import Messenger
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.jobs.worker import Ended, Worker, WorkerLimits
from topoloom.app.store.database import is_in_memory
from topoloom.app.store.quotas import Quotas


def jobs_on(
    engine: Engine,
    settings: Settings,
    added: Callable[[], object] = lambda: None,
    ended: Callable[[], object] = lambda: None,
    quotas: Quotas | None = None,
) -> Jobs:
    """Return the job API of an open database, with the limits of the settings."""
    limits = QueueLimits(settings.max_queued_jobs, settings.max_queued_jobs_per_owner)
    private = settings.private_documents
    return Jobs(engine, limits, webhook_rules(settings), added, ended, private, quotas)


def webhook_rules(settings: Settings) -> WebhookRules:
    """Return the rules for targets of webhooks."""
    hosts = (name.strip().lower() for name in settings.webhook_hosts.split(","))
    named = tuple(name for name in hosts if name)
    return WebhookRules(named, settings.webhook_secret, settings.webhook_private)


class Host:
    """Job API of a process, with its worker and its messenger.

    A service whose settings leave jobs to other processes has a messenger only.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        perform: Perform,
        ended: Ended = lambda operation, state, seconds: None,
        quotas: Quotas | None = None,
    ) -> None:
        from topoloom.app.api.problems import problem_document
        from topoloom.app.jobs import document as document

        self._engine = engine
        self._told = ended
        self._messenger = Messenger(webhook_rules(settings), document.body)
        self._worker = Worker(
            engine,
            perform,
            lambda error, path: problem_document(error, path).model_dump(),
            WorkerLimits(
                settings.worker_concurrency,
                settings.max_running_jobs_per_owner,
                settings.keep_jobs_days,
            ),
            self._ended,
        )
        self.jobs = jobs_on(engine, settings, self._worker.wake, self._messenger.wake, quotas)
        self.takes_jobs = not is_in_memory(engine.url)
        self._runs_jobs = settings.run_worker and self.takes_jobs

    def start(self) -> None:
        """Start the messenger, and the worker unless the settings leave jobs to others."""
        if self.takes_jobs:
            self._messenger.start(self._engine)
        if self._runs_jobs:
            self._worker.start()

    def _ended(self, operation: str, state: State, seconds: float) -> None:
        self._messenger.wake()
        self._told(operation, state, seconds)

    def stop(self) -> bool:
        """Hand back the running jobs and stop; False if some work does not end."""
        ended = not self._runs_jobs or self._worker.stop()
        self._messenger.stop()
        return ended
