"""Making a schedule fit a run-time: the first that takes it, else with fewer chunks.

Fewer chunks are fewer trees of a root, or rather smaller weights: the shares of a shard that the
trees carry are rounded, so the data goes the same ways, a little less evenly.  A schedule in
steps says chunk by chunk what is sent; of it only its generator makes a coarser one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from schedules.errors import NotExportable
from schedules.formats.runtimes import RUNTIMES, Runtime
from schedules.model import Schedule, SequenceSchedule, Tree, TreeSchedule, parts_of

__all__ = ["coarser", "fitted", "rounded"]

_T = TypeVar("_T")
_MOST_ELSEWHERE = 50_000
_MOST_ROUNDED = 4096


def fitted(
    schedule: Schedule,
    runtimes: Sequence[Runtime],
    arrange: Callable[[Schedule, Runtime], _T],
) -> tuple[_T, Runtime, Schedule]:
    """Return what ``arrange`` makes for the first run-time that takes it, with both arguments.

    Parameters
    ----------
    runtimes : sequence of Runtime
        At least one; all are tried before the schedule is made coarser.
    arrange : function
        Raises `NotExportable` where a limit of the run-time is passed.

    Raises
    ------
    NotExportable
        What stands in the way of the schedule as it is on the last of the run-times, and what
        would take it, if anything is known to.
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
    elif any(not isinstance(part, TreeSchedule) for part in parts_of(schedule)):
        advice = "; a schedule of fewer chunks (max_chunks) may fit"
    else:
        advice = ""
    raise NotExportable(problem.field, problem.rule + advice)


def _others(
    schedule: Schedule, tried: Sequence[Runtime], arrange: Callable[[Schedule, Runtime], object]
) -> list[str]:
    """Return the other run-times of the same files that take the schedule as it is."""
    if sum(_size(part) for part in parts_of(schedule)) > _MOST_ELSEWHERE:
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


def _size(part: Schedule) -> int:
    if isinstance(part, TreeSchedule):
        return sum(len(tree.edges) for tree in part.trees)
    return sum(map(len, getattr(part, "steps", ())))


def coarser(schedule: Schedule) -> Iterator[Schedule]:
    """Yield a schedule, then, if it is of trees, with half the chunks, a quarter, down to one.

    The second has at most 4096 chunks of a shard: rounding to those loses next to nothing.

    >>> from schedules.model import Collective
    >>> trees = (Tree(0, 5, ((0, 1),)), Tree(0, 2, ((0, 1),)), Tree(1, 7, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 7, trees)
    >>> [[tree.weight for tree in each.trees] for each in coarser(both)]
    [[5, 2, 7], [2, 1, 3], [1, 1]]
    """
    yield schedule
    parts = parts_of(schedule)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if len(trees) < len(parts):
        return
    chunks = max(part.trees_per_root for part in trees)
    while chunks > 1:
        chunks = min(chunks // 2, _MOST_ROUNDED)
        made = tuple(rounded(part, min(chunks, part.trees_per_root)) for part in trees)
        if isinstance(schedule, SequenceSchedule):
            yield replace(schedule, parts=made)
        else:
            yield made[0]


def rounded(part: TreeSchedule, chunks: int) -> TreeSchedule:
    """Return the trees with weights that add up to ``chunks`` per unit of size at each root.

    Weights are rounded by largest remainders; trees that are left without any fall out.
    """
    by_root: dict[object, list[Tree]] = {}
    for tree in part.trees:
        by_root.setdefault(tree.root, []).append(tree)
    given: dict[int, int] = {}
    for mine in by_root.values():
        whole = sum(tree.weight for tree in mine)
        # Of a root of size s the weights add up to s times the trees per root.
        wanted = whole * chunks // part.trees_per_root
        exact = [divmod(tree.weight * wanted, whole) for tree in mine]
        left = wanted - sum(share for share, _ in exact)
        order = sorted(range(len(mine)), key=lambda at: (-exact[at][1], at))
        extra = set(order[:left])
        for at, tree in enumerate(mine):
            given[id(tree)] = exact[at][0] + (at in extra)
    kept = tuple(replace(tree, weight=given[id(tree)]) for tree in part.trees if given[id(tree)])
    return replace(part, trees_per_root=chunks, trees=kept)
