r"""Compare with the peer EfficientDirect, which solves linear programs, on the same graphs.

    git clone https://github.com/YouWin744/EfficientDirect /tmp/efficientdirect
    python3 -m venv /tmp/peer-venv
    /tmp/peer-venv/bin/pip install cvxpy networkx pyscipopt tqdm
    python -m benchmarks.bench_efficientdirect --peer-dir /tmp/efficientdirect \
        --peer-python /tmp/peer-venv/bin/python [--quick]

First table, per graph: milliseconds of our `measure` and of our whole schedule (medians of --repeat
runs after a warm-up), seconds of the peer's `BFB` (one run) and the part of them inside its LP
solver, the ratios of `BFB` to both of ours, and whether the largest loads of all steps are the same
fractions.  Both go over all destinations and use no symmetry.  The peer's call returns loads and
transfers: more than `measure`, and as much as the schedule.

Second table: the peer's finder beside our frontier of directed links, at every size up to
--largest.  Sizes by the side that has points out of the other's reach: neither, ours, the peer,
both; and the peer's points that ours beat, exactly meet or miss, with the missed points by name.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.timing import timed
from topoloom.schedules.steps import bfb
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import measure, step_loads
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier
from topoloom.synth.topology.topology import Topology

RUNNER = Path(__file__).with_name("efficientdirect_peer.py")
# The peer's solver works to 1e-6; distinct candidate fractions lie further apart.
SOLVER_TOLERANCE = Fraction(1, 10**5)
DEGREES = (2, 3, 4)


@dataclass(frozen=True)
class Case:
    """A recipe, and the approximate seconds of the peer."""

    recipe: str
    peer_seconds: float


CASES = (
    Case("LineGraph(1, CompleteBipartite(4))", 2),
    Case("Torus(6, 6)", 3),
    Case("Circulant(64, 6, 7)", 9),
    Case("Torus(8, 8)", 10),
    Case("Hypercube(6)", 12),
    Case("GeneralizedKautz(4, 128)", 40),
    Case("LineGraph(2, CompleteBipartite(4))", 40),
)
QUICK_PEER_SECONDS = 10


@dataclass(frozen=True)
class Peer:
    """The checkout of the peer, and an interpreter with its dependencies."""

    directory: Path
    python: Path

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run one job; see `benchmarks.efficientdirect_peer`."""
        done = subprocess.run(
            [self.python, RUNNER, self.directory],
            input=json.dumps(job),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def schedule(self, topology: Topology) -> dict[str, Any]:
        """Solve the linear programs of a topology, whose nodes are numbered by position."""
        links = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
        if len(links) != len(set(links)):
            raise ValueError("the peer's graphs have no parallel links")
        return self.ask({"nodes": topology.node_count, "links": links})


def same_loads(topology: Topology, answer: dict[str, Any]) -> bool:
    """Return whether the peer solved every program and found exactly our loads.

    A largest load is a number of shards over a number of links, at most d.
    """
    degree = int(topology.in_degrees.max())
    theirs = [Fraction(load).limit_denominator(degree) for load in answer["loads"]]
    close = all(
        abs(Fraction(load) - exact) < SOLVER_TOLERANCE
        for load, exact in zip(answer["loads"], theirs, strict=True)
    )
    programs = sum(len(step_loads(topology, [node])) for node in range(topology.node_count))
    return close and tuple(theirs) == step_loads(topology) and answer["programs"] == programs


def measuring(peer: Peer, cases: tuple[Case, ...], repeat: int) -> None:
    print(
        f"{'graph':<36}{'N':>5}{'measure ms':>12}{'schedule ms':>13}{'programs':>10}"
        f"{'peer s':>9}{'solver s':>10}{'/measure':>10}{'/schedule':>11}  same  steps, bandwidth"
    )
    for case in cases:
        topology = build(parse(case.recipe))
        measure(topology)
        bfb.allgather(topology)
        ours = timed(lambda topology=topology: measure(topology), repeat)
        made = timed(lambda topology=topology: bfb.allgather(topology), repeat)
        answer = peer.schedule(topology)
        same = same_loads(topology, answer)
        seconds, inside = answer["seconds"], answer["solver_seconds"]
        print(
            f"{case.recipe:<36}{topology.node_count:>5}{1000 * ours.median:>12.3f}"
            f"{1000 * made.median:>13.3f}{answer['programs']:>10,}{seconds:>9.2f}{inside:>10.2f}"
            f"{seconds / ours.median:>10,.0f}{seconds / made.median:>11,.0f}"
            f"  {'yes' if same else 'NO':>4}  {ours.result.steps}, {ours.result.bandwidth}",
            flush=True,
        )
        if not same:
            sys.exit(f"{case.recipe}: closed form and linear programs disagree")


def finding(peer: Peer, largest: int) -> None:
    """Compare both frontiers at every size; the peer's figures are claims, not measured."""
    answer = peer.ask({"largest": [largest, max(DEGREES)]})
    print(
        f"\nfinder up to {largest} nodes, degrees 1 to {max(DEGREES)}: peer "
        f"{answer['seconds']:.2f} s, by formulas; ours builds and measures every point"
    )
    print(
        f"{'degree':>6}{'sizes':>7}{'ours s':>8}{'same':>7}{'ours':>7}{'peer':>7}{'each':>7}"
        f"{'points':>8}{'beaten':>8}{'met':>6}{'missed':>8}"
    )
    for degree in DEGREES:
        rows = [row for row in answer["table"] if row["degree"] == degree and row["nodes"] > degree]
        compare(degree, rows)


def compare(degree: int, rows: list[dict[str, Any]]) -> None:
    """Print one line of the second table, and the peer's points that ours miss."""
    sizes: Counter[str] = Counter()
    standings: Counter[str] = Counter()
    missed: list[str] = []
    seconds = 0.0
    for row in rows:
        start = time.perf_counter()
        ours = [point.cost for point in frontier(row["nodes"], degree, schedule="bfb").points]
        seconds += time.perf_counter() - start
        theirs = [as_cost(steps, bandwidth) for _, steps, bandwidth in row["points"]]
        sizes[verdict(ours, theirs)] += 1
        for (name, *_), cost in zip(row["points"], theirs, strict=True):
            standings[standing(ours, cost)] += 1
            if not covers(ours, [cost]):
                missed.append(f"  N = {row['nodes']}: {cost.steps}, {cost.bandwidth} by {name}")
    print(
        f"{degree:>6}{len(rows):>7}{seconds:>8.1f}"
        + "".join(f"{sizes[name]:>7}" for name in ("same", "ours", "peer", "each"))
        + f"{standings.total():>8}{standings['beaten']:>8}"
        + f"{standings['met']:>6}{standings['missed']:>8}",
        *missed,
        sep="\n",
    )


def as_cost(steps: int, bandwidth: float) -> Cost:
    """Return the peer's cost as fractions; its denominators stay far below a million."""
    return Cost(steps, Fraction(bandwidth).limit_denominator(10**6))


def covers(ours: list[Cost], theirs: list[Cost]) -> bool:
    """Return whether one of ours matches or beats each of theirs in both figures."""
    return all(
        any(our.steps <= cost.steps and our.bandwidth <= cost.bandwidth for our in ours)
        for cost in theirs
    )


def verdict(ours: list[Cost], theirs: list[Cost]) -> str:
    """Return the side that has points out of the other's reach.

    >>> one, two = Cost(2, Fraction(3, 2)), Cost(3, Fraction(1))
    >>> verdict([one, two], [two]), verdict([one], [two])
    ('ours', 'each')
    """
    return {
        (True, True): "same",
        (True, False): "ours",
        (False, True): "peer",
        (False, False): "each",
    }[covers(ours, theirs), covers(theirs, ours)]


def standing(ours: list[Cost], cost: Cost) -> str:
    """Return whether ours beat, exactly meet, or miss a point of the peer.

    >>> standing([Cost(2, Fraction(1))], Cost(3, Fraction(1)))
    'beaten'
    """
    if not covers(ours, [cost]):
        return "missed"
    return "met" if covers([cost], [our for our in ours if covers([our], [cost])]) else "beaten"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peer-dir", type=Path, required=True, help="checkout of YouWin744/EfficientDirect"
    )
    parser.add_argument(
        "--peer-python", type=Path, default=Path(sys.executable), help="has cvxpy and pyscipopt"
    )
    parser.add_argument("--quick", action="store_true", help="leave out slow cases of the peer")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--largest", type=int, default=256, help="nodes, for the finder")
    options = parser.parse_args()
    peer = Peer(options.peer_dir, options.peer_python)
    limit = QUICK_PEER_SECONDS if options.quick else float("inf")
    measuring(peer, tuple(c for c in CASES if c.peer_seconds <= limit), options.repeat)
    finding(peer, options.largest)


if __name__ == "__main__":
    main()
