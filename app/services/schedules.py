"""Schedules: generated, checked by the independent checker, stored, exported."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from app.schemas import ScheduleRequest, TopologySource
from app.services import topologies
from app.services.context import Context
from app.services.demands import FOREST_ONLY, asked_of, options_of
from app.services.topologies import StoredTopology
from app.store import Artefact, Computed
from schedules.errors import InvalidSchedule, NoSchedule
from schedules.formats import FORMATS, Files, Options, require_options
from schedules.model import (
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from synth.errors import ClaimBroken
from synth.topology import Topology

if TYPE_CHECKING:
    from schedules.transcript import Transcript

__all__ = [
    "FORMATS",
    "Files",
    "Options",
    "check",
    "check_exported",
    "create",
    "export",
    "facts",
    "read",
    "read_exported",
    "require_options",
]

PACKED_SCHEDULE = "application/x-topoloom-schedule"
OPTIONS = dict.fromkeys(FOREST_ONLY, "forestcoll") | {"max_chunks": "bfb"}
"""What only one algorithm can be asked for, and which."""


def create(context: Context, request: ScheduleRequest) -> Artefact:
    """Return the stored schedule/1 document that answers a request.

    The artefact's summary says what the schedule is and costs.  Nothing leaves this
    function that the independent checker has not found valid.
    """
    loaded = topologies.load(context, request.topology, field="/topology")
    algorithm = request.algorithm or _fitting(request, loaded.topology)
    for name, only in OPTIONS.items():
        if getattr(request, name) is not None and algorithm != only:
            raise NoSchedule(f"/{name}", f"is for the algorithm {only} only")
    _require_size(context, algorithm, loaded.topology)
    asked: dict[str, Any] = {
        "topology_id": loaded.id,
        "collective": request.collective,
        "algorithm": algorithm,
    }
    asked |= asked_of(request, loaded.topology)
    if request.max_chunks is not None:
        asked["max_chunks"] = request.max_chunks
    return context.answer("schedule", asked, lambda identity: _compute(identity, asked, loaded))


def check(document: Any, topology: Topology) -> list[Any]:
    """Return every violation that a schedule/1 document commits on a topology."""
    from schedules.formats.schedule.read import from_document
    from schedules.verify import violations

    return violations(from_document(document, topology), topology, limit=10_000)


def check_exported(
    form: str, files: list[bytes], topology: Topology, dialect: str | None = None
) -> list[Any]:
    """Return what is wrong with an exported file, or with the traces of all ranks."""
    from schedules.formats.checking import program_violations
    from schedules.formats.msccl.program import Dialect

    return program_violations(form, files, topology, dialect or Dialect.MSCCL)


def read(document: Any, topology: Topology) -> Schedule:
    """Return the schedule of a schedule/1 document that is valid on a topology.

    Raises
    ------
    InvalidSchedule
        It breaks a rule of the format, is for another topology, or is not valid.
    """
    from schedules.formats.schedule.read import from_document
    from schedules.verify import require_valid

    if isinstance(document, dict) and document.get("topology", topology.digest) != topology.digest:
        # Before it is read: the nodes it names may not be there either.
        raise InvalidSchedule("/topology", "must be the digest of the given topology")
    schedule = from_document(document, topology)
    require_valid(schedule, topology)
    return schedule


def read_exported(
    form: str, files: list[bytes], topology: Topology | None, dialect: str | None = None
) -> "Transcript":
    """Return what the ranks of an exported program send, on a topology if one is given.

    Raises
    ------
    InvalidProgram
        Its replay says no, it does not fit the topology, or it is a table of NCCL's tuner.
    """
    from schedules.formats.checking import require_wired, transcript_of
    from schedules.formats.msccl.program import Dialect

    found = transcript_of(form, files, dialect or Dialect.MSCCL)
    if topology is not None:
        require_wired(found, topology)
    return found


def export(
    context: Context, artefact: Artefact, form: str, options: Options
) -> Iterable[str] | Files:
    """Return a stored schedule in one of `FORMATS`: text in pieces, or several files.

    Raises
    ------
    NotExportable
        There is no such format or option, or it cannot express this schedule.
    """
    from schedules.formats import write
    from schedules.formats.schedule.binary import unpack

    source = TopologySource(id=artefact.summary["topology_id"])
    topology = topologies.load(context, source).topology
    return write(form, unpack(artefact.content), topology, options)


def facts(schedule: Schedule, topology: Topology) -> dict[str, Any]:
    """Return what a schedule costs, derived from its sends alone.

    Step schedules: ``steps``, ``bandwidth`` (T_B in units of M / B) and
    ``chunks_per_shard``.  Tree schedules: ``inverse_rate`` (time per byte of a shard of
    size 1), ``trees_per_root``, the number of ``ranks`` and the size ``data`` of all shards.
    Routes: ``inverse_rate`` (time in which every rank sends a unit to every other),
    ``bandwidth`` of it, ``steps`` (most hops) and ``units_per_pair``.
    Sequences: the sums, and the parts.  On topologies with ``multicast`` switches, what
    they save.
    """
    from schedules.verify import step_cost, tree_inverse_rate

    if isinstance(schedule, RouteSchedule):
        return _route_facts(schedule, topology)
    if isinstance(schedule, SequenceSchedule):
        total = _sequence_facts([facts(part, topology) for part in schedule.parts])
        return total | _sharing(schedule, topology)
    if isinstance(schedule, StepSchedule):
        cost = step_cost(schedule, topology)
        return {
            "collective": schedule.collective.value,
            "steps": cost.steps,
            "bandwidth": str(cost.bandwidth),
            "chunks_per_shard": schedule.chunks_per_shard,
        }
    return {
        "collective": schedule.collective.value,
        "inverse_rate": str(tree_inverse_rate(schedule, topology)),
        "trees_per_root": schedule.trees_per_root,
        "ranks": len(schedule.ranks),
        "data": sum(schedule.sizes),
        **_sharing(schedule, topology),
    }


def _route_facts(schedule: RouteSchedule, topology: Topology) -> dict[str, Any]:
    from schedules.verify import route_inverse_rate, route_phases
    from schedules.verify.costs import node_capacity

    rate = route_inverse_rate(schedule, topology)
    return {
        "collective": schedule.collective.value,
        "steps": len(route_phases(schedule, topology)),
        "bandwidth": str(rate * node_capacity(topology) / len(topology.compute_nodes)),
        "inverse_rate": str(rate),
        "units_per_pair": schedule.units_per_pair,
    }


def _sharing(schedule: Schedule, topology: Topology) -> dict[str, Any]:
    """Return what multicast switches save: how many units of data cross how many links."""
    from schedules.verify import together_inverse_rate, tree_loads

    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if not topology.multicast or len(trees) < len(parts):
        return {}
    crossings, unshared = (
        sum(
            Fraction(sum(tree_loads(part, topology, shared=shared).values()), part.trees_per_root)
            for part in trees
        )
        for shared in (True, False)
    )
    found = {"crossings": str(crossings), "crossings_unshared": str(unshared)}
    if isinstance(schedule, SequenceSchedule):
        found["inverse_rate_together"] = str(together_inverse_rate(schedule, topology))
    return {"multicast": found}


def _sequence_facts(parts: list[dict[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {"collective": Collective.ALLREDUCE.value}
    if all("steps" in part for part in parts):
        total["steps"] = sum(part["steps"] for part in parts)
    for name in ("bandwidth", "inverse_rate"):
        if all(name in part for part in parts):
            total[name] = str(sum((Fraction(part[name]) for part in parts), Fraction()))
    for name in ("chunks_per_shard", "trees_per_root", "ranks", "data"):
        if all(name in part for part in parts):
            total[name] = max(part[name] for part in parts)
    total["parts"] = parts
    return total


def _fitting(request: ScheduleRequest, topology: Topology) -> str:
    """Return the algorithm for a request that leaves the choice to us."""
    if request.collective == Collective.ALL_TO_ALL:
        return "mcf"
    equal_links = not topology.switches and len(set(topology.capacities)) == 1
    if any(getattr(request, name) is not None for name in FOREST_ONLY):
        return "forestcoll"
    if Collective.of(request.collective).has_root:
        return "forestcoll"
    return "bfb" if equal_links or request.max_chunks is not None else "forestcoll"


def _compute(identity: str, asked: dict[str, Any], loaded: StoredTopology) -> Computed:
    from schedules.collectives import make
    from schedules.formats.schedule.binary import pack
    from schedules.verify import require_valid

    topology = loaded.topology
    collective = Collective.of(asked["collective"])
    options = options_of(asked)
    schedule = make(
        topology, collective, asked["algorithm"], max_chunks=asked.get("max_chunks"), **options
    )
    require_valid(schedule, topology)
    losses = _require_claimed_cost(schedule, topology, asked)
    summary = {
        "id": identity,
        "topology_id": loaded.id,
        "topology_digest": topology.digest,
        "name": topology.name,
        "algorithm": asked["algorithm"],
        **facts(schedule, topology),
        **losses,
    }
    return Computed(pack(schedule), PACKED_SCHEDULE, summary)


def _require_claimed_cost(
    schedule: Schedule, topology: Topology, asked: dict[str, Any]
) -> dict[str, str]:
    """Refuse a schedule whose sends cost more than its algorithm's theorem says.

    Returns what was lost by what was asked for: ``bandwidth_loss``, in M / B, for want of
    chunks; ``gap``, as a share of the optimum, for want of trees.

    Raises
    ------
    ClaimBroken
        A bug: the cost derived link by link is not the one of the graph.
    """
    if isinstance(schedule, RouteSchedule):
        # No theorem names its cost; all-to-all/1 gives its bound.
        return {}
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    judged = [_judged(part, topology, asked) for part in parts]
    for part, verdict in zip(parts, judged, strict=True):
        if not verdict.kept:
            costs = f"{verdict.derived}, not {verdict.claimed}"
            raise ClaimBroken("schedule", f"the {part.collective} costs {costs}")
    if "max_chunks" in asked:
        lost = (verdict.derived.bandwidth - verdict.best.bandwidth for verdict in judged)
        return {"bandwidth_loss": str(sum(lost, Fraction(0)))}
    if "max_gap" in asked:
        taken, least = (
            sum((getattr(verdict, name) for verdict in judged), Fraction(0))
            for name in ("derived", "best")
        )
        return {"gap": str(taken / least - 1)}
    return {}


class _Verdict(NamedTuple):
    """``best`` is what no number of chunks or trees could beat, where that is known."""

    derived: Any
    claimed: Any
    kept: bool
    best: Any = None


def _judged(
    part: StepSchedule | TreeSchedule, topology: Topology, asked: dict[str, Any]
) -> _Verdict:
    """Return the cost of a part beside what is claimed of it."""
    from schedules import bfb, lift
    from schedules.forestcoll import optimum
    from schedules.verify import step_cost, tree_inverse_rate
    from synth.measure import measure

    inward = not part.collective.outward
    if isinstance(part, TreeSchedule):
        rate = tree_inverse_rate(part, topology)
        least = optimum(topology, inward=inward, **options_of(asked))
        best = least.inverse_rate / (1 + least.gap)
        return _Verdict(rate, least.inverse_rate, rate <= least.inverse_rate, best)
    # A reduce-scatter is the allgather of the transpose, run backwards.
    graph = topology.transpose() if inward else topology
    derived = step_cost(part, topology)
    if asked["algorithm"] == "bfb":
        most, best = asked.get("max_chunks"), measure(graph)
        claimed = best if most is None else bfb.cost(graph, most)
        return _Verdict(derived, claimed, derived == claimed, best)
    claim = lift.claim_on(graph)
    return _Verdict(derived, claim, claim is None or claim.covers(derived))


def _require_size(context: Context, algorithm: str, topology: Topology) -> None:
    settings = context.settings
    limit = {
        "forestcoll": settings.max_forest_nodes,
        "mcf": settings.max_routed_nodes,
        "shortest-paths": settings.max_routed_nodes,
    }.get(algorithm, settings.max_scheduled_nodes)
    context.require_at_most("/topology", topology.node_count, limit, "nodes")
