"""Costs of collectives on a topology, and their optima."""

from topoloom.app.documents.base import Subject
from topoloom.app.documents.cost import COST, CostAnswer
from topoloom.app.documents.group_optimum import GROUP_OPTIMUM, GroupAnswer
from topoloom.app.documents.link_values import Worth
from topoloom.app.documents.optimum import OPTIMUM, OptimumAnswer, Rate
from topoloom.app.documents.schedule import option_key
from topoloom.app.requests.group_traffic import canonical, traffic_by_kind
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import topologies
from topoloom.app.services.all_to_all import exchange_on
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology, asked_options
from topoloom.app.store.artifacts import Answer, Artefact
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options, require_no_options
from topoloom.synth.errors import NotMeasurable


def group_optimum(context: Context, loaded: StoredTopology, request: OptimumRequest) -> Artefact:
    """Return the stored group-optimum/1 document: three rates of every kind of group.

    Raises:
        NoSchedule: The request has an option for all hosts, or as
            `schedules.groups.request.asked_groups`.
    """
    from topoloom.schedules.groups.rate import require_collective

    if asked_options(request, loaded) != Options() or request.values:
        raise NoSchedule("/groups", "must be given with collective and group, or traffic, only")
    collective = Collective.of(request.collective)
    require_collective(collective)

    def compute() -> GroupAnswer:
        from topoloom.schedules.groups.figures import group_figures, traffic_figures
        from topoloom.schedules.groups.request import asked_groups, asked_traffic

        topology = loaded.topology
        if request.traffic is None:
            kinds, placement = asked_groups(topology, request.groups, request.group)
            found = group_figures(topology, kinds, collective)
        else:
            traffic, placement = asked_traffic(
                topology, request.groups, traffic_by_kind(request.traffic)
            )
            found = traffic_figures(topology, traffic)
        subject = Subject.of(loaded.id, topology)
        return GroupAnswer(subject, topology.bandwidth_unit, found, placement)

    asked = {"topology_id": loaded.id, "groups": request.groups}
    if request.traffic is not None:
        asked["traffic"] = canonical(request.traffic)
    else:
        asked["collective"] = collective.value
    if request.group is not None:
        asked["group"] = request.group
    return context.answer(GROUP_OPTIMUM, asked, compute).artefact


def measure(context: Context, source: TopologySource, *, field: str = "") -> Artefact:
    """Return the stored cost/1 document: the exact cost of G and of its transpose."""
    return _measured(context, source, field).artefact


def optimum(
    context: Context,
    source: TopologySource,
    request: OptimumRequest | None = None,
    *,
    field: str = "",
) -> Artefact:
    """Return the stored optimum/1 document: ForestColl's optimum with a certificate.

    With ``trees_per_root``, the document holds the best rate of this number of trees, and the cut
    that forbids a better rate.  With ``max_gap``, it uses the least number of trees within this
    gap, and also holds the gap and the inverse rate of the optimum.  An allreduce has the optima
    of its two passes as ``parts``.  For all-to-all the document is all-to-all/1, with ``groups``
    group-optimum/1.
    """
    request = request or OptimumRequest()
    if request.groups is not None:
        loaded = topologies.load(context, source, field=field)
        _require_small(context, loaded, field)
        return group_optimum(context, loaded, request)
    if request.collective == Collective.ALL_TO_ALL:
        loaded = topologies.load(context, source, field=field)
        require_no_options(asked_options(request, loaded))
        if request.values:
            raise NoSchedule("/values", "must be left out: all-to-all has no trees")
        return exchange_on(context, loaded).artefact
    return _optimal(context, source, request, field).artefact


def rate(context: Context, source: TopologySource, request: OptimumRequest) -> Rate:
    """Return the rate of the optimum; store the optimum."""
    return _optimal(context, source, request, "").value.rate


def _measured(context: Context, source: TopologySource, field: str) -> Answer[CostAnswer]:
    loaded = topologies.load(context, source, field=field)

    def compute() -> CostAnswer:
        from topoloom.synth.evaluation.measurement import measurement

        subject = Subject.of(loaded.id, loaded.topology)
        found = measurement(loaded.topology)
        before = None if loaded.healthy is None else _before(context, loaded.healthy)
        return CostAnswer(subject, found, before)

    return context.answer(COST, {"topology_id": loaded.id}, compute)


def _before(context: Context, healthy: str) -> CostAnswer | None:
    """Return the cost of the healthy topology; None if it is not measurable."""
    try:
        return _measured(context, TopologySource(id=healthy), "").value
    except NotMeasurable:
        return None


def _optimal(
    context: Context, source: TopologySource, request: OptimumRequest, field: str
) -> Answer[OptimumAnswer]:
    loaded = topologies.load(context, source, field=field)
    _require_small(context, loaded, field)
    options = asked_options(request, loaded)
    collective = Collective.of(request.collective)

    def compute() -> OptimumAnswer:
        from topoloom.schedules.optimum.collective_optimum import collective_optimum

        topology = loaded.topology
        found = collective_optimum(topology, collective, options)
        rate = Rate(found.nodes, found.data, found.inverse_rate)
        subject, before = Subject.of(loaded.id, topology), None
        if loaded.healthy is not None:
            healthy = TopologySource(id=loaded.healthy)
            plain = request.model_copy(update={"values": None})
            before = _optimal(context, healthy, plain, field).value
        worth = _worth(context, loaded, collective, options) if request.values else Worth()
        unit = topology.bandwidth_unit
        return OptimumAnswer(subject, unit, rate, found, options, before, worth)

    asked = {"topology_id": loaded.id, **option_key(options)}
    if collective is not Collective.ALLGATHER:
        asked["collective"] = collective.value
    if request.values:
        asked["values"] = True
    return context.answer(OPTIMUM, asked, compute)


def _require_small(context: Context, loaded: StoredTopology, field: str) -> None:
    limit = context.settings.max_optimum_nodes
    context.require_at_most(field or "topology", loaded.node_count, limit, "nodes")


def _worth(
    context: Context, loaded: StoredTopology, collective: Collective, options: Options
) -> Worth:
    """Return the values of the links of a topology, and the gains of undoing its changes."""
    from topoloom.schedules.optimum.link_values import link_values, rates_after_repair

    topology = loaded.topology
    values = link_values(topology, collective, options)
    if loaded.healthy is None:
        return Worth(values)
    healthy = topologies.load(context, TopologySource(id=loaded.healthy)).topology
    return Worth(values, rates_after_repair(healthy, topology, collective, options))
