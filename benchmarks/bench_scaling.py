"""Growth of ForestColl's time and memory with the number of compute nodes.

    python -m benchmarks.bench_scaling [--most 256] [--only kautz] [--plot scaling.svg]

Every point is its own process, which first makes the forest of the smallest member, so that kernels
are compiled, and then the forest of the point once.  *exponent*: slope of the processor seconds
over the nodes, both logarithmic, least squares over the points of 20 ms and more.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_forestcoll import generalized_kautz, torus, uneven_racks
from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.trees import forestcoll
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import tree_capacities
from topoloom.schedules.trees.packing.spanning_trees import pack
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.search.frontier import frontier
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True)
class Family:
    """Topologies by size; ``compute`` is the number of compute nodes per unit of size."""

    label: str
    make: Callable[[int], Topology]
    sizes: tuple[int, ...]
    gap: Fraction | None = None
    general: bool = False


def balanced(nodes: int) -> Topology:
    """Return the topology of degree 4 with optimal bandwidth and the fewest steps known."""
    return build(frontier(nodes, 4, schedule="bfb").points[-1].recipe)


FAMILIES = {
    "frontier": Family("best of degree 4", balanced, (64, 128, 256, 512, 1024, 2048)),
    "torus": Family("L x L torus", lambda side: torus(side, side), (8, 12, 16, 24, 32, 45)),
    "torus-packed": Family(
        "L x L torus, packed", lambda side: torus(side, side), (8, 12, 16, 24, 32), general=True
    ),
    "kautz": Family(
        "generalized Kautz, degree 4, packed",
        lambda nodes: generalized_kautz(4, nodes),
        (80, 160, 320, 640, 1280),
        general=True,
    ),
    "racks": Family("racks of 8 to 48 GPUs", uneven_racks, (64, 128, 256, 512, 1024, 2048)),
    "racks-fast": Family(
        "racks of 8 to 48 GPUs with 9 links each",
        lambda gpus: uneven_racks(gpus, speed=9),
        (64, 128, 256, 512, 1024, 2048),
    ),
    "a100": Family(
        "DGX A100 boxes", lambda n: fabric(f"dgx-a100-{n}"), (2, 4, 8, 16, 32, 64, 128, 512)
    ),
    "h100": Family(
        "DGX H100 boxes, within 1 %",
        lambda n: fabric(f"dgx-h100-{n}"),
        (2, 4, 8, 16, 32, 64, 128),
        gap=Fraction(1, 100),
    ),
    "mi250": Family(
        "MI250 boxes, within 1 %",
        lambda n: fabric(f"mi250-{n}"),
        (2, 4, 8, 16, 32, 64, 256),
        gap=Fraction(1, 100),
    ),
}


def measured(family: Family, size: int) -> dict[str, Any]:
    """Return seconds, trees and memory of one point; kernels are warm."""
    _made(family, family.make(family.sizes[0]))
    topology = family.make(size)
    start = time.process_time()
    best = forestcoll.optimum(topology)
    optimum_seconds = time.process_time() - start
    start = time.process_time()
    forest = _made(family, topology)
    return {
        "ranks": len(topology.compute_nodes),
        "optimum": optimum_seconds,
        "forest": time.process_time() - start,
        "trees_per_root": best.trees_per_root,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    } | _facts(forest)


def _made(family: Family, topology: Topology) -> TreeSchedule | int:
    """Return the forest, or the number of packed trees."""
    if not family.general:
        return forestcoll.allgather(topology, max_gap=family.gap)
    network = network_of(topology, demand_of(topology))
    best = forestcoll.optimum(topology)
    trees = np.full(network.node_count, best.trees_per_root)
    room = tree_capacities(network, network.unit / best.unit_bandwidth, best.trees_per_root)
    return len(pack(network.node_count, network.tail, network.head, room, trees))


def _facts(forest: TreeSchedule | int) -> dict[str, Any]:
    if isinstance(forest, int):
        return {"trees": forest}
    return {
        "trees_per_root": forest.trees_per_root,
        "trees": len(forest.trees),
        "height": tree_depth(forest),
    }


def exponent(points: list[dict[str, Any]]) -> float | None:
    """Return the slope of log seconds over log ranks; None with fewer than three points."""
    slow = [(point["ranks"], point["forest"]) for point in points if point["forest"] >= 0.02]
    if len(slow) < 3:
        return None
    ranks, seconds = np.log(np.array(slow)).T
    return float(np.polyfit(ranks, seconds, 1)[0])


def plot(found: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw seconds over ranks, both logarithmic; needs the extra ``plots``."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "topoloom", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        for marker, (name, points) in zip("osD^vPX<>", found.items(), strict=False):
            ranks, seconds = [p["ranks"] for p in points], [p["forest"] for p in points]
            slope = exponent(points)
            label = FAMILIES[name].label + (f": N^{slope:.1f}" if slope else "")
            axes.loglog(ranks, seconds, marker=marker, markersize=4, linewidth=1, label=label)
        axes.set_xlabel("compute nodes")
        axes.set_ylabel("seconds for a complete forest")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--most", type=int, default=2048, help="at most so many compute nodes")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", nargs=2, metavar=("FAMILY", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, size = options.one
        print(json.dumps(measured(FAMILIES[name], int(size))))
        return
    print(f"{'family':<14}{'ranks':>6}{'k':>4}{'optimum s':>11}{'forest s':>10}", end="")
    print(f"{'trees':>7}{'height':>8}{'MiB':>7}")
    found: dict[str, list[dict[str, Any]]] = {}
    for name, family in FAMILIES.items():
        if options.only not in name:
            continue
        points = found.setdefault(name, [])
        for size in family.sizes:
            if len(family.make(size).compute_nodes) > options.most:
                continue
            point = _apart(name, size)
            points.append(point)
            print(
                f"{name:<14}{point['ranks']:>6}{point['trees_per_root']:>4}"
                f"{point['optimum']:>11.4f}{point['forest']:>10.4f}{point['trees']:>7}"
                f"{point.get('height', ''):>8}{point['mib']:>7}",
                flush=True,
            )
        slope = exponent(points)
        if slope is not None:
            print(f"{name:<14}seconds grow as N^{slope:.2f}")
    if options.plot:
        plot(found, options.plot)


def _apart(name: str, size: int) -> dict[str, Any]:
    """Measure a point in its own process, for its memory."""
    command = [sys.executable, "-m", "benchmarks.bench_scaling", "--one", name, str(size)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
