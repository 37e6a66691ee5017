"""A worker: takes jobs from the queue, runs them, and records their ends.

The pulse thread sends heartbeats, reads cancellations, records progress, and takes over the jobs
of dead workers.  A process has at most one worker.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.jobs import heartbeats, transitions
from topoloom.app.jobs.completion_hooks import follow
from topoloom.app.jobs.dbos_queue import Carrier
from topoloom.app.jobs.model import Cancelled, Failed, JobId, Perform, State, Task
from topoloom.app.jobs.reconciler import Reconciler
from topoloom.app.jobs.webhooks.messenger import Messenger
from topoloom.app.store.database import DatabaseNotReady

log = logging.getLogger(__name__)

PULSE_SECONDS = 0.5
RECONCILE_SECONDS = 5.0
TIDY_SECONDS = 60.0
STOP_SECONDS = 2.0
"""So long running work has to end before a worker that stops gives up on it."""

NOT_NOW = 503
"""Status of what is no verdict on the work: the database was down, and it is tried again."""

Explain = Callable[[Exception, str], Mapping[str, Any]]
"""Given an error and the path it is about, returns its problem+json document."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits on running jobs, of this worker and of one owner, and retention of ended jobs."""

    concurrency: int
    running_of_owner: int
    keep_days: float


class Run:
    """A running job of this worker, as its task sees it."""

    def __init__(self, job: JobId, turn: int) -> None:
        self.job, self.turn = job, turn
        self.why = ""
        self._end = Event()
        self._said: tuple[float, str] | None = None

    def progress(self, done: float, phase: str) -> None:
        """Note how far the work is; the pulse writes it down."""
        self._said = (min(1.0, max(0.0, float(done))), phase)

    def cancelled(self) -> bool:
        """Whether the work shall end."""
        return self._end.is_set()

    def stop(self, why: str) -> None:
        """Tell the work to end; the first reason counts."""
        if not self._end.is_set():
            self.why = why
            self._end.set()

    def said(self) -> tuple[JobId, int, float, str] | None:
        """Return the progress since the last call; None if there is none."""
        said, self._said = self._said, None
        return None if said is None else (self.job, self.turn, *said)


class Worker:
    """Carries out jobs from `start` until `stop`."""

    def __init__(
        self,
        engine: Engine,
        perform: Perform,
        explain: Explain,
        limits: WorkerLimits,
        messenger: Messenger,
    ) -> None:
        self._engine, self._perform, self._explain = engine, perform, explain
        self._limits, self._messenger = limits, messenger
        self._runs: dict[JobId, Run] = {}
        self._lock = Lock()
        self._stopping = Event()
        self._pulse: Thread | None = None

    def start(self) -> None:
        """Begin to take jobs.

        Raises
        ------
        DatabaseNotReady
            The database or the queue cannot be used.
        WorkersExist
            There is a worker in this process.
        """
        self._carrier = Carrier(self._engine.url)
        try:
            self.id = heartbeats.join(self._engine)
            self._reconciler = Reconciler(self._engine, self._carrier, self._limits.keep_days)
            self._reconciler.take_over()
            limits = self._limits
            self._carrier.launch(self.id, self._carry, limits.concurrency, limits.running_of_owner)
        except BaseException:
            self._carrier.close()
            raise
        self._messenger.start(self._engine)
        self._pulse = Thread(target=self._beat, name="jobs-pulse", daemon=True)
        self._pulse.start()

    def stop(self) -> bool:
        """Take no more jobs and hand back those in hand; False if some work does not end."""
        self._stopping.set()
        for run in self._running():
            run.stop("stopping")
        end = time.monotonic() + STOP_SECONDS
        while self._running() and time.monotonic() < end:
            time.sleep(0.02)
        left = self._running()
        for run in left:
            # The work ignores the stop; its later result is discarded.
            self._try("handing back", partial(self._hand_back, run))
        if self._pulse is not None:
            self._pulse.join(1.0)
        self._messenger.stop()
        self._try("leaving", lambda: heartbeats.leave(self._engine, self.id))
        if not left:
            self._carrier.close()
        return not left

    def _running(self) -> list[Run]:
        with self._lock:
            return list(self._runs.values())

    def _carry(self, job: JobId, turn: int) -> None:
        """Carry out a turn of a job; called by the queue, in a thread of its own."""
        if self._stopping.is_set():
            return
        task = transitions.begin(self._engine, job, turn, self.id)
        if task is None:
            return
        run = Run(job, turn)
        with self._lock:
            self._runs[job] = run
        if self._stopping.is_set():
            run.stop("stopping")
        try:
            self._settle(run, self._work(task, run))
        finally:
            with self._lock:
                del self._runs[job]

    def _work(self, task: Task, run: Run) -> Callable[[], None]:
        """Run a task; return the function that records its end."""
        try:
            made = self._perform(task, run) or task.identity
        except Cancelled:
            return self._broken_off(run)
        except Failed as failed:
            problem = failed.problem
        except Exception as error:
            problem = self._explain(error, f"/v1/jobs/{run.job}")
            if problem["status"] >= 500:
                log.exception("the job %s failed", run.job)
        else:
            return lambda: self._finish(run, State.DONE, made=made)
        if problem["status"] == NOT_NOW:
            return lambda: self._hand_back(run)
        return lambda: self._finish(run, State.FAILED, problem=problem)

    def _broken_off(self, run: Run) -> Callable[[], None]:
        if run.why == "cancelled":
            return lambda: self._finish(run, State.CANCELLED)
        if run.why == "stopping":
            return lambda: self._hand_back(run)
        # Another worker holds the job and records its end.
        return lambda: None

    def _hand_back(self, run: Run) -> None:
        for one in transitions.held(self._engine, self.id):
            if (one.id, one.turn) == (run.job, run.turn):
                self._reconciler.hand_back(one, self.id)

    def _finish(
        self,
        run: Run,
        state: State,
        *,
        made: str | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        ending = transitions.finish(
            self._engine,
            run.job,
            run.turn,
            self.id,
            state,
            made=made,
            problem=problem,
            answered=state is State.DONE or (problem is not None and is_answer(problem)),
        )
        follow(self._engine, self._carrier, [ending])
        if ending.won:
            self._messenger.wake()

    def _settle(self, run: Run, write: Callable[[], None]) -> None:
        """Record an end; retry while the database does not answer."""
        while not self._try(f"the end of the job {run.job}", write):
            if self._stopping.wait(1.0):
                return

    def _try(self, what: str, act: Callable[[], object]) -> bool:
        try:
            act()
        except (SQLAlchemyError, DatabaseNotReady) as error:
            log.warning("%s: the database cannot be used: %s", what, str(error).splitlines()[0])
            return False
        return True

    def _beat(self) -> None:
        """Run the periodic work of the pulse thread until the worker stops."""
        due = {
            self._listen: (PULSE_SECONDS, 0.0),
            self._live: (heartbeats.BEAT_SECONDS, 0.0),
            self._reconcile: (RECONCILE_SECONDS, 0.0),
            self._tidy: (TIDY_SECONDS, time.monotonic() + TIDY_SECONDS),
        }
        while not self._stopping.wait(PULSE_SECONDS / 5):
            for act, (period, when) in list(due.items()):
                if time.monotonic() >= when:
                    self._try("pulse", act)
                    due[act] = (period, time.monotonic() + period)

    def _listen(self) -> None:
        """Record progress; stop jobs that are cancelled or assigned to another worker."""
        runs = self._running()
        said = [one for run in runs if (one := run.said()) is not None]
        if said:
            transitions.report(self._engine, self.id, said)
        if not runs:
            return
        ours = {(one.id, one.turn): one for one in transitions.held(self._engine, self.id)}
        for run in runs:
            one = ours.get((run.job, run.turn))
            if one is None:
                run.stop("lost")
            elif one.cancel_asked:
                run.stop("cancelled")

    def _live(self) -> None:
        heartbeats.beat(self._engine, self.id)

    def _reconcile(self) -> None:
        self._reconciler.take_over()
        self._reconciler.refill()

    def _tidy(self) -> None:
        self._reconciler.tidy()


def is_answer(problem: Mapping[str, Any]) -> bool:
    """Whether a retry of the same request would give the same problem.

    >>> is_answer({"status": 422, "type": "/problems/impossible-request"})
    True
    >>> is_answer({"status": 422, "type": "/problems/took-too-long"})
    False
    """
    return problem["status"] == 422 and problem["type"] != "/problems/took-too-long"
