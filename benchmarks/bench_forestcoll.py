"""Time ForestColl forests, optionally beside the authors' public program.

    python benchmarks/bench_forestcoll.py
    git clone https://github.com/liangyuRain/ForestColl /tmp/forestcoll
    python benchmarks/bench_forestcoll.py --peer-dir /tmp/forestcoll [--quick] [--large]

Each line: our processor seconds (median of --repeat runs after a warm-up, and of as many after the
peer's run), the peer's (one run), their ratio, whether both find the same optimum, and the trees
and greatest height (in hops between compute nodes) of both.  Both get the same network: capacities,
nodes and switches come from our topology.  Garbage is collected as seldom as `topoloom` does.
"""

import argparse
import gc
import importlib
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np

from topoloom.app.cli import YOUNG_OBJECTS
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True)
class Case:
    """A network, the requested trees per root, and the approximate seconds of the peer."""

    name: str
    make: Callable[[], Topology]
    trees_per_root: int | None = None
    peer_seconds: float | None = None
    large: bool = False


def torus(*sides: int) -> Topology:
    places = np.array(list(product(*map(range, sides))))
    strides = np.cumprod([1, *sides[:0:-1]])[::-1]
    sources, targets = [], []
    for axis, side in enumerate(sides):
        for step in (1, -1):
            moved = places.copy()
            moved[:, axis] = (moved[:, axis] + step) % side
            sources.append(places @ strides)
            targets.append(moved @ strides)
    return Topology.direct(len(places), np.concatenate(sources), np.concatenate(targets))


def generalized_kautz(degree: int, nodes: int) -> Topology:
    """Return the links i -> -(degree * i + a) mod nodes, a = 1..degree, without self-loops."""
    source = np.repeat(np.arange(nodes), degree)
    target = (-degree * source - np.tile(np.arange(1, degree + 1), nodes)) % nodes
    return Topology.direct(nodes, source[source != target], target[source != target])


def uneven_racks(gpus: int, seed: int = 0, speed: int = 1) -> Topology:
    """Return racks of 8 to 48 GPUs below a leaf each, with a spine per 128 GPUs and at least four.

    A GPU has ``speed`` links of 400 Gb/s to its leaf.  The number of links from a leaf to each
    spine makes the leaf 1, 1.5, 2 or 4 times oversubscribed at speed 1.  The seed draws sizes and
    ratios.
    """
    rng = random.Random(seed)
    sizes = [rng.randint(8, 48)]
    while sum(sizes) < gpus:
        sizes.append(rng.randint(8, 48))
    sizes[-1] -= sum(sizes) - gpus
    spines = [f"spine{number}" for number in range(max(4, gpus // 128))]
    cables: list[tuple[str, str, int]] = []
    for rack, size in enumerate(sizes):
        leaf, ratio = f"leaf{rack}", rng.choice((1, 1.5, 2, 4))
        cables += [(f"{rack}.gpu{number}", leaf, 400 * speed) for number in range(size)]
        links = max(1, round(size / ratio / len(spines)))
        cables += [(leaf, spine, 400 * links) for spine in spines]
    switches = [f"leaf{rack}" for rack in range(len(sizes))] + spines
    computes = list(dict.fromkeys(source for source, _, _ in cables if "gpu" in source))
    both = [link for s, t, c in cables for link in ((s, t, c), (t, s, c))]
    return Topology([*computes, *switches], both, switches=switches)


CAYLEY = "Cayley(64, 35, 16, 64, 182, 815, 1023)"
CASES = (
    Case("dgx-a100-1", lambda: fabric("dgx-a100-1"), None, 1),
    Case("dgx-a100-2", lambda: fabric("dgx-a100-2"), None, 6),
    Case("dgx-a100-2", lambda: fabric("dgx-a100-2"), 1, 5),
    Case("dgx-a100-4", lambda: fabric("dgx-a100-4"), 1, 60),
    Case("dgx-a100-16", lambda: fabric("dgx-a100-16"), 1),
    Case("dgx-h100-4", lambda: fabric("dgx-h100-4")),
    Case("mi250-1", lambda: fabric("mi250-1"), None, 1),
    Case("mi250-2", lambda: fabric("mi250-2"), None, 70),
    Case("torus 4x4", lambda: torus(4, 4), None, 0.5),
    Case("torus 4x4x4", lambda: torus(4, 4, 4), None, 60),
    Case("torus 8x8", lambda: torus(8, 8), None, 96),
    Case("torus 16x16", lambda: torus(16, 16)),
    Case("Kautz(4,320)", lambda: generalized_kautz(4, 320)),
    Case("torus 32x32", lambda: torus(32, 32), large=True),
    Case("Cayley 1024", lambda: build(parse(CAYLEY)), large=True),
    Case("dgx-a100-128", lambda: fabric("dgx-a100-128"), large=True),
    Case("racks 256", lambda: uneven_racks(256)),
    Case("racks 512", lambda: uneven_racks(512)),
    Case("racks 1024", lambda: uneven_racks(1024), large=True),
    Case("racks 1024 x9", lambda: uneven_racks(1024, speed=9), large=True),
    Case("Kautz(4,1280)", lambda: generalized_kautz(4, 1280), large=True),
)

QUICK_PEER_SECONDS = 10


@dataclass(frozen=True)
class Result:
    """Seconds, optimum and trees of one program."""

    seconds: float
    inverse_rate: Fraction
    trees: int
    height: int
    times: tuple[float, ...] = ()


def run_ours(case: Case, repeat: int) -> Result:
    topology = case.make()
    times, schedule = [], None
    if not case.large:
        allgather(topology, case.trees_per_root)
    for _ in range(repeat):
        start = time.process_time()
        schedule = allgather(topology, case.trees_per_root)
        times.append(time.process_time() - start)
    assert schedule is not None
    height = max(
        height_of(tree.root, [(path[0], path[-1]) for path in tree.edges])
        for tree in schedule.trees
    )
    rate = optimum(topology, case.trees_per_root).inverse_rate
    return Result(statistics.median(times), rate, len(schedule.trees), height, tuple(times))


def run_peer(case: Case, peer: ModuleType) -> Result:
    topology = case.make()
    # Sortable labels of one type, since the peer sorts nodes.
    graph: nx.DiGraph[int] = nx.DiGraph()
    for source, target, capacity in topology.links:
        ends = topology.position[source], topology.position[target]
        room = graph.get_edge_data(*ends, {"capacity": 0})["capacity"]
        graph.add_edge(*ends, capacity=room + capacity)
    computes = [topology.position[node] for node in topology.compute_nodes]
    start = time.process_time()
    (scale, trees_per_root), (trees, _) = peer.optimal_pipeline_spanning_trees(
        graph, compute_nodes=computes, fixed_K=case.trees_per_root
    )
    seconds = time.process_time() - start
    height = max(
        height_of(root, [(path[0][0], path[-1][1]) for path in paths])
        for (root, _), paths in trees.items()
    )
    # The peer's scale is a float; the optimum's denominators here are far below a million.
    rate = (Fraction(scale) / trees_per_root).limit_denominator(10**6)
    return Result(seconds, rate, len(trees), height)


def height_of(root: Any, edges: Iterable[tuple[Any, Any]]) -> int:
    graph = nx.DiGraph(list(edges))
    return max(nx.single_source_shortest_path_length(graph, root).values())


def load_peer(directory: Path) -> ModuleType:
    sys.path.insert(0, str(directory))
    return importlib.import_module("pipeline_allgather")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-dir", type=Path, help="checkout of liangyuRain/ForestColl")
    parser.add_argument("--quick", action="store_true", help="leave out slow cases of the peer")
    parser.add_argument("--large", action="store_true", help="cases of 1024 nodes and more, once")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    peer = load_peer(options.peer_dir) if options.peer_dir else None
    gc.set_threshold(YOUNG_OBJECTS)
    start = time.process_time()
    allgather(fabric("dgx-a100-2"))
    print(f"first call, compiling or loading kernels: {time.process_time() - start:.2f} s")
    print(
        f"{'case':<14}{'k':>5}{'ours s':>10}{'peer s':>10}{'ratio':>8}  agree"
        f"{'trees':>8}{'peer':>6}{'height':>8}{'peer':>6}"
    )
    for case in CASES:
        if options.only not in case.name or (case.large and not options.large):
            continue
        ours = run_ours(case, 1 if case.large else options.repeat)
        trees_per_root = optimum(case.make(), case.trees_per_root).trees_per_root
        line = f"{case.name:<14}{trees_per_root:>5}"
        limit = QUICK_PEER_SECONDS if options.quick else float("inf")
        if peer is None or case.peer_seconds is None or case.peer_seconds > limit:
            print(
                f"{line}{ours.seconds:>10.4f}{'':>25}{ours.trees:>8}{'':>6}{ours.height:>8}",
                flush=True,
            )
            continue
        theirs = run_peer(case, peer)
        if not case.large:
            # The machine's speed changes within a minute: ours runs before and after theirs.
            times = [*ours.times, *run_ours(case, options.repeat).times]
            ours = replace(ours, seconds=statistics.median(times))
        agree = "yes" if theirs.inverse_rate == ours.inverse_rate else "NO"
        print(
            f"{line}{ours.seconds:>10.4f}{theirs.seconds:>10.2f}"
            f"{theirs.seconds / ours.seconds:>8.0f}  {agree:>5}"
            f"{ours.trees:>8}{theirs.trees:>6}{ours.height:>8}{theirs.height:>6}",
            flush=True,
        )
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
