"""Nothing is lost: the jobs' own tables compared with who lives and with what the queue holds."""

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
    """Run by every worker, at its own pace; several at once do no harm.

    ``keep_days`` is how long jobs are kept after their end.
    """

    engine: Engine
    carrier: Carrier
    keep_days: float
    _watch: heartbeats.Watch = field(default_factory=heartbeats.Watch)
    _missed: set[Due] = field(default_factory=set)

    def take_over(self) -> int:
        """Give the jobs of workers that are gone to the queue again; return how many."""
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
        """Take out of the queue what workers that are gone had taken.

        They had ended some of it, and not said so to the queue: it would count as running, of
        so much that one owner may have, for ever.
        """
        taken = self.carrier.taken()
        # Read after them: whoever took one of them was listed before.
        workers = self._workers()
        self.carrier.take_out((one.id, one.turn) for one in taken if one.worker not in workers)

    def _workers(self) -> set[str]:
        with self.engine.connect() as connection:
            return set(connection.execute(select(WorkerRow.id)).scalars())

    def hand_back(self, lost: transitions.Held, worker: str) -> None:
        """Give a job to the queue again, or end what must not be."""
        given = transitions.hand_back(self.engine, lost, worker, LOST)
        if isinstance(given, Ending):
            follow(self.engine, self.carrier, [given])
        else:
            self.carrier.put([given])

    def refill(self) -> int:
        """Put in the queue what it should hold and does not; return how many.

        What was missed twice in a row only: it may be on its way.
        """
        due = transitions.waiting(self.engine)
        missed = set(self.carrier.lacks(due, self._workers())) if due else set()
        lacking = missed & self._missed
        self._missed = missed - lacking
        self.carrier.renew(lacking)
        return len(lacking)

    def tidy(self) -> None:
        """Delete what ended long ago, here and in the queue."""
        self.carrier.sweep()
        before = queries.now() - timedelta(days=self.keep_days)
        with self.engine.connect() as connection:
            query = select(JobRow.id).where(JobRow.ended_at < before).limit(FORGET_AT_ONCE)
            old = connection.execute(query).scalars().all()
        transitions.forget(self.engine, old)
