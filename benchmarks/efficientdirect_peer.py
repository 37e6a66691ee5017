"""Run one job of the EfficientDirect peer, in an interpreter without our packages.

    python benchmarks/efficientdirect_peer.py PEER_DIR < job.json

A job is ``{"nodes": N, "links": [[source, target], ...]}``; its answer holds the seconds of the
peer's `BFB`, the part of them inside the LP solver (the rest is building its input), and the
largest load of every step.  Or a job is ``{"largest": [N, d]}``; its answer holds the seconds of
the finder and its table.  `benchmarks.bench_efficientdirect` sends the jobs.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def schedule(job: dict[str, Any]) -> dict[str, Any]:
    nx, cp = importlib.import_module("networkx"), importlib.import_module("cvxpy")
    breadth_first = importlib.import_module("bfb_schedule").BFB
    # The first linear program loads the solver.
    breadth_first(nx.complete_graph(3, create_using=nx.DiGraph), False)
    solving = watch(cp.Problem)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(job["nodes"]))
    graph.add_edges_from(map(tuple, job["links"]))
    start = time.perf_counter()
    steps = breadth_first(graph, False)
    seconds = time.perf_counter() - start
    entries = [list(steps[step].values()) for step in sorted(steps)]
    loads = [float(max(entry["load_U"] for entry in of_step)) for of_step in entries]
    return {
        "seconds": seconds,
        "solver_seconds": sum(solving),
        "loads": loads,
        "programs": sum(map(len, entries)),
    }


def watch(problem: Any) -> list[float]:
    """Return a list that collects the solver's own seconds of every program solved from now on."""
    seconds: list[float] = []
    solve = problem.solve

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        value = solve(self, *arguments, **options)
        seconds.append(self.solver_stats.solve_time or 0.0)
        return value

    problem.solve = watched
    return seconds


def find(job: dict[str, Any]) -> dict[str, Any]:
    finder = importlib.import_module("topology_finder")
    start = time.perf_counter()
    search = finder.TopologyFinder(*job["largest"])
    search.search()
    seconds = time.perf_counter() - start
    table = [
        {"nodes": nodes, "degree": degree, "points": [(p.topology, p.TL, p.TB) for p in points]}
        for nodes, row in search.topology_table.items()
        for degree, points in row.items()
    ]
    return {"seconds": seconds, "table": table}


def main() -> None:
    job = json.load(sys.stdin)
    # The finder reads its list of distance-regular graphs from the working directory.
    os.chdir(sys.argv[1])
    sys.path.insert(0, str(Path("src").resolve()))
    json.dump(find(job) if "largest" in job else schedule(job), sys.stdout)


if __name__ == "__main__":
    main()
