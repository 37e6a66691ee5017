"""Time the simulator: messages from a schedule, then events per second.

    python -m benchmarks.bench_simulator [--repeat N]

Each line: pieces of messages and hops, transmissions of a piece on a link (events), the median and
best time in ms of reading the schedule as messages and of running them, events per second of the
best run, and the simulated time.  Kernels are compiled before.
"""

import argparse
from collections.abc import Callable
from fractions import Fraction

from benchmarks.timing import timed
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.simulate import Network
from topoloom.schedules.simulate.messages import messages_of
from topoloom.schedules.simulate.run_messages import run_messages
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

HOSTS = Network(Fraction(10, 10**6), Fraction(25 * 10**9, 8))
FABRIC = Network(Fraction(10, 10**6), Fraction(10**9))

CASES: tuple[tuple[str, str, int, bool], ...] = (
    ("LineGraph(3, Circulant(16, 3, 4))", "bfb", 1, True),
    ("LineGraph(3, Circulant(16, 3, 4))", "bfb", 1, False),
    ("LineGraph(3, Circulant(16, 3, 4))", "bfb", 16, False),
    ("Hypercube(10)", "bfb", 1, True),
    ("Hypercube(10)", "bfb", 1, False),
    ("Torus(16, 16)", "forestcoll", 64, True),
    ("Torus(16, 16)", "forestcoll", 64, False),
    ("dgx-a100-16", "forestcoll", 64, True),
    ("dgx-a100-16", "forestcoll", 64, False),
    ("dgx-h100-4", "forestcoll", 64, False),
)
"""Topology, algorithm, pieces of each message, whether all wait for each other."""


def topology_of(name: str) -> Topology:
    return build(parse(name)) if "(" in name else fabric(name)


def bench(name: str, algorithm: str, chunks: int, synchronous: bool, repeat: int) -> str:
    topology = topology_of(name)
    network = FABRIC if topology.bandwidth_unit == "GB/s" else HOSTS
    schedule = make(topology, "allgather", algorithm)
    read: Callable = lambda: messages_of(schedule, topology)  # noqa: E731
    read()
    reading = timed(read, repeat)
    messages = reading.result
    run_messages(messages, network, 2**20, 1, synchronous)
    running = timed(lambda: run_messages(messages, network, 2**28, chunks, synchronous), repeat)
    found = running.result
    rate = found.events / running.best / 10**6
    mode = "sync" if synchronous else "async"
    return (
        f"{name:<36}{chunks:>7}{mode:>7}{found.messages:>12,}{found.events:>12,}"
        f"{reading}{running}{rate:>10.1f}{1000 * float(found.seconds):>12.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print(
        f"{'allgather of 256 MiB':<36}{'pieces':>7}{'':>7}{'messages':>12}{'events':>12}"
        f"{'read ms':>11}{'best':>11}{'run ms':>11}{'best':>11}{'M/s':>10}{'result ms':>12}"
    )
    for case in CASES:
        print(bench(*case, repeat), flush=True)


if __name__ == "__main__":
    main()
