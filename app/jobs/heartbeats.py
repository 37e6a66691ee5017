"""Heartbeats of workers, detection of dead workers, and take-over of their jobs.

No two clocks are compared.  A worker is dead when its count of beats has not changed for
`SILENT_SECONDS` of the watcher's own clock.  A worker of the same kernel is dead as soon as its
process has ended.
"""

import logging
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Engine, delete, insert, select, update

from topoloom.app.jobs import queries, transitions
from topoloom.app.store.tables import JobRow, WorkerRow

log = logging.getLogger(__name__)

BEAT_SECONDS = 3.0
SILENT_SECONDS = 15.0


class Seat(NamedTuple):
    """Kernel and process of a worker; both are empty where they are unknown."""

    place: str
    process: str


def seat(process: int | None = None) -> Seat:
    """Return the seat of a process of this machine, of this one by default.

    Numbers of processes are used again, and mean nothing in another container: the time at
    which the process began and the namespace it counts in are part of it.
    """
    number = os.getpid() if process is None else process
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        place = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
        # The name of the program, in brackets, may hold anything; the 20th word behind it.
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return Seat("", "")
    return Seat(place, "" if state[0] == "Z" else f"{number} {state[19]}")


def beat(engine: Engine, worker: str) -> None:
    """Record a heartbeat; add a worker that is new, or that others have removed as dead."""
    values = {"id": worker, "beats": 0, "started_at": queries.now(), **seat()._asdict()}
    with engine.begin() as connection:
        query = update(WorkerRow).where(WorkerRow.id == worker)
        if not connection.execute(query.values(beats=WorkerRow.beats + 1)).rowcount:
            connection.execute(insert(WorkerRow).values(**values))


def leave(engine: Engine, worker: str) -> None:
    """Remove a worker that holds no jobs from the list of workers."""
    with engine.begin() as connection:
        connection.execute(delete(WorkerRow).where(WorkerRow.id == worker))


@dataclass(slots=True)
class Watch:
    """Detector of dead workers: the beats that one process has seen so far."""

    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def gone(self, engine: Engine, now: float | None = None) -> list[str]:
        """Return the dead workers: silent, ended on this kernel, or unlisted but holding jobs.

        ``now`` is of `time.monotonic`.
        """
        moment = time.monotonic() if now is None else now
        with engine.connect() as connection:
            # Read the holders of jobs first: a worker that joins in between is then in the list.
            busy = connection.execute(
                select(JobRow.worker).where(JobRow.worker.is_not(None)).distinct()
            ).scalars()
            holding = {worker for worker in busy if worker is not None}
            query = select(WorkerRow.id, WorkerRow.beats, WorkerRow.place, WorkerRow.process)
            listed = {row.id: row for row in connection.execute(query)}
        self._note({row.id: row.beats for row in listed.values()}, moment)
        silent = [one for one in listed if moment - self._seen[one][1] >= SILENT_SECONDS]
        dead = dead_here((row.id, Seat(row.place, row.process)) for row in listed.values())
        return sorted({*silent, *dead, *(holding - listed.keys())})

    def take_over(self, engine: Engine) -> None:
        """Return the jobs of dead workers to the queue; several workers may do so at a time."""
        for worker in self.gone(engine):
            lost = transitions.held_by(engine, worker)
            for held in lost:
                transitions.hand_back(engine, held, lost=True)
            leave(engine, worker)
            log.warning("the worker %s is gone; %d jobs were taken over", worker, len(lost))

    def _note(self, beats: Mapping[str, int], moment: float) -> None:
        for worker, count in beats.items():
            if self._seen.get(worker, (-1, 0.0))[0] != count:
                self._seen[worker] = (count, moment)
        for worker in self._seen.keys() - beats.keys():
            del self._seen[worker]


def dead_here(workers: Iterable[tuple[str, Seat]]) -> list[str]:
    """Return the workers that ran on this kernel and have ended."""
    here = seat().place
    return [
        worker
        for worker, sat in workers
        if here and sat.place == here and sat.process and seat(_number(sat)).process != sat.process
    ]


def _number(sat: Seat) -> int:
    return int(sat.process.partition(" ")[0])
