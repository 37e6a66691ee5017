"""The messenger of a process: a thread looks for due deliveries, and a thread each sends them.

Any number of processes share the deliveries; the claim on the row decides who sends.  A receiver
gets each message at least once: a process that dies during an attempt leaves the delivery to
another one, under the same id.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable
from threading import Event, Lock, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.jobs.model import Job
from topoloom.app.jobs.webhooks import deliveries
from topoloom.app.jobs.webhooks.agenda import LEASE_SECONDS, Agenda
from topoloom.app.jobs.webhooks.deliveries import Attempt, Claimed, DeliveryState, Unsent
from topoloom.app.jobs.webhooks.post import NoAnswer, send
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import first_line
from topoloom.app.store.errors import NotStored
from topoloom.app.webhook_signatures import signed_headers

log = logging.getLogger(__name__)

MAX_SENDING = 32
"""Limit of attempts of a process at a time."""

MAX_SENDING_TO_HOST = 4
"""Limit of attempts to one host and port, so that a slow receiver delays itself alone."""

LOOK_SECONDS = 5.0
WOKEN_LOOK_SECONDS = 0.2
TICK_SECONDS = 0.2
STOP_SECONDS = 1.0


class Messenger:
    """Sends due deliveries from `start` until `stop`, if the rules allow any host.

    ``write`` gives the body of a message.
    """

    def __init__(self, rules: WebhookRules, write: Callable[[Job], bytes]) -> None:
        self._rules, self._write = rules, write
        self._agenda = Agenda()
        self._sending: dict[str, Unsent] = {}
        # One connection at a time: the requests of a service need the others.
        self._database = Lock()
        self._woken, self._changed, self._stopping = Event(), Event(), Event()
        self._thread: Thread | None = None

    def start(self, engine: Engine) -> None:
        """Start to send; a second start changes nothing."""
        if self._thread is None and self._rules.hosts:
            self._thread = Thread(
                target=self._run, args=(engine,), name="jobs-webhooks", daemon=True
            )
            self._thread.start()

    def wake(self) -> None:
        """Look for due deliveries now."""
        self._woken.set()
        self._changed.set()

    def stop(self) -> None:
        """Stop sending; wait a second for attempts under way."""
        self._stopping.set()
        self._changed.set()
        end = time.monotonic() + STOP_SECONDS
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
        while self._sending and time.monotonic() < end:
            time.sleep(0.02)

    def _run(self, engine: Engine) -> None:
        looked = -math.inf
        while not self._stopping.is_set():
            pause = WOKEN_LOOK_SECONDS if self._woken.is_set() else LOOK_SECONDS
            if time.monotonic() >= looked + pause:
                self._woken.clear()
                self._look(engine)
                looked = time.monotonic()
            self._start_due(engine)
            self._changed.wait(TICK_SECONDS)
            self._changed.clear()

    def _look(self, engine: Engine) -> None:
        try:
            with self._database:
                found = deliveries.unsent_deliveries(engine)
        except SQLAlchemyError as error:
            log.warning("webhooks: the database cannot be used: %s", first_line(error))
            return
        others = (one for one in found if one.id not in self._sending)
        self._agenda.read(others, time.monotonic(), time.time())

    def _start_due(self, engine: Engine) -> None:
        """Start the attempts that are due, within the limits."""
        hosts = Counter(one.host for one in list(self._sending.values()))
        taken = []
        for one in self._agenda.due(time.monotonic()):
            if hosts.total() >= MAX_SENDING:
                break
            if hosts[one.host] < MAX_SENDING_TO_HOST:
                hosts[one.host] += 1
                taken.append(one)
        self._agenda.remove(taken)
        for one in taken:
            self._sending[one.id] = one
            Thread(
                target=self._attempt, args=(engine, one), name="jobs-webhook", daemon=True
            ).start()

    def _attempt(self, engine: Engine, found: Unsent) -> None:
        """Claim a delivery, send it, and record the attempt."""
        try:
            with self._database:
                claimed = deliveries.claim(engine, found)
                job = queries.read(engine, found.job)
            if claimed is not None:
                self._record(engine, claimed, self._sent(claimed, job))
        except NotStored:
            log.info("delivery %s: the job %s is deleted", found.id, found.job)
        except SQLAlchemyError as error:
            log.warning("delivery %s: the database cannot be used: %s", found.id, first_line(error))
        finally:
            del self._sending[found.id]
            self._changed.set()

    def _sent(self, claimed: Claimed, job: Job) -> Attempt:
        """Send a message; return the attempt, with an error unless the receiver accepted it."""
        at = time.time()
        if claimed.attempts > deliveries.ATTEMPTS:
            return Attempt(at, error="no attempt is left")
        try:
            body = self._write(job)
            headers = signed_headers(self._rules.secret, claimed.id, int(at), body)
            status = send(self._rules, claimed.url, body, {"Topoloom-Job": job.id, **headers})
        except NoAnswer as error:
            return Attempt(at, error=str(error))
        except WebhookRefused as error:
            return Attempt(at, error=error.rule)
        except OSError as error:
            return Attempt(at, error=error.strerror or type(error).__name__)
        except Exception:
            log.exception("delivery %s of the job %s failed", claimed.id, claimed.job)
            return Attempt(at, error="an error inside Topoloom")
        return Attempt(at, status, None if status < 300 else f"the receiver answered {status}")

    def _record(self, engine: Engine, claimed: Claimed, attempt: Attempt) -> None:
        """Record an attempt; retry while the database does not answer and the claim holds."""
        end = time.monotonic() + LEASE_SECONDS / 2
        while True:
            try:
                with self._database:
                    state = deliveries.record(engine, claimed, attempt)
                break
            except SQLAlchemyError:
                if time.monotonic() >= end or self._stopping.wait(1.0):
                    raise
        if state is not DeliveryState.DELIVERED:
            # The next pause begins when the agenda sees the new turn.
            self._woken.set()
            level = logging.ERROR if state is DeliveryState.FAILED else logging.WARNING
            shown = (claimed.id, claimed.job, claimed.host, claimed.attempts)
            text = "delivery %s of the job %s to %s: attempt %d: %s; it is %s"
            log.log(level, text, *shown, attempt.error, state.value)
