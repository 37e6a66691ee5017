"""The messenger: sends the deliveries that are due.

A message is delivered at least once, with at most `ATTEMPTS` attempts and growing pauses.
"""

import http.client
import logging
import time
from collections.abc import Callable
from threading import Event, Thread

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.jobs.model import Job, JobId
from topoloom.app.jobs.webhooks.post import send
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.errors import NotStored
from topoloom.app.store.tables import WebhookRow

log = logging.getLogger(__name__)

ATTEMPTS = 8
"""So often a message is tried; with these pauses, for 21 minutes."""

FIRST_PAUSE_SECONDS = 10.0
LEASE_SECONDS = 60.0
LOOK_SECONDS = 5.0


class Messenger:
    """Sends what is due, one message at a time, in a thread of its own.

    ``write`` gives the body of a message.
    """

    def __init__(self, rules: WebhookRules, write: Callable[[Job], bytes]) -> None:
        self._rules, self._write = rules, write
        self._woken, self._stopping = Event(), Event()

    def start(self, engine: Engine) -> None:
        """Start to send messages that are due."""
        thread = Thread(target=self._run, args=(engine,), name="jobs-webhooks", daemon=True)
        thread.start()

    def wake(self) -> None:
        """Check for due messages now."""
        self._woken.set()

    def stop(self) -> None:
        """Stop sending; unsent messages stay due."""
        self._stopping.set()
        self._woken.set()

    def _run(self, engine: Engine) -> None:
        while not self._stopping.is_set():
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()
            try:
                while not self._stopping.is_set() and self.deliver(engine):
                    pass
            except SQLAlchemyError as error:
                log.warning("webhooks: the database cannot be used: %s", str(error).splitlines()[0])

    def deliver(self, engine: Engine) -> bool:
        """Try the message that is most overdue; False if none is due."""
        claimed = self._claim(engine)
        if claimed is None:
            return False
        job, url, attempt = claimed
        state = "sent" if self._told(engine, job, url) else "waiting"
        if state == "waiting" and attempt >= ATTEMPTS:
            state = "given up"
            log.error("webhook %s: given up on job %s after %d attempts", url, job, attempt)
        pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
        with engine.begin() as connection:
            connection.execute(
                update(WebhookRow)
                .where(WebhookRow.job_id == job, WebhookRow.url == url)
                .values(state=state, due=time.time() + pause)
            )
        return True

    def _claim(self, engine: Engine) -> tuple[JobId, str, int] | None:
        """Claim a due message for a limited time; after a crash, another process sends it."""
        now = time.time()
        due = (WebhookRow.state == "waiting", WebhookRow.due <= now)
        query = select(WebhookRow.job_id, WebhookRow.url, WebhookRow.attempts).where(*due)
        with engine.begin() as connection:
            row = connection.execute(query.order_by(WebhookRow.due).limit(1)).one_or_none()
            if row is None:
                return None
            mine = (WebhookRow.job_id == row.job_id, WebhookRow.url == row.url)
            taken = connection.execute(
                update(WebhookRow)
                .where(*mine, *due, WebhookRow.attempts == row.attempts)
                .values(attempts=row.attempts + 1, due=now + LEASE_SECONDS)
            )
        return (row.job_id, row.url, row.attempts + 1) if taken.rowcount else None

    def _told(self, engine: Engine, job: JobId, url: str) -> bool:
        """Send a message; return True if the host accepted it or the job is deleted."""
        try:
            status = send(self._rules, url, self._write(queries.read(engine, job)), job)
        except NotStored:
            return True
        except (OSError, http.client.HTTPException, WebhookRefused) as error:
            log.warning("webhook %s: job %s: %s", url, job, error)
            return False
        if status >= 300:
            log.warning("webhook %s: job %s: answered %d", url, job, status)
        return status < 300
