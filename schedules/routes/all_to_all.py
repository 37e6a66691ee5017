"""All-to-all: every rank sends its own data to every other rank, at the highest rate.

The least time is that of the maximum concurrent flow.  Every result is a pair of exact bounds:
the time of the routing found, and the lower bound that lengths of the links prove.  The routing
is optimal where the bounds are equal.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import RouteSchedule
from topoloom.schedules.routes.concurrent_flow import solve, whole_flows, whole_lengths
from topoloom.schedules.routes.cut_bound import cut_bound
from topoloom.schedules.routes.demand import AllToAllDemand, all_to_all_demand
from topoloom.schedules.routes.flow_decomposition import MAX_HOPS, most_hops, route_schedule
from topoloom.schedules.routes.multiplicative_weights import adaptive_routing
from topoloom.schedules.routes.shortest_path_bound import (
    PathSplit,
    length_bound,
    longest_length,
    split_evenly,
)
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import Topology

MAX_VARIABLES = 40_000
"""Maximum size of a linear program: sources (one of each orbit) times arcs."""

MAX_FLOWS = 1 << 27
"""Maximum sources times arcs for any routing."""

_SECONDS = 60.0
_FLOWS_KEPT = 1 << 22
_ADAPTING_WORK = 32_000_000
_MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class AllToAll:
    """The time of an all-to-all, between two exact bounds.

    Every compute node sends one unit to every other.  ``inverse_rate`` is the time of the routing
    found, in 1 / (bandwidth unit): the largest load of any link over its capacity.  ``lower`` is
    the lower bound for any routing.  ``method`` is ``"linear-program"`` or ``"shortest-paths"``;
    no path has more than ``hops`` hops from host to host.  With M bytes in each rank's buffer,
    M / N for each rank, the time is ``inverse_rate * M / N``.
    """

    compute_nodes: int
    inverse_rate: Fraction
    lower: Fraction
    method: str
    hops: int
    problem: AllToAllDemand
    flows: NDArray[np.int64]
    unit: int

    @property
    def proved(self) -> bool:
        """Whether the bounds are equal, which proves the optimum."""
        return self.inverse_rate == self.lower

    @property
    def gap(self) -> Fraction:
        """The largest possible excess over the optimum, as a share of the lower bound."""
        return self.inverse_rate / self.lower - 1


_found_last: LruCache[AllToAll] = LruCache(_FLOWS_KEPT)
"""Cache of results: times are compared first, schedules then use the same flows."""


def optimum(topology: Topology, *, max_variables: int = MAX_VARIABLES) -> AllToAll:
    """Return the best all-to-all of a topology: exact, or between exact bounds.

    Args:
        topology: Strongly connected; switches and hosts forward.
        max_variables: Maximum size of linear programs; beyond it shortest paths are used.

    Raises:
        Unreachable, InvalidTopology: The topology is not strongly connected, or has fewer than two
            compute nodes.
        TooLarge: More than `MAX_FLOWS` sources times arcs, after reduction by symmetry.

    First, symmetry: where a semiregular group is known (`synth.symmetry.semiregular_groups`), one
    source represents each orbit.  Second, equal shares of shortest paths, which are optimal on
    many symmetric graphs.  Third, the linear program, rounded to integers such that every
    constraint holds exactly (`schedules.routes.concurrent_flow`): 0.2 s for a Cayley digraph of
    1024 nodes, one second for 64 nodes without symmetry.  Above `max_variables`, shortest paths
    under adaptive lengths (`schedules.routes.multiplicative_weights`).

    References:
        Shahrokhi and Matula, "The maximum concurrent flow problem", J. ACM 37 (1990).

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> found = optimum(build(parse("GeneralizedKautz(4, 20)")))
    >>> found.inverse_rate, found.proved
    (Fraction(61, 7), True)
    """
    problem = all_to_all_demand(topology)
    size = _require_small(problem)
    key = digest_of((), topology.digest, str(topology.recipe), max_variables)
    if (known := _found_last.get(key)) is not None:
        return known
    found = _best(problem, size, max_variables)
    return _found_last.keep(key, found, found.flows.size)


def _best(problem: AllToAllDemand, size: int, max_variables: int) -> AllToAll:
    report_progress("sharing shortest paths", 0, 1)
    first = split_evenly(problem)
    rate = problem.most_loaded(first.loads, first.unit)
    report_progress("solving the linear program", 0, 1)
    if rate > first.lower and size <= max_variables:
        found = _by_program(problem, first)
        if found is not None:
            return found
    rounds = min(_MAX_ROUNDS, _ADAPTING_WORK // size)
    report_progress("adapting lengths", 0, 1)
    if rate > first.lower and rounds > 1:
        first = adaptive_routing(problem, first, rounds)
    return _answer(problem, first, "shortest-paths")


def shortest(topology: Topology) -> AllToAll:
    """Return an all-to-all with the fewest hops, divided evenly among shortest paths.

    Raises as `optimum`.

    >>> found = shortest(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    >>> found.inverse_rate, found.hops
    (Fraction(6, 1), 3)
    """
    problem = all_to_all_demand(topology)
    _require_small(problem)
    return _answer(problem, split_evenly(problem), "shortest-paths")


def schedule(
    topology: Topology, *, fewest_hops: bool = False, max_variables: int = MAX_VARIABLES
) -> RouteSchedule:
    """Return an all-to-all by routes in the time of `optimum`, or of `shortest`.

    Raises:
        TooLarge: As `optimum`, or more than `MAX_HOPS` hops in all.

    >>> found = schedule(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    >>> [(route.path, route.weight) for route in found.routes][:2], found.units_per_pair
    ([((0, 1), 1), ((0, 1, 2), 1)], 1)
    """
    pairs = len(topology.compute_nodes) * (len(topology.compute_nodes) - 1)
    if pairs > MAX_HOPS:
        raise TooLarge("/topology", f"needs at least {pairs} hops of routes; at most {MAX_HOPS}")
    found = shortest(topology) if fewest_hops else optimum(topology, max_variables=max_variables)
    return route_schedule(topology, found.problem, found.flows, found.unit)


def _require_small(problem: AllToAllDemand) -> int:
    size = len(problem.sources) * len(problem.tail)
    if size > MAX_FLOWS:
        raise TooLarge("/topology", f"needs {size} flows; at most {MAX_FLOWS}")
    return size


def _by_program(problem: AllToAllDemand, first: PathSplit) -> AllToAll | None:
    answer = solve(problem, _SECONDS)
    if answer is None:
        return None
    flows, unit = whole_flows(problem, answer.flows)
    loads = np.zeros(len(problem.capacity), np.int64)
    np.add.at(loads, problem.orbit, flows.sum(axis=0))
    candidates = whole_lengths(answer.lengths, longest_length(problem))
    bounds = [length_bound(problem, lengths) for lengths in candidates]
    hops = most_hops(problem, flows, unit)
    found = PathSplit(flows, unit, loads, max(bounds, default=first.lower), hops)
    return _answer(problem, found, "linear-program")


def _answer(problem: AllToAllDemand, found: PathSplit, method: str) -> AllToAll:
    rate = problem.most_loaded(found.loads, found.unit)
    lower = max(found.lower, _node_bound(problem))
    if rate > lower:
        lower = max(lower, cut_bound(problem))
    return AllToAll(
        problem.receivers + 1, rate, lower, method, found.hops, problem, found.flows, found.unit
    )


def _node_bound(problem: AllToAllDemand) -> Fraction:
    """Return the lower bound by the most constrained compute node, to send or receive its data."""
    capacity = problem.capacity[problem.orbit]
    room = np.zeros((2, problem.nodes), np.int64)
    np.add.at(room[0], problem.tail, capacity)
    np.add.at(room[1], problem.head, capacity)
    return problem.receivers * problem.scale / int(room[:, problem.wants].min())
