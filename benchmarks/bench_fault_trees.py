"""Trees, heights and seconds of the schedules of named fabrics with every kind of single fault.

    python -m benchmarks.bench_fault_trees [FABRIC ...] [--collectives allreduce allgather]

Of each kind of link, one is lost, lost in one direction, and at a quarter of its rate; of each kind
of node, one is lost.  *gap* is the excess over the time of the optimum, in percent.  A fault that
cuts off a rank has no schedule, and no row.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.bench_faults import one_way
from topoloom.schedules.compare.compare_algorithms import large_message_rate
from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, TreeSchedule, schedule_parts
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.optimum.single_faults import fault_kinds
from topoloom.schedules.options import Options
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.verify import violations
from topoloom.synth.errors import SynthError, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Topology

FABRICS = (
    *("dgx-1v", "ndv2-2", "ndv2-3", "dgx-2", "dgx-a100-2", "dgx-a100-3", "dgx-a100-4"),
    *("dgx-h100-2", "dgx-h100-3", "dgx-h100-4", "dgx-h100-sharp-2", "gh200-nvl32"),
    *("gb200-nvl72", "gb200-nvl72-sharp", "mi250-1", "mi250-2", "mi300x", "mi300x-2"),
    *("mi300x-3", "mi300x-4", "tpu-v4-4x4x4", "tpu-v5e-4x4", "trainium2"),
    *("trainium2-ultra", "rail-4-8", "rail-only-4-8", "fat-tree-4"),
)


@dataclass(frozen=True)
class FaultTrees:
    """The trees per root and the heights of the parts of a schedule; ``gap`` is a share."""

    trees: tuple[int, ...]
    heights: tuple[int, ...]
    gap: Fraction
    seconds: float


def single_faults(topology: Topology) -> Iterator[tuple[str, Topology]]:
    """Yield the fabric with one fault of every kind, each with its description."""
    for kind in fault_kinds(topology):
        if kind.part != "link":
            yield f"node {kind.lost[0]}", degraded(topology, without_nodes=kind.lost)
            continue
        one, other = kind.lost
        yield f"{one}-{other}", degraded(topology, without_links=[(one, other)])
        yield f"{one}->{other}", one_way(topology, one, other)
        yield f"{other}->{one}", one_way(topology, other, one)
        quarter = degraded(topology, slow_links=[(one, other, Fraction(1, 4))])
        yield f"{one}-{other} at 1/4", quarter


def measured(topology: Topology, collective: Collective) -> FaultTrees:
    """Return the figures of a forestcoll schedule, verified; seconds are of the processor.

    Raises:
        ScheduleError, SynthError: There is no schedule.
    """
    root = topology.compute_nodes[0] if collective.has_root else None
    start = time.process_time()
    schedule = make(topology, collective, "forestcoll", root=root)
    seconds = time.process_time() - start
    if wrong := violations(schedule, topology):
        raise AssertionError(f"{topology.name}: {wrong[0]}")
    best = collective_optimum(topology, collective, Options(root=root))
    parts = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    gap = best.algbw / large_message_rate(schedule, topology) - 1
    if gap < 0:
        raise AssertionError(f"{topology.name}: faster than the optimum by {-gap}")
    return FaultTrees(
        tuple(part.trees_per_root for part in parts),
        tuple(map(tree_depth, parts)),
        gap,
        seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("fabrics", nargs="*", default=list(FABRICS))
    parser.add_argument(
        "--collectives", type=Collective.of, nargs="+", default=[Collective.ALLREDUCE]
    )
    asked = parser.parse_args()
    print("| fabric | fault | collective | trees per root | height | gap, % | s |")
    print("|---|---|---|---|---|---|---|")
    for name in asked.fabrics:
        for fault, topology in single_faults(fabric(name)):
            for collective in asked.collectives:
                try:
                    found = measured(topology, collective)
                except Unreachable:
                    continue
                except (ScheduleError, SynthError) as error:
                    print(f"| `{name}` | {fault} | {collective.value} | {error} | | | |")
                    continue
                trees, heights = (" ".join(map(str, of)) for of in (found.trees, found.heights))
                print(
                    f"| `{name}` | {fault} | {collective.value} | {trees} | {heights} |"
                    f" {100 * float(found.gap):.3f} | {found.seconds:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
