"""The best rates of a collective in process groups on a topology."""

from topoloom.app.documents.base import Subject
from topoloom.app.documents.group_optimum import GROUP_OPTIMUM, GroupAnswer
from topoloom.app.requests.group_traffic import canonical, sized
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology, asked_options
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options


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
            traffic, placement = asked_traffic(topology, request.groups, sized(request.traffic))
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
