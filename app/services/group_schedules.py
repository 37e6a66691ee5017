"""Schedules of process groups that run at once: made together, verified, stored one by one."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from topoloom.app.documents import group_schedule as documents
from topoloom.app.documents.base import Presented, Subject
from topoloom.app.documents.group_schedule import JointSchedules
from topoloom.app.documents.schedule import SCHEDULE, Kept
from topoloom.app.requests.group_schedules import GroupScheduleRequest
from topoloom.app.requests.group_traffic import canonical, traffic_by_kind
from topoloom.app.requests.schedules import ScheduleRequest
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology
from topoloom.app.store.artifacts import Answer, Artefact, Asked
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.synth.naming.suggestions import one_of

if TYPE_CHECKING:
    from topoloom.schedules.groups.traffic import GroupTraffic

ALGORITHM = "joint"
"""Name of the algorithm in stored schedules."""

MAX_GROUPS = 1024
"""Most groups whose schedules are stored for one request."""


def create(context: Context, request: GroupScheduleRequest) -> Presented:
    """Return the group-schedule/1 document of a request; the schedules are stored."""
    return documents.of(group_schedules(context, request, field="/topology"))


def group_schedules(
    context: Context, request: GroupScheduleRequest, *, field: str = ""
) -> JointSchedules:
    """Return the stored schedules of all groups, with their time.

    Raises:
        NoSchedule, Unreachable, TooLarge: As `schedules.groups.joint_schedule.traffic_schedules`
            and `schedules.groups.request.asked_traffic`.
    """
    from topoloom.schedules.simulate.joint_simulation import simulate_together
    from topoloom.schedules.verify.groups import joint_time

    loaded = topologies.load(context, request.topology, field=field)
    traffic = _traffic(context, loaded, request)
    answers = _answers(context, loaded, request, traffic)
    pairs = [
        (answer.value.load(), one.size_bytes)
        for one, kind in zip(traffic, answers, strict=True)
        for answer in kind
    ]
    time, simulation = joint_time(pairs, loaded.topology), None
    network = request.network(loaded.topology)
    if request.has_sizes:
        topologies.note_speeds(context, loaded.topology, request.alpha_us, request.node_gbps)
        with context.watch():
            simulation = simulate_together(pairs, loaded.topology, network)
    stored = tuple(tuple(answer.artefact for answer in kind) for kind in answers)
    subject, unit = Subject.of(loaded.id, loaded.topology), loaded.topology.bandwidth_unit
    return JointSchedules(subject, unit, traffic, stored, time, network, simulation)


def one_schedule(context: Context, loaded: StoredTopology, request: ScheduleRequest) -> Artefact:
    """Return the stored schedule of one group of a request; all groups run at once.

    Raises:
        NoSchedule: ``number`` is no group, or as `group_schedules`.
    """
    traffic = _traffic(context, loaded, request)
    kinds = [one.kind for one in traffic]
    kind = 0
    if request.traffic is not None and request.group is not None:
        if request.group not in kinds:
            raise NoSchedule("/group", one_of(request.group, kinds))
        kind = kinds.index(request.group)
    if (collective := traffic[kind].collective) != request.collective:
        raise NoSchedule("/collective", f"must be {collective}, that of {kinds[kind]} in traffic")
    number, count = request.number or 0, len(traffic[kind].groups)
    if number >= count:
        raise NoSchedule("/number", f"must be below {count}, the number of {kinds[kind]} groups")
    if context.only_looks:
        return context.answer(SCHEDULE, _key(loaded, request, traffic[kind], number), _no).artefact
    return _answers(context, loaded, request, traffic)[kind][number].artefact


def _no() -> Kept:
    raise AssertionError("a context that only looks computes nothing")


def _traffic(
    context: Context, loaded: StoredTopology, request: GroupScheduleRequest | ScheduleRequest
) -> "tuple[GroupTraffic, ...]":
    """Return the traffic of a request; its size is 1 byte where no size is given."""
    from topoloom.schedules.groups.request import asked_groups, asked_traffic
    from topoloom.schedules.groups.traffic import GroupTraffic

    limit = context.settings.max_forest_nodes
    context.require_at_most("/topology", loaded.node_count, limit, "nodes")
    topology, size = loaded.topology, getattr(request, "bytes", None) or 1
    if request.traffic is not None:
        traffic, _ = asked_traffic(topology, request.groups, traffic_by_kind(request.traffic))
    else:
        kinds, _ = asked_groups(topology, request.groups, request.group)
        if len(kinds) > 1:
            raise NoSchedule("/group", f"must name one kind of group: {', '.join(kinds)}")
        collective = Collective.of(request.collective)
        traffic = tuple(GroupTraffic(*one, collective, size) for one in kinds.items())
    count = sum(len(one.groups) for one in traffic)
    context.require_at_most("/groups", count, MAX_GROUPS, "groups")
    return traffic


def _answers(
    context: Context,
    loaded: StoredTopology,
    request: GroupScheduleRequest | ScheduleRequest,
    traffic: "tuple[GroupTraffic, ...]",
) -> list[list[Answer[Kept]]]:
    """Return the stored schedules of all groups; if one is missing, all are made together."""
    from topoloom.schedules.generate.make_and_verify import schedule_costs
    from topoloom.schedules.model.verified_schedule import OptionLosses

    @cache
    def made() -> tuple[tuple[Schedule, ...], ...]:
        from topoloom.schedules.groups.joint_schedule import traffic_schedules
        from topoloom.schedules.verify.groups import require_valid_groups

        found = traffic_schedules(loaded.topology, traffic)
        for schedules in found:
            require_valid_groups(schedules, loaded.topology)
        return found

    def compute(kind: int, number: int) -> Callable[[], Kept]:
        def kept() -> Kept:
            schedule = made()[kind][number]
            costs = schedule_costs(schedule, loaded.topology)
            subject = Subject.of(loaded.id, loaded.topology)
            return Kept(subject, ALGORITHM, costs, OptionLosses(), lambda: schedule)

        return kept

    return [
        [
            context.answer(SCHEDULE, _key(loaded, request, one, number), compute(kind, number))
            for number in range(len(one.groups))
        ]
        for kind, one in enumerate(traffic)
    ]


def _key(
    loaded: StoredTopology,
    request: GroupScheduleRequest | ScheduleRequest,
    one: "GroupTraffic",
    number: int,
) -> Asked:
    """Return the key of the schedule of one group: the request of this schedule alone."""
    from topoloom.schedules.groups.request import LISTED

    asked = {
        "topology_id": loaded.id,
        "collective": one.collective.value,
        "groups": request.groups,
        "group": None if one.kind == LISTED else one.kind,
        "number": number,
        "traffic": None if request.traffic is None else canonical(request.traffic),
    }
    return {name: value for name, value in asked.items() if value is not None}
