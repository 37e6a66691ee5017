"""The arrangement of the ranks of traces: dimensions, pipeline stages, one rank of each stage."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.formats.job_traces.nodes import Group, Kind, RankTrace, fault
from topoloom.schedules.formats.job_traces.rank_grid import RankGrid, Ranks, rank_grid
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.communications import Traffic

_OPEN = (
    "The trace states no ranks of its groups: collectives run among all accelerators of the "
    "request; --nodes and --accelerators-per-host change this."
)
_ACROSS = "A collective among ranks of several pipeline stages runs within every stage."


@dataclass(frozen=True, slots=True)
class RankLayout:
    """The ranks of a job.

    Attributes:
        sizes: Sizes by dimension, the fastest first; empty if the traces leave the number of ranks
            open.
        stage: Returns the pipeline stage of a rank.
        beside: Returns the coordinates of a rank in the other dimensions.
        dimensions: Dimensions of every group of the traces, without ``pipeline``.
        notes: Assumptions about ranks, as sentences.
    """

    sizes: tuple[tuple[str, int], ...]
    stage: Callable[[int], int]
    beside: Callable[[int], tuple[int, ...]]
    dimensions: Mapping[Group, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        return dict(self.sizes).get("pipeline", 1)


def rank_layout(traces: Sequence[RankTrace]) -> RankLayout:
    """Return the layout that the traces state, or the one of their groups and messages.

    Raises:
        NoSchedule: The groups are no grid of ranks, or a group has no stated ranks.
    """
    used = _groups(traces)
    if traces[0].sizes:
        return _stated(traces, used)
    for group, (trace, name) in used.items():
        if isinstance(group, str):
            rule = f"its group {group[:50]!r} must have stated ranks, such as in comm_group.json"
            raise fault(trace.file, name, rule)
        if group is not None and trace.rank not in group:
            rule = f"its group must have the rank {trace.rank} of the file"
            raise fault(trace.file, name, rule)
    messages = _messages(traces)
    listed = _listed(traces)
    ends = [rank for ranks in (*listed, *messages) for rank in ranks]
    ranks = max(1, *(max(one.rank + 1, one.ranks) for one in traces), *(one + 1 for one in ends))
    if ranks == 1 and None in used:
        return RankLayout((), lambda _: 0, lambda _: (), {None: ("data",)}, (_OPEN,))
    titles = {group: title for one in traces for group, title in one.titles.items()}
    grid = rank_grid(ranks, listed, messages, _exchanging(traces), titles)
    return _of_grid(grid, used)


def chosen_traces(traces: Sequence[RankTrace], layout: RankLayout) -> list[RankTrace]:
    """Return the trace of each pipeline stage: of the ranks side by side that compute longest.

    Raises:
        NoSchedule: A stage has no trace, or ranks of a stage communicate differently.
    """
    lines: dict[tuple[int, ...], dict[int, RankTrace]] = defaultdict(dict)
    for one in traces:
        stage = layout.stage(one.rank)
        if stage >= layout.stages:
            raise fault(one.file, None, f"must be one of the {layout.stages} pipeline stages")
        lines[layout.beside(one.rank)][stage] = one
    whole = [line for line in lines.values() if len(line) == layout.stages]
    if not whole:
        line = max(lines.values(), key=len)
        missing = next(stage for stage in range(layout.stages) if stage not in line)
        known = next(iter(line.values()))
        rule = f"pipeline stage {missing} beside rank {known.rank} must have a trace, too"
        raise fault(known.file, None, rule)
    best = max(whole, key=lambda line: _work(line.values()))
    found = [best[stage] for stage in range(layout.stages)]
    for one in traces:
        like = found[layout.stage(one.rank)]
        if _sent(one, layout) != _sent(like, layout):
            rule = f"must communicate as rank {like.rank}, which is in the same pipeline stage"
            raise fault(one.file, None, rule)
    return found


def _groups(traces: Sequence[RankTrace]) -> dict[Group, tuple[RankTrace, str]]:
    """Return every group of a collective, with a node that uses the group."""
    found: dict[Group, tuple[RankTrace, str]] = {}
    for trace in traces:
        for one in trace.nodes:
            if one.kind is Kind.COLLECTIVE:
                found.setdefault(one.group, (trace, repr(one.name[:50])))
    return found


def _listed(traces: Sequence[RankTrace]) -> Counter[Ranks]:
    """Return the collectives of every group with stated ranks."""
    return Counter(
        one.group
        for trace in traces
        for one in trace.nodes
        if one.kind is Kind.COLLECTIVE and isinstance(one.group, tuple)
    )


def _messages(traces: Sequence[RankTrace]) -> set[tuple[int, int]]:
    """Return the pairs of ranks that send and receive."""
    found = set[tuple[int, int]]()
    for trace in traces:
        for one in trace.nodes:
            if one.kind in (Kind.SEND, Kind.RECEIVE):
                if one.peer == trace.rank:
                    raise fault(trace.file, repr(one.name[:50]), "must not send to its own rank")
                source, target = trace.rank, one.peer
                found.add((source, target) if one.kind is Kind.SEND else (target, source))
    return found


def _exchanging(traces: Sequence[RankTrace]) -> set[Ranks]:
    return {
        one.group
        for trace in traces
        for one in trace.nodes
        if one.traffic is Traffic.ALL_TO_ALL and isinstance(one.group, tuple)
    }


def _of_grid(grid: RankGrid, used: Iterable[Group]) -> RankLayout:
    names: dict[Group, tuple[str, ...]] = {
        one: grid.names if one is None else grid.dimensions(one)
        for one in used
        if not isinstance(one, str)
    }
    sizes = tuple(zip(grid.names, grid.sizes, strict=True))
    shown = ",".join(f"{name}={size}" for name, size in sizes)
    notes = [
        f"Ranks count through {shown}, found from the groups of the trace; --parallel changes the "
        "sizes, not the bytes and seconds of an operation."
    ]
    if None in names:
        notes.append(f"A collective without a group runs among all {grid.ranks} ranks.")
    return _within_stages(sizes, grid.stage, grid.beside, names, notes)


def _stated(traces: Sequence[RankTrace], used: Mapping[Group, tuple[RankTrace, str]]) -> RankLayout:
    """Return the layout of traces that state sizes: a file for each stage."""
    first = traces[0]
    try:
        sizes = ProcessGroups.parse(first.sizes).sizes
    except NoSchedule as error:
        raise fault(first.file, None, f"parallel {error.rule}") from None
    names = [name for name, _ in sizes]
    found: dict[Group, tuple[str, ...]] = {}
    for group, (trace, node) in used.items():
        of = tuple(names) if group is None else ()
        if isinstance(group, str):
            of = tuple(group.split("+"))
        if not of or not set(of) <= set(names):
            raise fault(trace.file, node, f"its group must have dimensions of {first.sizes}")
        found[group] = of
    return _within_stages(sizes, lambda rank: rank, lambda _: (), found, [])


def _within_stages(
    sizes: tuple[tuple[str, int], ...],
    stage: Callable[[int], int],
    beside: Callable[[int], tuple[int, ...]],
    names: Mapping[Group, tuple[str, ...]],
    notes: list[str],
) -> RankLayout:
    """Return a layout whose groups stay within pipeline stages."""
    stages = dict(sizes).get("pipeline", 1)
    if stages > 1 and any("pipeline" in of for of in names.values()):
        notes = [*notes, _ACROSS]
    kept = {group: tuple(name for name in of if name != "pipeline") for group, of in names.items()}
    return RankLayout(sizes, stage, beside, kept, tuple(notes))


def _work(traces: Iterable[RankTrace]) -> tuple[int, int, int]:
    """Return the nanoseconds and operations of traces; of equals, the lowest rank counts most."""
    done = [(*one.work, -one.rank) for one in traces]
    nanoseconds, flops, ranks = zip(*done, strict=True)
    return sum(nanoseconds), sum(flops), sum(ranks)


def _sent(trace: RankTrace, layout: RankLayout) -> Counter[tuple[object, ...]]:
    """Return how often a rank communicates, by kind."""
    return Counter(
        (one.kind, one.traffic, layout.dimensions[one.group])
        if one.kind is Kind.COLLECTIVE
        else (one.kind, layout.stage(one.peer))
        for one in trace.nodes
        if one.kind in (Kind.COLLECTIVE, Kind.SEND, Kind.RECEIVE)
    )
