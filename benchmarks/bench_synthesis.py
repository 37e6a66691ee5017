"""Time measurement, search, discovery, wiring, and whole requests.

    python -m benchmarks.bench_synthesis

Kernels are warm; milliseconds of the median and of the best of --repeat runs.  The rows
"as linear programs" solve the problem of `measure`, which has a closed form, as one program for
every destination and step with SciPy's HiGHS, and compare the result.
"""

import argparse
import sys
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from benchmarks.timing import timed
from topoloom.app.config import Settings
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.services import designs, frontiers
from topoloom.app.services.open_context import open_context
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.verify import require_valid
from topoloom.synth.algebra.group_extensions import Metacyclic
from topoloom.synth.discovery.anneal import anneal
from topoloom.synth.discovery.initial_lift import start
from topoloom.synth.discovery.lift_cost import MAX_STEPS, memory
from topoloom.synth.discovery.selected_elements import Selection, select
from topoloom.synth.discovery.short_search import sampled
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.evaluation.measure import measure, step_loads
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import Frontier, frontier
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Layout, assign_ports, smallest_plant

MEASURED = (
    "GeneralizedKautz(4, 1024)",
    "LineGraph(3, Circulant(16, 3, 4))",
    "LineGraph(3, CompleteBipartite(4))",
    "Power(2, Product(UniRing(4), UniRing(8)))",
    "Hypercube(10)",
    "Torus(50, 50)",
    "GeneralizedKautz(16, 4096)",
)
SOLVED = ("GeneralizedKautz(4, 128)", "Torus(6, 6)", "Hypercube(6)")
SEARCHED = tuple(
    (nodes, degree, links)
    for nodes in (12, 64, 256, 999, 1000, 1024, 2520, 4096)
    for degree in (2, 4, 8, 16)
    for links in Links
    if degree < nodes
)


def title(text: str, result: str) -> None:
    print(f"\n{text:<58}{'median ms':>11}{'best ms':>11}  {result}")


def measuring(repeat: int) -> None:
    title("measure, all destinations", "steps, bandwidth")
    for text in MEASURED:
        topology = build(parse(text))
        measure(topology)
        found = timed(lambda topology=topology: measure(topology), repeat)
        print(f"{text:<58}{found}  {found.result.steps}, {found.result.bandwidth}")


def solving() -> None:
    title("measure, beside the same figures as linear programs", "ratio")
    for text in SOLVED:
        topology = build(parse(text))
        step_loads(topology)
        ours = timed(lambda topology=topology: step_loads(topology), 9)
        theirs = timed(lambda topology=topology: loads_by_linear_programs(topology), 1)
        agree = np.allclose([float(load) for load in ours.result], theirs.result)
        if not agree:
            sys.exit(f"{text}: closed form and linear programs disagree")
        print(f"{text:<58}{ours}")
        print(f"{'  as linear programs':<58}{theirs}  {theirs.median / ours.median:,.0f}")


def loads_by_linear_programs(topology: Topology) -> list[float]:
    """Return the least largest load of each step, as the maximum over destinations."""
    graph = nx.DiGraph(list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)))
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    loads: dict[int, float] = {}
    for goal in range(topology.node_count):
        into = np.flatnonzero(topology.targets == goal)
        before = topology.sources[into].tolist()
        by_step: dict[int, list[int]] = {}
        for node in range(topology.node_count):
            by_step.setdefault(distance[node][goal], []).append(node)
        for step, nodes in by_step.items():
            if step:
                ways = [
                    (row, link)
                    for row, node in enumerate(nodes)
                    for link, last in enumerate(before)
                    if distance[node][last] == step - 1
                ]
                load = least_largest_load(ways, len(nodes), len(into))
                loads[step] = max(load, loads.get(step, 0))
    return [loads[step] for step in sorted(loads)]


def least_largest_load(ways: list[tuple[int, int]], shards: int, links: int) -> float:
    rows, columns = np.array(ways).T
    count = len(ways)
    ones, place = np.ones(count), np.arange(count)
    once = coo_array((ones, (rows, place)), shape=(shards, count + 1))
    values = np.concatenate([ones, -np.ones(links)])
    at = np.concatenate([columns, np.arange(links)]), np.r_[place, np.full(links, count)]
    within = coo_array((values, at), shape=(links, count + 1))
    cost = np.r_[np.zeros(count), 1.0]
    solved = linprog(cost, A_ub=within, b_ub=np.zeros(links), A_eq=once, b_eq=np.ones(shards))
    return float(solved.fun)


def searching(repeat: int) -> None:
    title("frontier, nothing cached", "points: steps, bandwidth")
    for nodes, degree, links in SEARCHED:
        frontier(6, degree, links, parallel_links=True)
        found = timed(lambda n=nodes, d=degree, k=links: searched(n, d, k), repeat)
        points = "; ".join(f"{p.cost.steps}, {p.cost.bandwidth}" for p in found.result.points)
        print(f"{f'{nodes} hosts, degree {degree}, {links}':<58}{found}  {points}")


def searched(nodes: int, degree: int, links: Links) -> Frontier:
    sampled.cache_clear()
    return frontier(nodes, degree, links, schedule="bfb")


def discovering(repeat: int) -> None:
    title("Cayley digraphs evaluated, both directions, one core", "graphs per second")
    for nodes, degree in ((128, 4), (1024, 2), (1024, 4), (1024, 8), (4096, 4)):
        rng = np.random.default_rng(1)
        group = Metacyclic(nodes // 8, 1, 8)
        selection = select(group, rng)
        begun = start(1, degree, False, selection, rng)
        assert begun is not None
        tries = 200_000 // nodes * 10
        walk = partial(random_walk, begun, selection, nodes, degree, tries)
        walk()
        evaluated = timed(walk, repeat)
        rate = evaluated.result / evaluated.median
        print(f"{f'{nodes} nodes, degree {degree}':<58}{evaluated}  {rate:,.0f}")


def random_walk(begun: Any, selection: Selection, nodes: int, degree: int, tries: int) -> int:
    """Evaluate random generators, each of which is accepted; return their number."""
    head, shift, partner = (array.copy() for array in begun)
    best = np.full(MAX_STEPS, 2**62)
    best_head, best_shift = np.zeros((2, MAX_STEPS, degree), np.int64)
    return anneal(
        head, shift, partner, selection.involutions, selection.product, selection.inverse,
        5, tries, 1e9, 1, memory(nodes, 1, degree), best, best_head, best_shift,
    )  # fmt: skip


def wiring(repeat: int) -> None:
    title("port assignment over d panels", "links")
    for text in ("LineGraph(3, Circulant(16, 3, 4))", "GeneralizedKautz(16, 4096)"):
        topology = build(parse(text))
        panels = smallest_plant(topology, Layout.PER_PORT)
        assign_ports(topology, panels)
        found = timed(lambda t=topology, p=panels: assign_ports(t, p), repeat)
        print(f"{text:<58}{found}  {topology.link_count:,}")


def asking(repeat: int) -> None:
    title("a question to the service functions, SQLite", "")
    hosts = {"nodes": 1024, "degree": 4}
    work = {**hosts, "collective": "allreduce", "bytes": "1MiB"}
    for name, service, request in (
        ("frontier of 1024 hosts, degree 4", frontiers.frontier, FrontierRequest(**hosts)),
        ("design of 1024 hosts, with verified schedule", designs.create, DesignRequest(**work)),
    ):
        cold = []
        for _ in range(repeat):
            with tempfile.TemporaryDirectory() as folder:
                url = f"sqlite:///{Path(folder) / 'bench.db'}"
                with open_context(Settings(database_url=url)) as context:
                    cold.append(timed(lambda c=context, s=service, r=request: s(c, r), 1).median)
                    again = timed(lambda c=context, s=service, r=request: s(c, r), 20)
        seconds = sorted(cold)
        print(f"{name:<58}{1000 * seconds[len(cold) // 2]:>11.2f}{1000 * seconds[0]:>11.2f}")
        print(f"{'  asked again':<58}{again}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    # Compile or load every kernel before the first measurement.
    schedule = make(build(parse("Circulant(12, 2, 3)")), "allreduce")
    require_valid(schedule, build(parse("Circulant(12, 2, 3)")))
    assert measure(build(parse("Complete(12)"))).bandwidth == Fraction(11, 12)
    measuring(repeat)
    solving()
    searching(repeat)
    discovering(repeat)
    wiring(repeat)
    asking(repeat)


if __name__ == "__main__":
    main()
