"""Run every algorithm of the designs for random questions, and every program exported from it.

    python -m benchmarks.bench_machines --count 30 --seed 1

Each candidate of a design's co-design, and of its best point, is made, verified and executed.  Then
it is written in every format of programs, for every runtime.  Each file is read back and checked
against the limits of that runtime, and its messages are executed too, between local processes, one
per host, with a comparison of every element.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lcm

import topoloom
from topoloom.schedules.design import Design
from topoloom.schedules.design.runnable_schedules import candidate_schedule
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.execute import Team, execute
from topoloom.schedules.formats import PROGRAMS, Options, write
from topoloom.schedules.formats.inspection.check_program import (
    TRANSCRIBED,
    require_wired,
    transcript_of,
)
from topoloom.schedules.formats.inspection.requirements import requirements
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.schedules.model.schedule import Schedule
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology

LARGEST = 32
"""Most hosts of a question: each host is a local process."""

_COLLECTIVES = ("allreduce", "allgather", "reduce-scatter", "all-to-all")
_ROUTED_EVERYWHERE = 12
"""Programs of an all-to-all for more hosts take minutes: only one runtime is tested."""


@dataclass(frozen=True, slots=True)
class Question:
    """The request for a design."""

    nodes: int
    degree: int
    collective: str
    links: str
    size: int

    def __str__(self) -> str:
        return f"{self.nodes} x {self.degree} {self.links} {self.collective} {self.size}"


@dataclass
class Tally:
    """Counts and faults over all questions."""

    algorithms: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def main() -> None:
    """Run all questions and print the results; exit 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Random designs taken to machines.")
    parser.add_argument("--count", type=int, default=30, help="how many questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=LARGEST, help="largest number of hosts")
    given, tally = parser.parse_args(), Tally()
    with Team(given.nodes, timeout_seconds=600) as team:
        for number, question in enumerate(questions(given.count, given.seed, given.nodes), 1):
            start = time.perf_counter()
            taken(question, team, tally)
            print(f"{number:>4}  {time.perf_counter() - start:>6.1f} s  {question}", flush=True)
    for what, counts in vars(tally).items():
        if isinstance(counts, Counter):
            print(f"{what}: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts)))
    print(f"{len(tally.faults)} faults", *tally.faults, sep="\n")
    sys.exit(1 if tally.faults else 0)


def questions(count: int, seed: int, most: int = LARGEST) -> Iterator[Question]:
    """Yield ``count`` random questions of 3 to ``most`` hosts."""
    chance = random.Random(seed)
    for _ in range(count):
        nodes = chance.randint(3, most)
        degree = chance.randint(2, min(4, nodes - 1))
        links = chance.choice(("unidirectional", "bidirectional"))
        if links == "bidirectional" and nodes * degree % 2:
            nodes += 1 if nodes < most else -1
        collective = chance.choice(_COLLECTIVES)
        yield Question(nodes, degree, collective, links, 1 << chance.randint(10, 28))


def taken(question: Question, team: Team, tally: Tally) -> None:
    """Run every algorithm that the design for a question names."""
    design = topoloom.design(
        question.nodes, question.degree, question.collective, question.size, links=question.links
    )
    for name, schedule, topology in _named(design):
        tally.algorithms[name] += 1
        about = f"{question}: {name}"
        done = execute(schedule, size_bytes=_size(question.nodes), team=team)
        if not done.exact:
            tally.faults.append(f"{about}: executed, {len(done.mistakes)} mistakes")
        for form in TRANSCRIBED:
            _written(form, schedule, topology, team, tally, about)


def _named(design: Design) -> Iterator[tuple[str, Schedule, Topology]]:
    """Yield the algorithms of the co-design and of the best point, each as a schedule once."""
    seen = set()
    for point in (design.co_design, design.best):
        topology = build(point.measured.recipe)
        for collective, ways in zip(design.workload.collectives, point.candidates, strict=True):
            for way in ways:
                key = topology.digest, point.measured.within, collective, way.name
                if key not in seen:
                    seen.add(key)
                    yield (
                        way.name,
                        candidate_schedule(point, topology, collective, way.name),
                        topology,
                    )


def _written(
    form: str, schedule: Schedule, topology: Topology, team: Team, tally: Tally, about: str
) -> None:
    """Write a schedule for every runtime of a format, load it, and run its messages."""
    hosts = len(topology.compute_nodes)
    names = [name for name in RUNTIMES if RUNTIMES[name].form == form] or [None]
    problem, read = "", set[tuple[bytes, ...]]()
    for name in names:
        said = Options(runtime=name) if form in PROGRAMS else Options(bytes=hosts << 20)
        try:
            made = write(form, schedule, topology, said)
        except NotExportable as error:
            # Small devices may be too small; then the error must state the need.
            problem = f"{about}: {form} for {name}: {error}"
            tally.refused[f"{form} {name or ''}".strip()] += 1
            if "needed" not in error.rule:
                tally.faults.append(problem)
            continue
        files = (*made.values(),) if isinstance(made, dict) else ("".join(map(str, made)).encode(),)
        try:
            if files in read:
                # The program was executed; these are the limits of another runtime.
                requirements(form, files[0].decode(), RUNTIMES[name or ""])
            else:
                exact = _run(form, files, name, topology, team)
                tally.faults += [] if exact else [f"{about}: {form} for {name}: not exact"]
        except InvalidProgram as error:
            tally.faults.append(f"{about}: {form} for {name}: {error}")
        read.add(files)
        tally.files[form] += 1
        if schedule.collective == "all-to-all" and hosts > _ROUTED_EVERYWHERE:
            return
    if not read:
        tally.faults.append(f"no run-time takes {problem}")


def _run(
    form: str, files: tuple[bytes, ...], name: str | None, topology: Topology, team: Team
) -> bool:
    """Read files back by the limits of a runtime, and execute their messages."""
    transcript = transcript_of(form, files, RUNTIMES.get(name or ""))
    require_wired(transcript, topology)
    size = _size(len(topology.compute_nodes))
    return execute(transcript, size_bytes=size, team=team).exact


def _size(hosts: int) -> int:
    """Return a size whose parts are odd and not empty."""
    return 4 * lcm(60, hosts) + 4 * 7 * hosts


if __name__ == "__main__":
    main()
