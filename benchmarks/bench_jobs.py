"""Test jobs under random kills; time requests for jobs; compare two workers with one.

``python -m benchmarks.bench_jobs --kills 1000`` starts the service and two workers on SQLite, and
then on its own PostgreSQL, requests sweeps over HTTP, and kills the service, a worker or the
database at random moments.  The end of a job must never change after it was seen, every job must
end, and every answer must equal the result of the services without a queue.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from tests.app.conftest import Postgres, private_postgres
from tests.patience import ended_job
from topoloom.app.config import Settings
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.sweep_jobs import task_and_parts
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.services.context import Context
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.tables import JobRow

PORT = 18766
BASE = f"http://127.0.0.1:{PORT}"
ASKED = 200
PAUSE_SECONDS = (0.2, 2.5)
QUESTIONS = [
    {"kind": "sizes", "nodes": [f"{first}:{first + 7}"], "degrees": [degree]}
    for degree in (2, 3, 4)
    for first in range(8, 72, 8)
]


@contextmanager
def database(kind: str) -> Iterator[tuple[str, Postgres | None]]:
    """Make an empty database; yield its URL, and the server if there is one."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'topoloom.db'}", None
    else:
        with private_postgres() as server:
            yield server.url, server


@contextmanager
def ready(kind: str) -> Iterator[tuple[Engine, Postgres | None]]:
    """Make a database with all its tables."""
    with database(kind) as (url, server):
        engine = open_engine(url)
        migrate(engine)
        try:
            yield engine, server
        finally:
            engine.dispose()


def started(
    engine: Engine, *command: str, log: int | IO[bytes] = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a process of Topoloom on a database; ``log`` takes its standard error."""
    url = engine.url.render_as_string(hide_password=False)
    return subprocess.Popen(
        [sys.executable, "-m", "topoloom", *command],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=log,
    )


def ask(question: dict[str, Any], seconds: float = 60) -> str:
    """Request a sweep until the service answers or accepts it; return its job, or empty."""
    body = json.dumps(question).encode()
    headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
    end = time.monotonic() + seconds
    while True:
        request = urllib.request.Request(f"{BASE}/v1/sweeps", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                document = json.load(answer)
                return document["id"] if answer.status == 202 else ""
        except OSError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.2)


class Ends:
    """The ends of jobs when first seen, and the jobs whose end changed later."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.seen: dict[str, Any] = {}
        self.twice: set[str] = set()
        self.left = 0

    def look(self) -> None:
        """Read all jobs; the database may be down at the moment."""
        columns = (JobRow.id, JobRow.state, JobRow.revision, JobRow.ended_at, JobRow.made)
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(select(*columns)).all()
        except SQLAlchemyError:
            return
        self.left = sum(row.ended_at is None for row in rows)
        for row in rows:
            if row.ended_at is not None and self.seen.setdefault(row.id, row) != row:
                self.twice.add(row.id)


def killed(kind: str, kills: int, seed: int) -> str:
    """Kill processes at random while jobs run; return one line."""
    random_, count = random.Random(seed), {"service": 0, "worker": 0, "database": 0}
    with ready(kind) as (engine, server):
        serve = ("serve", "--no-worker", "--port", str(PORT))
        commands = {"service": serve, "worker": ("jobs", "worker"), "worker 2": ("jobs", "worker")}
        running = {name: started(engine, *command) for name, command in commands.items()}
        ends, questions, start = Ends(engine), iter(QUESTIONS * 1000), time.monotonic()
        try:
            for _ in range(kills):
                if ends.left < 20:
                    with suppress(OSError):
                        ask(next(questions))
                time.sleep(random_.uniform(*PAUSE_SECONDS))
                victim = random_.choice([*commands, "database"] if server else list(commands))
                if victim == "database" and server is not None:
                    server.stop()
                    server.start()
                else:
                    running[victim].kill()
                    running[victim].wait()
                    running[victim] = started(engine, *commands[victim])
                count[victim.split()[0]] += 1
                ends.look()
            calm(ends)
            assert not ends.twice, f"jobs ended twice: {ends.twice}"
        finally:
            for process in running.values():
                process.kill()
                process.wait()
        answers = checked(engine)
    seconds = time.monotonic() - start
    return (
        f"{kind:12}{count['service']:8}{count['worker']:8}{count['database']:10}"
        f"{len(ends.seen):8}{answers:9}{seconds:9.0f}"
    )


def calm(ends: Ends) -> None:
    """Wait until every job has ended, without further kills."""
    end = time.monotonic() + 300
    ends.left = -1
    while ends.left:
        if time.monotonic() >= end:
            raise AssertionError(f"{ends.left} jobs never ended")
        time.sleep(0.5)
        ends.look()


def checked(engine: Engine) -> int:
    """Compare every stored sweep with a result without a queue; return the number of sweeps."""
    context = Context(Store(engine), Settings(database_url=str(engine.url)))
    with ready("sqlite") as (empty, _):
        fresh = Context(Store(empty), Settings(database_url=str(empty.url)))
        return sum(same(context, fresh, question) for question in QUESTIONS)


def same(context: Context, fresh: Context, question: dict[str, Any]) -> bool:
    """Return whether the answer to a question is stored; it must equal the fresh answer."""
    request = SweepRequest.model_validate(question)
    identity = task_and_parts(fresh, request)[0].identity
    stored = context.store.find("sweep", identity)
    if stored is None:
        return False
    assert stored.text() == sweeps.create(fresh, request).text(), "an answer was half written"
    return True


def asking(kind: str) -> str:
    """Return the time to put a job in the queue."""
    with ready(kind) as (engine, _):
        jobs, seconds = Jobs(engine), []
        for number in range(ASKED):
            task = Task.of("frontier", {"nodes": number, "degree": 2})
            start = time.perf_counter()
            jobs.enqueue(task)
            seconds.append(time.perf_counter() - start)
    seconds.sort()
    at = (ASKED // 2, int(ASKED * 0.99) - 1)
    return f"{kind:12}" + "".join(f"{1000 * seconds[place]:8.1f}" for place in at)


def with_workers(count: int, first: int) -> float:
    """Return the time of a sweep with ``count`` workers of one job at a time."""
    with ready("postgresql") as (engine, _):
        question = {"kind": "workload", "nodes": [f"{first}:{first + 31}"], "degrees": [4],
                    "template": {"collective": "allreduce", "bytes": "1MB"}}  # fmt: skip
        workers = [started(engine, "jobs", "worker", "--concurrency", "1") for _ in range(count)]
        jobs = Jobs(engine)
        try:
            warm(jobs, count)
            request = SweepRequest.model_validate(question)
            context = Context(Store(engine), Settings(database_url=str(engine.url)))
            task, parts = task_and_parts(context, request)
            start = time.perf_counter()
            found = ended_job(jobs, jobs.enqueue(task, parts=parts), 600)
            assert found.state == "done", found
            return time.perf_counter() - start
        finally:
            stopped(workers)


def warm(jobs: Jobs, count: int) -> None:
    """Have every worker run a few jobs, so that its imports are loaded."""
    for number in range(4 * count):
        task = Task.of("frontier", {"nodes": 6 + number, "degree": 2})
        assert ended_job(jobs, jobs.enqueue(task), 120).state == "done"


def stopped(processes: list[subprocess.Popen[bytes]], seconds: float = 6) -> None:
    """End processes within a time limit."""
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait(timeout=seconds)


def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40, help="on each database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1, help="runs of one and of two workers")
    asked = parser.parse_args()
    # So that the started processes are ended on exit.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"{'asking, ms':12}{'p50':>8}{'p99':>8}")
    both = ("sqlite", "postgresql")
    for kind in both:
        print(asking(kind), flush=True)
    if asked.kills:
        print(f"\n{'kills of':12}{'service':>8}{'worker':>8}{'database':>10}", end="")
        print(f"{'jobs':>8}{'answers':>9}{'seconds':>9}", flush=True)
        for kind in both:
            print(killed(kind, asked.kills, asked.seed), flush=True)
    if asked.repeat:
        compare(asked.repeat, with_workers)


def compare(repeat: int, measure: Callable[[int, int], float]) -> None:
    """Print the times with one worker and with two."""
    times = {count: [measure(count, 16) for _ in range(repeat)] for count in (1, 2)}
    one, two = (statistics.median(times[count]) for count in (1, 2))
    print(f"\na sweep of 32 designs: 1 worker {one:.1f} s, 2 workers {two:.1f} s, {one / two:.2f}x")


if __name__ == "__main__":
    main()
