"""Reconciliation of the job tables with the live workers and the queue."""

import logging
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Engine, select

from topoloom.app.jobs import heartbeats, queries, transitions
from topoloom.app.jobs.completion_hooks import follow
from topoloom.app.jobs.dbos_queue import Carrier
from topoloom.app.jobs.transitions import Due, Ending
from topoloom.app.store.tables import JobRow, WorkerRow

log = logging.getLogger(__name__)

FORGET_AT_ONCE = 500

LOST = {
    "type": "/problems/work-failed",
    "title": "The work came to no end",
    "status": 500,
    "detail": f"{transitions.MAX_TURNS} workers that had it in hand ended before it did",
    "instance": "/v1/jobs",
    "errors": [],
}


@dataclass(slots=True)
class Reconciler:
    """The reconciler of a worker; several workers may reconcile at the same time.

    ``keep_days`` is how long jobs are kept after their end.
    """

    engine: Engine
    carrier: Carrier
    keep_days: float
    _watch: heartbeats.Watch = field(default_factory=heartbeats.Watch)
    _missed: set[Due] = field(default_factory=set)

    def take_over(self) -> int:
        """Requeue the jobs of dead workers; return how many."""
        count = 0
        for worker in self._watch.gone(self.engine):
            lost = transitions.held(self.engine, worker)
            for one in lost:
                self.hand_back(one, worker)
            heartbeats.leave(self.engine, worker)
            log.warning("the worker %s is gone; %d jobs were taken over", worker, len(lost))
            count += len(lost)
        self._take_out_strays()
        return count

    def _take_out_strays(self) -> None:
        """Remove from the queue the turns that dead workers had taken.

        The queue does not know that some of these turns have ended.  Such turns would count
        toward the limit of running jobs of their owner for ever.
        """
        taken = self.carrier.taken()
        # Read the workers after the turns: a worker is listed before it takes its first turn.
        workers = self._workers()
        self.carrier.take_out((one.id, one.turn) for one in taken if one.worker not in workers)

    def _workers(self) -> set[str]:
        with self.engine.connect() as connection:
            return set(connection.execute(select(WorkerRow.id)).scalars())

    def hand_back(self, lost: transitions.Held, worker: str) -> None:
        """Requeue a job, or end a job that must not run again."""
        given = transitions.hand_back(self.engine, lost, worker, LOST)
        if isinstance(given, Ending):
            follow(self.engine, self.carrier, [given])
        else:
            self.carrier.put([given])

    def refill(self) -> int:
        """Enqueue the turns that the queue lacks; return how many.

        Only turns missing twice in a row count: a turn missing once may be on its way.
        """
        due = transitions.waiting(self.engine)
        missed = set(self.carrier.lacks(due, self._workers())) if due else set()
        lacking = missed & self._missed
        self._missed = missed - lacking
        self.carrier.renew(lacking)
        return len(lacking)

    def tidy(self) -> None:
        """Delete jobs and workflows that ended long ago."""
        self.carrier.sweep()
        before = queries.now() - timedelta(days=self.keep_days)
        with self.engine.connect() as connection:
            query = select(JobRow.id).where(JobRow.ended_at < before).limit(FORGET_AT_ONCE)
            old = connection.execute(query).scalars().all()
        transitions.forget(self.engine, old)
