"""Comparisons of stored designs, of stored schedules, or of all algorithms of a collective."""

from dataclasses import replace
from fractions import Fraction

from topoloom.app.documents.base import Subject
from topoloom.app.documents.compare_algorithms import ComparedFabric
from topoloom.app.documents.comparison import (
    COMPARISON,
    Compared,
    ComparedDesigns,
    ComparedSchedules,
    TimedSchedule,
)
from topoloom.app.documents.schedule import SCHEDULE
from topoloom.app.requests.evaluations import ComparisonRequest
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.compare.bandwidths import SpeedSettings, schedule_speed
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Topology

_SPEED = ("bytes", "alpha_us", "node_gbps", "overhead_us", "chunk_us")


def create(context: Context, request: ComparisonRequest) -> Artefact:
    """Return the stored comparison/1 document of designs, schedules or a fabric.

    Raises:
        TooLarge: The fabric has more nodes than the limit of forests, or more than
            `schedules.compare.compare_algorithms.MAX_RANKS` ranks.
    """
    if request.topology is not None:
        return _of_fabric(context, request)
    kind = "design" if request.designs is not None else "schedule"
    ids = [context.completed(kind, one) for one in request.designs or request.schedules]
    said = request.canonical_part(_SPEED)

    def compute() -> Compared:
        if request.designs is not None:
            return ComparedDesigns([context.read(kind, one) for one in ids])
        return ComparedSchedules([_timed(context, one, request) for one in ids])

    return context.answer(COMPARISON, {"of": {kind: ids}} | said, compute).artefact


def _timed(context: Context, identity: str, request: ComparisonRequest) -> TimedSchedule:
    kept = context.stored(SCHEDULE, identity).value
    topology = topologies.load_subject(context, kept.subject).topology
    on = _on(request, topology)
    rates = replace(on, size_bytes=None)
    found = schedule_speed(kept.facts, topology, rates, schedule=kept.load)
    judge = timed = None
    if on.size_bytes is not None:
        # Deferred import: loads compiled code.
        from topoloom.schedules.simulate import Judge

        judge = Judge(kept.load(), topology, on.network)
        timed = judge.time(on.size_bytes)
    nodes = len(topology.compute_nodes)
    assumed = (*kept.subject.assumed, *_speeds(request, topology))
    return TimedSchedule(identity, kept, nodes, found, assumed, timed, judge and judge.judged_by)


def _of_fabric(context: Context, request: ComparisonRequest) -> Artefact:
    """Return the comparison of all algorithms of a collective on a topology, by message size."""
    loaded = topologies.load(context, request.topology, field="/topology")
    limit = context.settings.max_forest_nodes
    context.require_at_most("/topology", loaded.node_count, limit, "nodes")

    topologies.note_speeds(context, loaded.topology, request.alpha_us, request.node_gbps)

    def compute() -> Compared:
        from topoloom.schedules.compare.compare_algorithms import compare_algorithms
        from topoloom.schedules.compare.crossover import SIZES

        topology, collective = loaded.topology, Collective.of(request.collective)
        network = _on(request, topology).network
        sizes = SIZES if request.bytes is None else (request.bytes,)
        ids = {str(node): node for node in topology.nodes}
        root = None if request.root is None else ids.get(str(request.root), request.root)
        largest = max(*SIZES, *sizes)
        found = compare_algorithms(topology, collective, network, root=root, largest_bytes=largest)
        subject, ranks = Subject.of(loaded.id, topology), len(topology.compute_nodes)
        subject = replace(subject, assumed=(*subject.assumed, *_speeds(request, topology)))
        return ComparedFabric(subject, ranks, collective.value, root, found, sizes)

    said = request.canonical_part((*_SPEED, "collective", "root"))
    return context.answer(COMPARISON, {"of": {"topology": [loaded.id]}} | said, compute).artefact


def _speeds(request: ComparisonRequest, topology: Topology) -> tuple[Assumption, ...]:
    """Return which latencies and rate count where the request states none."""
    from topoloom.synth.topology.hops import speed_assumptions

    stated = request.node_gbps is not None
    return speed_assumptions(topology, _alpha_us(request), rate_stated=stated)


def _alpha_us(request: ComparisonRequest) -> Fraction | None:
    return None if request.alpha_us is None else Fraction(request.alpha_us)


def _on(request: ComparisonRequest, topology: Topology) -> SpeedSettings:
    """Return the speed of the hosts and the size of the data."""
    from topoloom.synth.topology.hops import hop_seconds
    from topoloom.synth.topology.rates import unit_bytes_per_second

    node = None if request.node_gbps is None else Fraction(request.node_gbps)
    return SpeedSettings(
        unit_bytes_per_second(topology, node),
        hop_seconds(topology, _alpha_us(request)),
        request.bytes,
        Fraction(request.overhead_us or 0) / 10**6,
        Fraction(request.chunk_us or 0) / 10**6,
    )
