"""Schedules: generated, checked by the independent checker, stored, exported."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.base import Subject
from topoloom.app.documents.schedule import SCHEDULE, Kept, option_key
from topoloom.app.requests.schedules import ScheduleRequest
from topoloom.app.services import group_schedules, topologies
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology, asked_options
from topoloom.app.store.artifacts import Answer, Artefact
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats import Files, Options
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.options import Options as Make
from topoloom.schedules.options import require_supported
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.verify import Violation


def create(context: Context, request: ScheduleRequest) -> Artefact:
    """Return the stored schedule/1 document that answers a request.

    The summary of the artefact holds the kind and the costs of the schedule.  The independent
    checker has verified every returned schedule.
    """
    from topoloom.schedules.generate.make_and_verify import default_algorithm

    loaded = topologies.load(context, request.topology, field="/topology")
    if request.groups is not None:
        return group_schedules.one_schedule(context, loaded, request)
    options = asked_options(request, loaded)
    collective = Collective.of(request.collective)
    algorithm = request.algorithm or default_algorithm(loaded.topology, collective, options)
    return made(context, loaded, collective, algorithm, options).artefact


def made(
    context: Context,
    loaded: StoredTopology,
    collective: Collective,
    algorithm: str,
    options: Make,
) -> Answer[Kept]:
    """Return the stored, verified schedule of an algorithm, and its value."""
    require_supported(algorithm, options)
    _require_size(context, algorithm, loaded.node_count)

    def compute() -> Kept:
        from topoloom.schedules.generate.make_and_verify import verified_schedule

        done = verified_schedule(loaded.topology, collective, algorithm, options)
        subject = Subject.of(loaded.id, loaded.topology)
        return Kept(subject, algorithm, done.facts, done.losses, lambda: done.schedule)

    asked = {
        "topology_id": loaded.id,
        "collective": collective.value,
        "algorithm": algorithm,
        **option_key(options),
    }
    return context.answer(SCHEDULE, asked, compute)


def check(document: Any, topology: Topology) -> "list[Violation]":
    """Return every violation of a schedule/1 document on a topology."""
    from topoloom.schedules.formats.schedule.read import from_document
    from topoloom.schedules.verify import violations

    return violations(from_document(document, topology), topology, limit=10_000)


def read(document: Any, topology: Topology) -> Schedule:
    """Return the schedule of a schedule/1 document that is valid on a topology.

    Raises:
        InvalidSchedule: The document breaks a rule of the format, is for another topology, or is
            not valid.
    """
    from topoloom.schedules.formats.schedule.read import from_document
    from topoloom.schedules.verify import require_valid

    if isinstance(document, dict) and document.get("topology", topology.digest) != topology.digest:
        # Before the schedule is read: its nodes may be missing, too.
        raise InvalidSchedule("/topology", "is another topology than the given one")
    schedule = from_document(document, topology)
    require_valid(schedule, topology)
    return schedule


def export(
    context: Context, artefact: Artefact, form: str, options: Options
) -> Iterable[str] | Files:
    """Return a stored schedule in one of `FORMATS`: text in pieces, or several files.

    Raises:
        NotExportable: The format or option does not exist, or the format cannot express this
            schedule.
    """
    from topoloom.schedules.formats import write

    kept = SCHEDULE.read(artefact)
    topology = topologies.load_subject(context, kept.subject).topology
    return write(form, kept.load(), topology, options)


def _require_size(context: Context, algorithm: str, nodes: int) -> None:
    settings = context.settings
    limit = {
        "forestcoll": settings.max_forest_nodes,
        "mcf": settings.max_routed_nodes,
        "shortest-paths": settings.max_routed_nodes,
    }.get(algorithm, settings.max_scheduled_nodes)
    context.require_at_most("/topology", nodes, limit, "nodes")
