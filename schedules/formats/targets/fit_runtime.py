"""Fit a schedule to a runtime: take the first that accepts it, else reduce the chunks.

Fewer chunks are smaller weights of trees: the shares of a shard that the trees carry are rounded,
so the data takes the same paths, slightly less evenly.  The shares of a block that the routes of
an all-to-all carry are rounded likewise.  A schedule in steps lists its sends chunk by chunk; only
its generator can make a coarser one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.targets.runtimes import RUNTIMES, Runtime
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    TreeSchedule,
    schedule_parts,
)

_T = TypeVar("_T")
_MOST_ELSEWHERE = 50_000
_MOST_ROUNDED = 4096


def fit_runtime(
    schedule: Schedule,
    runtimes: Sequence[Runtime],
    arrange: Callable[[Schedule, Runtime], _T],
) -> tuple[_T, Runtime, Schedule]:
    """Return the result of ``arrange`` for the first runtime that accepts it, with its arguments.

    Args:
        runtimes: At least one; all are tried before the schedule is made coarser.
        arrange: Raises `NotExportable` if it exceeds a limit of the runtime.

    Raises:
        NotExportable: The obstacle of the schedule as it is on the last runtime, and a known
            runtime or schedule that would fit, if any.
    """
    problem: NotExportable | None = None
    for candidate in coarser(schedule):
        for runtime in runtimes:
            try:
                return arrange(candidate, runtime), runtime, candidate
            except NotExportable as error:
                if candidate is schedule:
                    problem = error
    assert problem is not None
    others = _others(schedule, runtimes, arrange)
    if others:
        advice = f"; {', '.join(others)} would take it"
    elif _in_steps(schedule):
        advice = "; a schedule of fewer chunks (max_chunks) may fit"
    else:
        advice = ""
    raise NotExportable(problem.field, problem.rule + advice)


def _others(
    schedule: Schedule, tried: Sequence[Runtime], arrange: Callable[[Schedule, Runtime], object]
) -> list[str]:
    """Return the other runtimes of the same files that accept the schedule as it is."""
    if _size(schedule) > _MOST_ELSEWHERE:
        return []
    found = []
    for runtime in RUNTIMES.values():
        alike = (runtime.form, runtime.dialect) == (tried[0].form, tried[0].dialect)
        if not alike or runtime in tried:
            continue
        try:
            arrange(schedule, runtime)
        except NotExportable:
            continue
        found.append(runtime.name)
    return found


def _in_steps(schedule: Schedule) -> bool:
    if isinstance(schedule, RouteSchedule):
        return False
    return any(not isinstance(part, TreeSchedule) for part in schedule_parts(schedule))


def _size(schedule: Schedule) -> int:
    if isinstance(schedule, RouteSchedule):
        return sum(len(route.path) for route in schedule.routes)
    if isinstance(schedule, TreeSchedule):
        return sum(len(tree.edges) for tree in schedule.trees)
    if isinstance(schedule, SequenceSchedule):
        return sum(map(_size, schedule.parts))
    return sum(map(len, schedule.steps))


def coarser(schedule: Schedule) -> Iterator[Schedule]:
    """Yield a schedule, then, for trees or routes, versions with half the chunks, down to one.

    The second has at most 4096 chunks of a shard, or in an all-to-all of a rank's data: rounding to
    4096 chunks loses almost nothing.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> trees = (Tree(0, 5, ((0, 1),)), Tree(0, 2, ((0, 1),)), Tree(1, 7, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 7, trees)
    >>> [[tree.weight for tree in each.trees] for each in coarser(both)]
    [[5, 2, 7], [2, 1, 3], [1, 1]]
    """
    yield schedule
    if isinstance(schedule, RouteSchedule):
        chunks = schedule.units_per_pair
        while chunks > 1:
            chunks = max(1, min(chunks // 2, _MOST_ROUNDED // len(schedule.ranks)))
            yield rounded_routes(schedule, chunks)
        return
    parts = schedule_parts(schedule)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if len(trees) < len(parts):
        return
    chunks = max(part.trees_per_root for part in trees)
    while chunks > 1:
        chunks = min(chunks // 2, _MOST_ROUNDED)
        made = tuple(round_weights(part, min(chunks, part.trees_per_root)) for part in trees)
        if isinstance(schedule, SequenceSchedule):
            yield replace(schedule, parts=made)
        else:
            yield made[0]


def round_weights(part: TreeSchedule, chunks: int) -> TreeSchedule:
    """Return the trees with weights that sum to ``chunks`` per unit of size at each root.

    Weights are rounded by largest remainders; trees of weight 0 are removed.
    """
    by_root: dict[object, list[int]] = {}
    for at, tree in enumerate(part.trees):
        by_root.setdefault(tree.root, []).append(at)
    weights = [tree.weight for tree in part.trees]
    given = [0] * len(weights)
    for mine in by_root.values():
        # The weights of a root of size s sum to s times the trees per root.
        own = [weights[at] for at in mine]
        shares = _shares(own, sum(own) * chunks // part.trees_per_root)
        for at, share in zip(mine, shares, strict=True):
            given[at] = share
    shared = zip(part.trees, given, strict=True)
    kept = tuple(replace(tree, weight=share) for tree, share in shared if share)
    return replace(part, trees_per_root=chunks, trees=kept)


def rounded_routes(schedule: RouteSchedule, units: int) -> RouteSchedule:
    """Return the routes with weights that sum to ``units`` for each pair, by largest remainders.

    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> ways = (Route((0, 1), 7), Route((0, 2, 1), 2))
    >>> found = rounded_routes(RouteSchedule(Collective.ALL_TO_ALL, "", (0, 1, 2), 9, ways), 4)
    >>> [(route.path, route.weight) for route in found.routes]
    [((0, 1), 3), ((0, 2, 1), 1)]
    """
    pairs: dict[tuple[object, object], list[int]] = {}
    for at, route in enumerate(schedule.routes):
        pairs.setdefault((route.path[0], route.path[-1]), []).append(at)
    given = [0] * len(schedule.routes)
    for mine in pairs.values():
        shares = _shares([schedule.routes[at].weight for at in mine], units)
        for at, share in zip(mine, shares, strict=True):
            given[at] = share
    told = zip(schedule.routes, given, strict=True)
    kept = tuple(replace(route, weight=share) for route, share in told if share)
    return replace(schedule, units_per_pair=units, routes=kept)


def _shares(weights: list[int], wanted: int) -> list[int]:
    """Return weights that sum to ``wanted``, by largest remainders."""
    whole = sum(weights)
    exact = [divmod(weight * wanted, whole) for weight in weights]
    left = wanted - sum(share for share, _ in exact)
    order = sorted(range(len(weights)), key=lambda at: (-exact[at][1], at))
    extra = set(order[:left])
    return [share + (at in extra) for at, (share, _) in enumerate(exact)]
