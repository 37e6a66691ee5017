r"""Compare our allgathers with those of TACOS, SCCL and OptCCL's model on the same graphs.

    git clone https://github.com/astra-sim/tacos /tmp/tacos
    g++ -O2 -std=c++17 -I /tmp/tacos/include benchmarks/tacos_peer.cpp /tmp/tacos/src/*/*.cpp \
        -o /tmp/tacos_peer
    git clone https://github.com/microsoft/msccl-tools /tmp/msccl-tools
    python3 -m venv /tmp/sccl-venv && /tmp/sccl-venv/bin/pip install z3-solver /tmp/msccl-tools
    python -m benchmarks.bench_synthesizers --optccl --tacos /tmp/tacos_peer \
        --sccl /tmp/sccl-venv/bin/python

First table, against TACOS: microseconds of an allgather in TACOS's own model, in which a message
occupies its link for its latency, too (`overhead` here): the least of five random tries and of
several numbers of chunks.  Ours is the fastest of our schedules, simulated in that model.  Seconds
to make them cover all numbers of chunks and tries.

Second table, against SCCL: whether its solver finds an allgather with our steps and rounds (a round
moves one chunk over every link), with one step less in as many rounds, and with one round less in
our steps; ``-`` if it found nothing within --limit seconds.

Third table, against the linear program of OptCCL (`optccl_model`, solved by HiGHS): its least total
length for our number of steps, in shards on a link of capacity 1, and our length.

Fourth table, several collectives at once: ours one after another, each by the algorithm of least
length, and OptCCL's program for all of them together, in as many steps as the longest of ours.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.chunk_search import best_chunks
from benchmarks.optccl_model import exchanged, gathered, least_rounds, scattered
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import RouteSchedule, StepSchedule, TreeSchedule
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.verify import route_inverse_rate, route_phases
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

RUNNER = Path(__file__).with_name("sccl_peer.py")
GIB = 1 << 30
TRIES = 5
CHUNKS = (1, 2, 4, 8)
ALGORITHMS = ("bfb", "slack", "forestcoll")


@dataclass(frozen=True)
class Case:
    """A direct fabric, the rate of one unit of its capacity, and the gathered bytes."""

    name: str
    gibytes_per_second: int = 50
    latency_us: Fraction = Fraction(1, 2)
    size_bytes: int = 12 << 20

    @property
    def topology(self) -> Topology:
        """The fabric of that name, or the topology of the recipe."""
        try:
            return fabric(self.name)
        except ValueError:
            return build(parse(self.name))


CASES = (
    Case("BiRing(8)"),
    Case("Torus(4, 4)"),
    Case("Hypercube(4)"),
    Case("GeneralizedKautz(3, 24)"),
    Case("Torus(3, 4)", size_bytes=1 << 16),
    Case("dgx-1v", gibytes_per_second=1, size_bytes=1 << 20),
    Case("dgx-1v", gibytes_per_second=1, size_bytes=1 << 28),
)
SOLVED = ("BiRing(6)", "Torus(3, 3)", "Hypercube(3)", "Kautz(2, 2)", "dgx-1v")
AT_ONCE = {"allgather": gathered, "reduce-scatter": scattered, "all-to-all": exchanged}
"""Collectives that OptCCL's program solves together, each with a shard of size 1 per host."""
PROGRAMS = (*SOLVED, "Torus(4, 4)", "GeneralizedKautz(2, 12)", "Circulant(12, 2, 3)")


def links_of(topology: Topology) -> dict[tuple[int, int], Fraction]:
    """Return the capacity from position to position, parallel links together."""
    found: dict[tuple[int, int], Fraction] = {}
    for link in topology.links:
        pair = topology.position[link.source], topology.position[link.target]
        found[pair] = found.get(pair, Fraction(0)) + Fraction(link.capacity)
    return found


def tacos_us(peer: Path, case: Case) -> tuple[float, float, int]:
    """Return TACOS's least time, the seconds of all tries, and the number of chunks of the best."""
    topology = case.topology
    lines = [
        f"{a} {b} {float(width * case.gibytes_per_second)} {float(case.latency_us)}"
        for (a, b), width in links_of(topology).items()
    ]
    nodes = topology.node_count
    best, seconds = (float("inf"), 0), 0.0
    for chunks in CHUNKS:
        job = f"{nodes} {chunks} {case.size_bytes / nodes / chunks} {TRIES}"
        done = subprocess.run(
            [peer], input="\n".join([job, *lines]), stdout=subprocess.PIPE, text=True, check=True
        )
        micros, millis = map(float, done.stdout.split())
        best, seconds = min(best, (micros, chunks)), seconds + millis / 1000
    return best[0], seconds, best[1]


def ours_us(case: Case) -> tuple[float, float, str]:
    """Return our least time in the same model, the seconds of all schedules, and the algorithm."""
    topology = case.topology
    network = Network(Fraction(0), Fraction(case.gibytes_per_second * GIB), case.latency_us / 10**6)
    best, start = (float("inf"), ""), time.perf_counter()
    for algorithm in ALGORITHMS:
        try:
            schedule = make(topology, "allgather", algorithm)
        except ScheduleError:
            continue
        if isinstance(schedule, TreeSchedule):
            _, seconds = best_chunks(schedule, topology, network, case.size_bytes)
        else:
            seconds = simulate(schedule, topology, network, size_bytes=case.size_bytes).seconds
        best = min(best, (float(seconds) * 1e6, algorithm))
    return best[0], time.perf_counter() - start, best[1]


def against_tacos(peer: Path) -> None:
    print(
        f"{'fabric':<26}{'N':>4}{'bytes':>12}{'TACOS us':>12}{'chunks':>8}{'s':>8}"
        f"{'ours us':>12}{'by':>12}{'s':>8}{'TACOS/ours':>12}"
    )
    for case in CASES:
        theirs, seconds, chunks = tacos_us(peer, case)
        ours, made, algorithm = ours_us(case)
        print(
            f"{case.name:<26}{case.topology.node_count:>4}{case.size_bytes:>12,}{theirs:>12.2f}"
            f"{chunks:>8}{seconds:>8.3f}{ours:>12.2f}{algorithm:>12}{made:>8.3f}"
            f"{theirs / ours:>12.3f}",
            flush=True,
        )


def rounds_of(schedule: StepSchedule, topology: Topology) -> int:
    """Return the rounds of a schedule: over steps, the most chunks on a unit of capacity."""
    widths, rounds = links_of(topology), 0
    for step in schedule.steps:
        load: dict[tuple[int, int], int] = {}
        for send in step.tolist():
            load[send[0], send[1]] = load.get((send[0], send[1]), 0) + send[4]
        rounds += max(-(-count // int(widths[pair])) for pair, count in load.items())
    return rounds


def solved(peer: Path, job: dict[str, Any], limit: float) -> list[dict[str, Any] | None]:
    """Return SCCL's answers; None if the time limit was reached."""
    answers: list[dict[str, Any] | None] = []
    for asked in job["asked"]:
        try:
            done = subprocess.run(
                [peer, RUNNER],
                input=json.dumps(job | {"asked": [asked]}),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                timeout=limit,
            )
            answers.append(json.loads(done.stdout))
        except subprocess.TimeoutExpired:
            answers.append(None)
    return answers


def ours_on(names: Iterable[str]) -> Iterator[tuple[str, Topology, str, StepSchedule, float]]:
    """Yield each fabric, our allgathers on it by every applicable algorithm, and the seconds."""
    for name in names:
        topology = Case(name).topology
        for algorithm in ("bfb", "slack"):
            try:
                make(topology, "allgather", algorithm)
            except ScheduleError:
                continue
            # Kernels are compiled at this point.
            start = time.perf_counter()
            schedule = make(topology, "allgather", algorithm)
            taken = time.perf_counter() - start
            assert isinstance(schedule, StepSchedule)
            yield name, topology, algorithm, schedule, taken


def against_sccl(peer: Path, limit: float) -> None:
    print(
        f"\n{'fabric':<26}{'by':>8}{'steps':>7}{'rounds':>8}{'chunks':>8}{'ours ms':>9}"
        f"{'the same':>14}{'a step less':>14}{'a round less':>14}"
    )
    for name, topology, algorithm, schedule, taken in ours_on(SOLVED):
        steps, chunks = len(schedule.steps), schedule.chunks_per_shard
        rounds = rounds_of(schedule, topology)
        asked = [[steps, rounds, chunks], [steps - 1, rounds, chunks]]
        asked += [[steps, rounds - 1, chunks]] if rounds > steps else []
        links = [[a, b, int(width)] for (a, b), width in links_of(topology).items()]
        job = {"nodes": topology.node_count, "links": links, "asked": asked}
        answers = [_said(one, limit) for one in solved(peer, job, limit)]
        print(
            f"{name:<26}{algorithm:>8}{steps:>7}{rounds:>8}{chunks:>8}{1000 * taken:>9.1f}"
            + "".join(f"{answer:>14}" for answer in (*answers, "none such")[:3]),
            flush=True,
        )


def length_of(schedule: StepSchedule, topology: Topology) -> Fraction:
    """Return the total length of all steps: the most shards on a link of capacity 1, per step."""
    widths, length = links_of(topology), Fraction(0)
    for step in schedule.steps:
        load: dict[tuple[int, int], int] = {}
        for send in step.tolist():
            load[send[0], send[1]] = load.get((send[0], send[1]), 0) + send[4]
        length += max(Fraction(count) / widths[pair] for pair, count in load.items())
    return length / schedule.chunks_per_shard


def against_optccl() -> None:
    print(
        f"\n{'fabric':<26}{'by':>8}{'steps':>7}{'ours':>9}{'ours ms':>9}{'OptCCL':>9}{'s':>8}"
        f"{'ours / its':>12}"
    )
    for name, topology, algorithm, schedule, taken in ours_on(PROGRAMS):
        ours, steps = length_of(schedule, topology), len(schedule.steps)
        start = time.perf_counter()
        theirs = least_rounds(topology.node_count, links_of(topology), steps)
        spent = time.perf_counter() - start
        ratio = f"{float(ours) / theirs:.6f}" if theirs else "none"
        print(
            f"{name:<26}{algorithm:>8}{steps:>7}{ours!s:>9}{1000 * taken:>9.1f}"
            f"{theirs or 0:>9.4f}{spent:>8.2f}{ratio:>12}",
            flush=True,
        )


def at_once_against_optccl() -> None:
    print(
        f"\n{'fabric':<16}{'at once':<40}{'steps':>7}{'ours':>9}{'steps':>7}{'OptCCL':>9}{'s':>8}"
        f"{'ours / its':>12}"
    )
    for name in SOLVED:
        topology = Case(name).topology
        found = {one: shortest(topology, one) for one in AT_ONCE}
        for together in (
            ("reduce-scatter", "allgather"),
            ("reduce-scatter", "all-to-all"),
            tuple(AT_ONCE),
        ):
            lengths, steps = zip(*(found[one] for one in together), strict=True)
            nodes, ours = topology.node_count, sum(lengths)
            demands = [demand for one in together for demand in AT_ONCE[one](nodes)]
            start = time.perf_counter()
            theirs = least_rounds(nodes, links_of(topology), max(steps), demands)
            spent = time.perf_counter() - start
            assert theirs is not None
            print(
                f"{name:<16}{' + '.join(together):<40}{sum(steps):>7}{float(ours):>9.4f}"
                f"{max(steps):>7}{theirs:>9.4f}{spent:>8.2f}{float(ours) / theirs:>12.4f}",
                flush=True,
            )


def shortest(topology: Topology, collective: str) -> tuple[Fraction, int]:
    """Return our least length, and its number of steps, or hops of routes."""
    if collective == "all-to-all":
        routes = make(topology, collective, "mcf")
        assert isinstance(routes, RouteSchedule)
        length = route_inverse_rate(routes, topology) / topology.node_count
        return length, len(route_phases(routes, topology))
    found = []
    for algorithm in ("bfb", "slack"):
        try:
            schedule = make(topology, collective, algorithm)
        except ScheduleError:
            continue
        assert isinstance(schedule, StepSchedule)
        found.append((length_of(schedule, topology), len(schedule.steps)))
    return min(found)


def _said(answer: dict[str, Any] | None, limit: float) -> str:
    if answer is None:
        return f"- {limit:g} s"
    return f"{'yes' if answer['found'] else 'no'} {answer['seconds']:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tacos", type=Path, help="the program made of tacos_peer.cpp")
    parser.add_argument("--sccl", type=Path, help="an interpreter that has msccl-tools")
    parser.add_argument("--optccl", action="store_true", help="solve OptCCL's program")
    parser.add_argument("--limit", type=float, default=60, help="seconds of SCCL's solver")
    options = parser.parse_args()
    if options.tacos:
        against_tacos(options.tacos)
    if options.optccl:
        against_optccl()
        at_once_against_optccl()
    if options.sccl:
        against_sccl(options.sccl, options.limit)


if __name__ == "__main__":
    main()
