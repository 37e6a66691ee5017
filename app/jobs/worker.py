"""A worker: takes jobs from the queue, runs each in a thread, and records their ends.

The loop thread takes jobs, sends heartbeats, reads cancellations, records progress, and takes over
the jobs of dead workers.
"""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.jobs import heartbeats, transitions
from topoloom.app.jobs.model import Cancelled, Failed, Perform, State, Task
from topoloom.app.jobs.transitions import Held
from topoloom.app.observability.logs import about
from topoloom.app.observability.telemetry import span
from topoloom.app.store.database import DatabaseNotReady

log = logging.getLogger(__name__)

TAKE_SECONDS = 0.2
"""Seconds between two looks for jobs that other processes have queued."""

PULSE_SECONDS = 0.5
TAKE_OVER_SECONDS = 5.0
TIDY_SECONDS = 60.0
STOP_SECONDS = 2.0
"""Seconds that a stopping worker waits for its running work to end."""

RESERVE = 2
"""Most running jobs of a worker, in multiples of its concurrency.  Beyond its concurrency, a worker
takes jobs only of owners without a running job: long jobs of an owner delay no other owner."""

NOT_NOW = 503
"""Status of what is no verdict on the work: the database was down, and it is tried again."""

NOT_NOW_SECONDS = 1.0

Ended = Callable[[str, State, float], object]
"""Receives the operation, the last state and the run time in seconds of a job that ended."""

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

    def __init__(self, held: Held, operation: str) -> None:
        self.held, self.operation = held, operation
        self.began = time.monotonic()
        self.why = ""
        self._end = Event()
        self._said: tuple[float, str] | None = None

    @property
    def is_resumed(self) -> bool:
        """Whether a stop interrupted an earlier run of the job."""
        return self.held.turn > 0

    def progress(self, done: float, phase: str) -> None:
        """Note how far the work is; the loop writes it down."""
        self._said = (min(1.0, max(0.0, float(done))), phase)

    def cancelled(self) -> bool:
        """Whether the work shall end."""
        return self._end.is_set()

    def stop(self, why: str) -> None:
        """Tell the work to end; the first reason counts."""
        if not self._end.is_set():
            self.why = why
            self._end.set()

    def said(self) -> tuple[Held, float, str] | None:
        """Return the progress since the last call; None if there is none."""
        said, self._said = self._said, None
        return None if said is None else (self.held, *said)


class Worker:
    """Carries out jobs from `start` until `stop`; calls ``ended`` after the end of each."""

    def __init__(
        self,
        engine: Engine,
        perform: Perform,
        explain: Explain,
        limits: WorkerLimits,
        ended: Ended = lambda operation, state, seconds: None,
    ) -> None:
        self.id = secrets.token_hex(16)
        self._engine, self._perform, self._explain = engine, perform, explain
        self._limits, self._ended = limits, ended
        self._runs: dict[Held, Run] = {}
        self._lock = Lock()
        self._woken, self._stopping = Event(), Event()
        self._loop = Thread(target=self._work_off, name="jobs-worker", daemon=True)

    def start(self) -> None:
        """Begin to take jobs."""
        self._loop.start()

    def wake(self) -> None:
        """Look for jobs now."""
        self._woken.set()

    def stop(self) -> bool:
        """Take no more jobs and hand back those in hand; False if some work does not end."""
        self._stopping.set()
        self._woken.set()
        for run in self._running():
            run.stop("stopping")
        end = time.monotonic() + STOP_SECONDS
        if self._loop.is_alive():
            self._loop.join(STOP_SECONDS)
        while self._running() and time.monotonic() < end:
            time.sleep(0.02)
        left = self._running()
        for run in left:
            # The work ignores the stop; its later result is discarded.
            self._try("handing back", partial(transitions.hand_back, self._engine, run.held))
        self._try("leaving", partial(heartbeats.leave, self._engine, self.id))
        return not left

    def _work_off(self) -> None:
        """Take jobs, and do the periodic work, until the worker stops."""
        watch = heartbeats.Watch()
        periodic: dict[Callable[[], object], float] = {
            # First the heartbeat: a worker is listed before it takes a job.
            partial(heartbeats.beat, self._engine, self.id): heartbeats.BEAT_SECONDS,
            partial(watch.take_over, self._engine): TAKE_OVER_SECONDS,
            self._listen: PULSE_SECONDS,
            partial(transitions.forget_old, self._engine, self._limits.keep_days): TIDY_SECONDS,
        }
        due = dict.fromkeys(periodic, 0.0)
        while not self._stopping.is_set():
            self._woken.clear()
            now = time.monotonic()
            for act in (act for act, when in due.items() if when <= now):
                if not self._try("jobs", act):
                    break
                due[act] = now + periodic[act]
            else:
                self._try("jobs", self._take)
            self._woken.wait(TAKE_SECONDS)

    def _take(self) -> None:
        """Begin jobs while this worker has room; reserved room is for owners that run nothing."""
        while not self._stopping.is_set():
            running, limits = len(self._running()), self._limits
            if running >= RESERVE * limits.concurrency:
                return
            of_owner = limits.running_of_owner if running < limits.concurrency else 1
            taken = transitions.take(self._engine, self.id, of_owner)
            if taken is None:
                return
            held, task = taken
            run = Run(held, task.operation)
            with self._lock:
                self._runs[held] = run
            if self._stopping.is_set():
                run.stop("stopping")
            Thread(target=self._carry, args=(task, run), name="job", daemon=True).start()

    def _running(self) -> list[Run]:
        with self._lock:
            return list(self._runs.values())

    def _carry(self, task: Task, run: Run) -> None:
        """Carry out a job, in a thread of its own."""
        try:
            with about(job=run.held.id), span(f"job {task.operation}", job=run.held.id):
                self._settle(run, self._work(task, run))
        finally:
            with self._lock:
                del self._runs[run.held]
            self.wake()

    def _work(self, task: Task, run: Run) -> Callable[[], object]:
        """Run a task; return the function that records its end."""
        hand_back = partial(transitions.hand_back, self._engine, run.held)
        try:
            if run.cancelled():  # The worker began to stop while it took the job.
                raise Cancelled
            made = self._perform(task, run) or task.identity
        except Cancelled:
            if run.why == "cancelled":
                return partial(self._finish, run, State.CANCELLED)
            # A lost job is in the hands of another worker, which records its end.
            return hand_back
        except Failed as failed:
            problem = failed.problem
        except Exception as error:
            problem = self._explain(error, f"/v1/jobs/{run.held.id}")
            if problem["status"] >= 500:
                log.exception("the job %s failed", run.held.id)
        else:
            return partial(self._finish, run, State.DONE, made=made)
        if problem["status"] == NOT_NOW:
            self._stopping.wait(NOT_NOW_SECONDS)
            return partial(hand_back, lost=True)
        return partial(self._finish, run, State.FAILED, problem=problem)

    def _finish(
        self,
        run: Run,
        state: State,
        *,
        made: str | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        answered = state is State.DONE or (problem is not None and is_answer(problem))
        end = {"made": made, "problem": problem, "answered": answered}
        if transitions.finish(self._engine, run.held, state, **end):
            seconds = time.monotonic() - run.began
            log.info("the job %s is %s after %.1f s", run.held.id, state, seconds)
            self._ended(run.operation, state, seconds)

    def _settle(self, run: Run, write: Callable[[], object]) -> None:
        """Record an end; retry while the database does not answer."""
        while not self._try(f"the end of the job {run.held.id}", write):
            if self._stopping.wait(1.0):
                return

    def _try(self, what: str, act: Callable[[], object]) -> bool:
        try:
            act()
        except (SQLAlchemyError, DatabaseNotReady) as error:
            log.warning("%s: the database cannot be used: %s", what, str(error).splitlines()[0])
            return False
        except Exception:
            # The worker continues: the next round tries again.
            log.exception("%s", what)
            return False
        return True

    def _listen(self) -> None:
        """Record progress; stop jobs that are cancelled or assigned to another worker."""
        runs = self._running()
        said = [one for run in runs if (one := run.said()) is not None]
        if said:
            transitions.report(self._engine, said)
        held = transitions.held_by(self._engine, self.id) if runs else {}
        for run in runs:
            if run.held not in held:
                run.stop("lost")
            elif held[run.held]:
                run.stop("cancelled")


def is_answer(problem: Mapping[str, Any]) -> bool:
    """Whether a retry of the same request would give the same problem.

    >>> is_answer({"status": 422, "type": "/problems/impossible-request"})
    True
    >>> is_answer({"status": 422, "type": "/problems/took-too-long"})
    False
    """
    return problem["status"] == 422 and problem["type"] != "/problems/took-too-long"
