"""Restart two services and two workers in turn under load; no call of a client may fail.

``python -m benchmarks.bench_restarts --restarts 100`` sends SIGTERM to one process after the other,
on SQLite or another database, starts each again, and waits until it is ready.  Clients with the
addresses of both services call them all the time.  One line says how many of their calls failed,
how many jobs were handed back, lost, or ended twice, and how long the processes took to end.
"""

import argparse
import itertools
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from typing import Any

from sqlalchemy import Engine, func, select

from benchmarks.bench_jobs import Ends, calm, ready, started, stopped
from topoloom.app.client import Client
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.tables import JobRow, WorkerRow

PORTS = (18767, 18768)
URLS = [f"http://127.0.0.1:{port}" for port in PORTS]
SERVICES = {url: ("serve", "--no-worker", "--port", url.rpartition(":")[2]) for url in URLS}
COMMANDS = {**SERVICES, "worker 1": ("jobs", "worker"), "worker 2": ("jobs", "worker")}
PAUSE_SECONDS = (0.2, 2.0)
START_SECONDS = 120
LOG_LINES = 20
CALL_SECONDS = 1_800
"""Longest call: on a busy machine a job waits long for a worker that lives long enough."""


HEAD = (
    f"{'database':12}{'restarts':>10}{'calls':>8}{'failed':>8}{'slowest':>9}{'jobs':>7}"
    f"{'resumed':>8}{'lost':>6}{'twice':>7}{'exit p50':>10}{'most':>6}"
)


class Load:
    """Clients that call the services until they are told to stop."""

    def __init__(self, clients: int) -> None:
        self.calls, self.failures, self.slowest = 0, [], 0.0
        self.jobs: set[str] = set()
        self._numbers, self._lock, self._ended = itertools.count(), Lock(), Event()
        self._threads = [Thread(target=self._call, args=(seed,)) for seed in range(clients)]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Call the services for the duration of this block, and to the end of the last calls."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in self._threads:
                thread.join()

    def _call(self, seed: int) -> None:
        random_ = random.Random(seed)
        client = Client(random_.sample(URLS, len(URLS)), timeout_seconds=CALL_SECONDS)
        calls = (self._stored, self._fresh, self._long, self._sweep, self._list)
        while not self._ended.wait(random_.uniform(0, 0.2)):
            (call,) = random_.choices(calls, (8, 4, 1, 1, 2))
            start = time.monotonic()
            try:
                call(client, next(self._numbers))
            except Exception as error:  # Any error of a call is a failed call.
                self.failures.append(f"{call.__name__}: {error!r}")
            with self._lock:
                self.calls += 1
                self.slowest = max(self.slowest, time.monotonic() - start)

    def _stored(self, client: Client, _: int) -> None:
        client.frontier(nodes=12, degree=3)

    def _fresh(self, client: Client, number: int) -> None:
        client.frontier(nodes=8 + number % 200, degree=2 + number % 3)

    def _long(self, client: Client, number: int) -> None:
        recipe = f"GeneralizedKautz(4, {200 + number})"
        client.schedule(topology={"recipe": recipe}, collective="allgather", algorithm="forestcoll")

    def _sweep(self, client: Client, number: int) -> None:
        first = 8 + number % 200
        handle = client.submit(
            client.sweep, kind="sizes", nodes=[f"{first}:{first + 3}"], degrees=[2]
        )
        if handle.id is not None:
            self.jobs.add(handle.id)
        handle.result()

    def _list(self, client: Client, _: int) -> None:
        client.jobs(limit=20)


@contextmanager
def database(url: str) -> Iterator[Engine]:
    """Yield a database with its tables: of a URL, or a fresh one of a kind."""
    if "://" not in url:
        with ready(url) as (engine, _):
            yield engine
        return
    engine = open_engine(url)
    migrate(engine)
    try:
        yield engine
    finally:
        engine.dispose()


def workers(engine: Engine) -> set[str]:
    """Return the workers that the database lists."""
    with engine.connect() as connection:
        return set(connection.execute(select(WorkerRow.id)).scalars())


def begun(engine: Engine, name: str) -> subprocess.Popen[bytes]:
    """Start a process, and wait until it is ready; show its log if it does not get ready."""
    before, end = workers(engine), time.monotonic() + START_SECONDS
    is_ready = Client(name, timeout_seconds=5).is_ready if name in SERVICES else None
    with TemporaryFile() as log:
        process = started(engine, *COMMANDS[name], log=log)
        while not (is_ready() if is_ready else workers(engine) - before):
            if process.poll() is not None or time.monotonic() >= end:
                log.seek(0)
                sys.stderr.buffer.writelines(log.readlines()[-LOG_LINES:])
                status = process.poll()
                process.kill()
                raise TimeoutError(f"{name} is not ready; exit status: {status}")
            time.sleep(0.05)
    return process


def restarted(engine: Engine, restarts: int, clients: int) -> str:
    """Restart the processes in turn under load; return one line."""
    load, ends, seconds = Load(clients), Ends(engine), []
    random_ = random.Random(1)
    running = {name: begun(engine, name) for name in COMMANDS}
    try:
        with load.running():
            for name in itertools.islice(itertools.cycle(COMMANDS), restarts):
                time.sleep(random_.uniform(*PAUSE_SECONDS))
                start = time.monotonic()
                running[name].send_signal(signal.SIGTERM)
                running[name].wait(60)
                seconds.append(time.monotonic() - start)
                running[name] = begun(engine, name)
                ends.look()
        with suppress(AssertionError):
            calm(ends)
    finally:
        stopped(list(running.values()), 60)
    for failure in load.failures:
        print(failure, file=sys.stderr)
    lost = len(load.jobs - ends.seen.keys()) + ends.left
    with engine.connect() as connection:
        back = connection.execute(select(func.sum(JobRow.turn))).scalar() or 0
    return (
        f"{engine.dialect.name:12}{restarts:10}{load.calls:8}{len(load.failures):8}"
        f"{load.slowest:9.1f}{len(ends.seen):7}{back:8}{lost:6}{len(ends.twice):7}"
        f"{statistics.median(seconds):10.1f}{max(seconds):6.1f}"
    )


def main() -> None:
    """Print one line for the database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=100, help="processes that are restarted")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument(
        "--database-url", default="sqlite", help="URL; or sqlite, postgresql: a fresh one"
    )
    asked: Any = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(HEAD, flush=True)
    with database(asked.database_url) as engine:
        print(restarted(engine, asked.restarts, asked.clients))


if __name__ == "__main__":
    main()
