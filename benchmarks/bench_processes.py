"""Time frontiers as whole processes, for random sizes: start, search and storage.

    python -m benchmarks.bench_processes --questions 30
    python -m benchmarks.bench_processes --questions 30 --against ../another-checkout
    python -m benchmarks.bench_processes --sizes 100x4 997x4 --repeats 3 --against ../other

Every question is its own process, on an existing database that does not hold the answer.  With
``--against`` another checkout answers each question by turns with this one, and must give the same
answer.  Kernels are compiled before the clock starts: the first question runs twice.  Of several
repeats, by turns, the least seconds count.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUN = "from topoloom.app.cli import main; main()"


@dataclass(frozen=True)
class Taken:
    """Processor and wall-clock seconds, and the answer."""

    cpu: float
    wall: float
    answer: dict[str, object]


def questions(count: int, seed: int) -> list[list[str]]:
    """Return options of frontiers of up to 1,024 hosts and 8 ports, two in five two-way."""
    drawn = random.Random(seed)
    found: list[list[str]] = [["--nodes", "639", "--degree", "4"]]
    while len(found) < count:
        nodes, degree, two_way = drawn.randint(9, 1024), drawn.randint(2, 8), drawn.random() < 0.4
        if two_way and (nodes * degree % 2 or degree < 3):
            continue
        links = ["--links", "bidirectional"] if two_way else []
        found.append(["--nodes", str(nodes), "--degree", str(degree), *links])
    return found


def ask(checkout: Path, folder: Path, question: list[str]) -> Taken:
    """Answer a question in its own process, with its own existing database."""
    base, path = folder / "base.db", folder / "asked.db"
    if not base.exists():
        _run(checkout, base, ["--nodes", "12", "--degree", "4"])
    for old in folder.glob("asked.db*"):
        old.unlink()
    path.write_bytes(base.read_bytes())
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    text = _run(checkout, path, question)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Taken(cpu, wall, json.loads(text))


def _run(checkout: Path, database: Path, question: list[str]) -> str:
    environment = os.environ | {
        "TOPOLOOM_DATABASE_URL": f"sqlite:///{database}",
        "PYTHONPATH": str(checkout),
    }
    command = [sys.executable, "-c", RUN, "frontier", "--json", *question]
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, check=True, text=True
    )
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", nargs="+", help="hosts x ports asked in place of random ones")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--against", type=Path, help="another checkout, asked the same in turn")
    said = parser.parse_args()
    checkouts = [ROOT, *([said.against.resolve()] if said.against else [])]
    taken: list[list[Taken]] = [[] for _ in checkouts]
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / str(place) for place in range(len(checkouts))]
        asked = (
            [["--nodes", *size.replace("x", " --degree ").split()] for size in said.sizes]
            if said.sizes
            else questions(said.questions, said.seed)
        )
        for checkout, folder in zip(checkouts, folders, strict=True):
            folder.mkdir()
            ask(checkout, folder, asked[0])
        for question in asked:
            places = list(zip(checkouts, folders, strict=True))
            turns = [[ask(*there, question) for there in places] for _ in range(said.repeats)]
            row = [min(some, key=lambda one: one.cpu) for some in zip(*turns, strict=True)]
            if any(one.answer["frontier"] != row[0].answer["frontier"] for one in row):
                raise SystemExit(f"other answers: {' '.join(question)}")
            for one, mine in zip(row, taken, strict=True):
                mine.append(one)
            times = "".join(f"{one.cpu:8.2f}{one.wall:8.2f}" for one in row)
            print(f"{' '.join(question):<56}{times}", flush=True)
    for checkout, mine in zip(checkouts, taken, strict=True):
        cpu, wall = [one.cpu for one in mine], [one.wall for one in mine]
        print(
            f"{checkout.name}: CPU median {statistics.median(cpu):.2f} s, most {max(cpu):.2f} s; "
            f"clock median {statistics.median(wall):.2f} s, most {max(wall):.2f} s"
        )
    if len(taken) == 2:
        ratios = [mine.cpu / other.cpu for mine, other in zip(*taken, strict=True)]
        print(f"CPU, this one over the other: median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
