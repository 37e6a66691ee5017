"""Bounds for all-to-all beyond the linear program: lengths that grow with the load.

In every round every source sends its data along shortest paths, under lengths that grow
exponentially with the load of the arcs so far.  The average over the rounds is a routing;
the final lengths prove a bound.  (Garg and Koenemann, "Faster and simpler algorithms
for multicommodity flow", 1998; Fleischer, 2000.)
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit

from topoloom.schedules.routes.demand import AllToAllDemand
from topoloom.schedules.routes.shortest_path_bound import PathSplit, length_bound, longest_length
from topoloom.schedules.routes.shortest_path_dag import (
    arc_index,
    send_on_shortest_paths,
    work_memory,
)

_UNIT = 1 << 16
_FINEST = 1 << 20


def adaptive_routing(problem: AllToAllDemand, first: PathSplit, rounds: int) -> PathSplit:
    """Return a routing with lower load than equal shares, and a bound, after ``rounds`` rounds.

    Args:
        problem: The demand.
        first: Equal shares under lengths 1: the result if no better routing is found.
        rounds: At least 1; each takes as long as a shortest-path search from every source.

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.schedules.routes.shortest_path_bound import split_evenly
    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> problem = all_to_all_demand(build(parse("GeneralizedKautz(4, 64)")))
    >>> first = split_evenly(problem)
    >>> better = adaptive_routing(problem, first, 16)
    >>> problem.most_loaded(better.loads, better.unit) < problem.most_loaded(
    ...     first.loads, first.unit)
    True
    """
    flows = np.zeros_like(first.flows)
    capacity = problem.capacity / problem.capacity.mean()
    # The load that a round at the bound would add to every arc.
    step = float(first.lower / problem.scale) * float(problem.capacity.mean())
    # Measured: gentle growth is best with few rounds, steep growth with many.
    growth = (10 + rounds / 2) / (rounds * step)
    finest = min(_FINEST, longest_length(problem))
    ways = arc_index(problem.tail, problem.head, problem.nodes)
    loads, lengths, hops = _rounds(
        ways, problem.sources, problem.wants, problem.orbit, capacity, rounds, growth, finest,
        _UNIT, flows,
    )  # fmt: skip
    lower = max(first.lower, length_bound(problem, lengths))
    found = PathSplit(flows, _UNIT * rounds, loads, lower, hops)
    ahead = problem.most_loaded(loads, found.unit) < problem.most_loaded(first.loads, first.unit)
    return found if ahead else replace(first, lower=lower)


@njit(cache=True, nogil=True)
def _rounds(
    ways: Any,
    sources: Any,
    wants: Any,
    orbit: Any,
    capacity: Any,
    rounds: int,
    growth: float,
    finest: int,
    unit: int,
    flows: Any,
) -> Any:
    """Add all rounds to ``flows``; return loads and final lengths by orbit, and most hops."""
    arcs, orbits = len(orbit), len(capacity)
    memory, hops = work_memory(len(wants)), 0
    loads, lengths = np.zeros(orbits, np.int64), np.ones(orbits, np.int64)
    weight, by_arc = np.ones(orbits), np.ones(arcs, np.int64)
    flow = np.zeros(arcs, np.int64)
    for _ in range(rounds):
        for row in range(len(sources)):
            fullest = 0.0
            for at in range(orbits):
                fullest = max(fullest, loads[at] / capacity[at])
            largest = 0.0
            for at in range(orbits):
                behind = (loads[at] / capacity[at] - fullest) / unit
                weight[at] = np.exp(growth * behind) / capacity[at]
                largest = max(largest, weight[at])
            for at in range(orbits):
                # No arc has length 0, so that paths stay short.
                lengths[at] = max(1, int(weight[at] / largest * finest))
            for arc in range(arcs):
                by_arc[arc] = lengths[orbit[arc]]
            flow[:] = 0
            hops = max(
                hops, send_on_shortest_paths(ways, sources[row], wants, by_arc, unit, memory, flow)
            )
            for arc in range(arcs):
                flows[row, arc] += flow[arc]
                loads[orbit[arc]] += flow[arc]
    return loads, lengths, hops
