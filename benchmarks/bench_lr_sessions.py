"""Many tuning jobs on one service at once: lost observations, and answer times.

``python -m benchmarks.bench_lr_sessions`` starts the service on its own database and a hundred
trainers that report once a second for a minute.  At the end every log is read back and replayed
through the tuner in process: each answered observation must be in the log once, and the answers
must equal the tuner's.  Trainers run as threads of this process, on the same machine: the figures
include their time.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topoloom.app.client import Client
from topoloom.learning_rate import Action, Options, observe, start

ROOT = Path(__file__).parent.parent
SEARCHING = ("save", "restore")  # answers that may have waited for a Gaussian process


@dataclass
class Job:
    """One trainer: its reports, the answers, and the seconds of each answer."""

    client: Client
    options: dict[str, Any]
    seed: int
    id: str = ""
    told: list[dict[str, Any]] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    searching: list[float] = field(default_factory=list)
    error: Exception | None = None

    def run(self, until: float, pace: float) -> None:
        """Report every ``pace`` seconds until the deadline or the end of the run."""
        try:
            self._run(until, pace)
        except Exception as error:
            self.error = error

    def _run(self, until: float, pace: float) -> None:
        chance = random.Random(self.seed)
        time.sleep(chance.random() * pace)
        session = self.client.lr_session(**self.options)
        self.id, action, sequence, level = session["id"], session["action"], 0, 2.3
        while action["do"] != "stop" and time.monotonic() < until:
            losses = []
            for _ in range(action.get("steps", 0)):
                level = 0.3 + (level - 0.3) * 0.999
                losses.append(level + chance.gauss(0, 0.05))
            sequence += 1
            began = time.perf_counter()
            answer = self.client.lr_observe(
                self.id, lease=session["lease"], sequence=sequence, losses=losses
            )
            seconds = time.perf_counter() - began
            action = answer["action"]
            searched = action["do"] in SEARCHING and losses
            (self.searching if searched else self.plain).append(seconds)
            self.told.append(action)
            time.sleep(max(0.0, pace - seconds))


@dataclass(frozen=True)
class Outcome:
    """Results of all jobs: sorted seconds of answers, and the machine's load at the start."""

    jobs: int
    answered: int
    lost: int
    failed: list[str]
    plain: list[float]
    searching: list[float]
    load: float

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield f"{self.jobs} jobs, {self.answered} observations, {self.lost} lost"
        yield f"{os.cpu_count()} cores, {self.load:.1f} processes at work before it began"
        for name, seconds in (("plain", self.plain), ("searching", self.searching)):
            if seconds:
                at = [statistics.median(seconds), quantile(seconds, 0.99), seconds[-1]]
                shown = ", ".join(f"{1000 * one:.1f}" for one in at)
                yield f"{name}: {len(seconds)} answers, p50, p99, most: {shown} ms"
        yield from self.failed


def quantile(ordered: list[float], share: float) -> float:
    """Return the least value that at least this share of a sorted list does not exceed.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    return ordered[max(0, min(len(ordered) - 1, int(share * len(ordered) + 0.999999) - 1))]


@contextmanager
def service() -> Iterator[str]:
    """Start a service on its own database; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        database = {"TOPOLOOM_DATABASE_URL": f"sqlite:///{Path(folder) / 't.db'}"}
        process = subprocess.Popen(
            [sys.executable, "-m", "topoloom", "serve", "--port", str(port)],
            env=os.environ | database,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            while not Client(url, timeout_seconds=5).is_ready():
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)


def measured(jobs: int, seconds: float, pace: float) -> Outcome:
    """Run this number of jobs for this number of seconds."""
    load = os.getloadavg()[0]
    options = {"min_lr": 1e-4, "max_lr": 1.0, "total_steps": 20_000, "warmup_steps": 64}
    with service() as url:
        client = Client(url, timeout_seconds=60)
        trainers = [Job(client, options | {"seed": number}, number) for number in range(jobs)]
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=job.run, args=(until, pace)) for job in trainers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lost = sum(missing(client, job) for job in trainers)
    return Outcome(
        jobs,
        sum(len(job.told) for job in trainers),
        lost,
        [f"{type(job.error).__name__}: {job.error}" for job in trainers if job.error],
        sorted(one for job in trainers for one in job.plain),
        sorted(one for job in trainers for one in job.searching),
        load,
    )


def missing(client: Client, job: Job) -> int:
    """Return the number of answers of a job that differ from the tuner's on the stored log."""
    state = start(Options(**job.options))
    entries = json.loads(client.lr_history(job.id))["entries"] if job.id else []
    right = 0
    for entry, told in zip(entries, job.told, strict=False):
        state = observe(state, [float(loss) for loss in entry["losses"]])
        right += as_action(told) == state.action
    return len(job.told) - right + abs(len(entries) - len(job.told))


def as_action(told: dict[str, Any]) -> Action:
    members = {name: value for name, value in told.items() if name != "type"}
    return Action(**members | {"keep": tuple(told.get("keep", ()))})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=1.0, help="seconds between two reports")
    arguments = parser.parse_args()
    for line in measured(arguments.jobs, arguments.seconds, arguments.pace).lines():
        print(line)


if __name__ == "__main__":
    main()
