"""Effect of the order of nodes and links on every named fabric: rate, trees, height and time.

    python -m benchmarks.bench_orders [--only dgx] [--shuffles 3] [--repeats 3]
                                      [--collectives allreduce reduce]

A fabric, whole and with its first link lost, is listed in its maker's order, and shuffled.  The
collectives are allgather, reduce-scatter and allreduce by default; the first rank of the listed
order is the root of a broadcast or reduce.  Orders are computed by turns, ``--repeats`` times, and
the least processor time counts.  *alike*: every order has the same optimum, trees per root and
height, and a schedule that the verifier accepts at that rate.  *worst*: the longest time of a
shuffled order over the time of the listed order.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.bench_faults import FABRICS, faults
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, Schedule, TreeSchedule, schedule_parts
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import SynthError
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

LARGE = (
    *("dgx-a100-128", "dgx-h100-32", "mi250-16", "mi250-64", "mi300x-32", "ndv2-16", "ndv2-32"),
    *("gb200-nvl72-8", "fat-tree-8"),
)
COLLECTIVES = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)


@dataclass(frozen=True)
class Made:
    """A collective of a fabric in one order, and its least processor seconds."""

    inverse_rate: Fraction
    trees_per_root: int
    height: int
    seconds: float

    @property
    def shape(self) -> tuple[Fraction, int, int]:
        """Figures that must be equal in every order."""
        return self.inverse_rate, self.trees_per_root, self.height


def shuffled(topology: Topology, rng: random.Random) -> Topology:
    """Return the topology with its nodes and links in another order."""
    nodes, links = list(topology.nodes), list(topology.links)
    rng.shuffle(nodes)
    rng.shuffle(links)
    return Topology(
        nodes,
        links,
        switches=topology.switches,
        multicast=topology.multicast,
        shared=topology.shared,
        bandwidth_unit=topology.bandwidth_unit,
    )


def made(orders: Sequence[Topology], collective: Collective, repeats: int) -> list[Made]:
    """Make, check and time a collective of a fabric in several orders, by turns."""
    root = orders[0].compute_nodes[0] if collective.has_root else None
    schedules: list[Schedule] = []
    seconds: list[list[float]] = [[] for _ in orders]
    for _ in range(repeats):
        schedules.clear()
        for times, topology in zip(seconds, orders, strict=True):
            start = time.process_time()
            schedules.append(make(topology, collective, "forestcoll", root=root))
            times.append(time.process_time() - start)
    found = []
    for schedule, topology, times in zip(schedules, orders, seconds, strict=True):
        wrong = violations(schedule, topology)
        if wrong:
            raise AssertionError(f"{topology.name}: {wrong[0]}")
        rate, parts = tree_inverse_rate(schedule, topology), schedule_parts(schedule)
        trees = max(part.trees_per_root for part in parts if isinstance(part, TreeSchedule))
        height = max(tree_depth(part) for part in parts if isinstance(part, TreeSchedule))
        found.append(Made(rate, trees, height, min(times)))
    return found


def cases(only: str) -> Iterator[tuple[str, Topology]]:
    """Yield every fabric whole and, for ordinary sizes, also without its first link."""
    for name in (*FABRICS, *LARGE):
        if only not in name:
            continue
        topology = fabric(name)
        yield name, topology
        if name in FABRICS:
            lost, other = next(case for case in faults(topology) if case[0] != "none")
            yield f"{name} without {lost}", other


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="fabrics whose name contains this")
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--collectives", type=Collective.of, nargs="+", default=list(COLLECTIVES))
    asked = parser.parse_args()
    print(
        "| fabric | collective | ranks | trees per root | height | listed, ms | shuffled, ms "
        "| worst | alike |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for label, topology in cases(asked.only):
        for collective in asked.collectives:
            rng = random.Random(label)
            try:
                listed, *others = made(
                    [topology, *(shuffled(topology, rng) for _ in range(asked.shuffles))],
                    collective,
                    asked.repeats,
                )
            except (ScheduleError, SynthError):
                continue  # A rank is cut off: there is no schedule in any order.
            print(
                f"| `{label}` | {collective.value} | {_row(topology, listed, others)} |", flush=True
            )


def _row(topology: Topology, listed: Made, others: Sequence[Made]) -> str:
    times = " ".join(f"{1000 * other.seconds:.1f}" for other in others)
    worst = max(other.seconds for other in others) / listed.seconds
    alike = "yes" if {other.shape for other in others} == {listed.shape} else "no"
    shape = f"{len(topology.compute_nodes)} | {listed.trees_per_root} | {listed.height}"
    return f"{shape} | {1000 * listed.seconds:.1f} | {times} | {worst:.2f} | {alike}"


if __name__ == "__main__":
    main()
