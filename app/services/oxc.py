"""Allreduce schedules for SimAI-OXC: flows between ranks, by step."""

from typing import TYPE_CHECKING

from topoloom.app.documents.base import Presented
from topoloom.app.requests.oxc import OxcRequest
from topoloom.app.services.context import Context
from topoloom.schedules.errors import NoSchedule, NotExportable
from topoloom.synth.errors import SynthError

if TYPE_CHECKING:
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.synth.topology.topology import Topology

RING, HALVING, MESH = "ALGO_OXC_RING", "ALGO_OXC_HD", "ALGO_OXC_NB"
MAX_FLOWS = 1_000_000


def allreduce(context: Context, request: OxcRequest) -> Presented:
    """Return the flows of the allreduce of every domain, as ``[source, target, step, bytes]``.

    Domains of one size run the same schedule.

    Raises:
        NoSchedule: The algorithm is unknown, or does not fit the number of ranks.
        NotExportable: The volume is too small, or there are too many flows.
    """
    from topoloom.schedules.formats.flows import flows
    from topoloom.schedules.formats.lowering.transfers import least_messages

    volume = int(request.commDomainVolume)
    found: list[tuple[int, int, int, int]] = []
    with context.watch():
        made: dict[int, list[tuple[int, int, int, int]]] = {}
        for domain in request.dpCommDomain:
            count = len(domain)
            if count not in made:
                schedule, topology = _schedule(request.algName, count)
                _require_few(len(found) + least_messages(schedule, joined=True))
                try:
                    made[count] = flows(schedule, topology, volume)
                except NotExportable as error:
                    raise NotExportable("/commDomainVolume", error.rule) from None
            _require_few(len(found) + len(made[count]))
            order = _by_rack(domain, request.rankIdRackIdMap)
            found += [
                (order[source], order[target], step, size)
                for source, target, step, size in made[count]
            ]
    return {"flows": [list(flow) for flow in found]}


def _require_few(count: int) -> None:
    if count > MAX_FLOWS:
        raise NotExportable("/dpCommDomain", f"must need at most {MAX_FLOWS} flows")


def _by_rack(domain: list[int], racks: dict[str, str]) -> list[int]:
    """Return the ranks of a domain with those of a rack together, racks in order of appearance.

    >>> _by_rack([4, 0, 5], {"4": "b", "0": "a", "5": "b"})
    [4, 5, 0]
    """
    rack_of = {rank: racks.get(str(rank), str(rank)) for rank in domain}
    places = {rack: at for at, rack in enumerate(dict.fromkeys(rack_of.values()))}
    return sorted(domain, key=lambda rank: places[rack_of[rank]])


def _schedule(name: str, count: int) -> "tuple[Schedule, Topology]":
    """Return the allreduce of an algorithm among ``count`` ranks, and its topology."""
    from topoloom.schedules.generate.collectives import make
    from topoloom.schedules.model.schedule import Collective
    from topoloom.synth.recipes.build import build, size
    from topoloom.synth.recipes.recipe import parse

    if name == HALVING and count > 2:
        return _halving(count)
    known = {RING: f"UniRing({count})", HALVING: "UniRing(2)", MESH: f"Complete({count})"}
    try:
        recipe = parse(known.get(name, name))
        nodes = size(recipe)[0]
        if nodes != count:
            rule = f"must be a recipe of {count} nodes, as many as the domain; it has {nodes}"
            raise NoSchedule("/algName", rule)
        topology = build(recipe)
    except SynthError as error:
        listed = ", ".join((RING, HALVING, MESH))
        raise NoSchedule("/algName", f"must be {listed} or a recipe: {error.rule}") from None
    return make(topology, Collective.ALLREDUCE), topology


def _halving(count: int) -> "tuple[Schedule, Topology]":
    """Return recursive halving and doubling among 2^k ranks."""
    from topoloom.schedules.baselines.rabenseifner import doubling
    from topoloom.schedules.generate.collectives import reverse
    from topoloom.schedules.model.schedule import Collective, SequenceSchedule

    if count & (count - 1):
        raise NoSchedule("/algName", f"must be {RING} or {MESH} for {count} ranks: no power of two")
    topology, gather = doubling(count, 1)
    # The partners are the same in both directions.
    parts = (reverse(gather, topology), gather)
    return SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts), topology
