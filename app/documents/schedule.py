"""The summary of a schedule, the answer of `POST /v1/schedules`, and its storage.

The schedule itself can be large: the store keeps it packed, and it is unpacked on demand.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Exact,
    Identity,
    Subject,
    assumed_field,
    given_members,
    omitted,
)
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.options import Options

if TYPE_CHECKING:
    from topoloom.schedules.model.verified_schedule import (
        MulticastSavings,
        OptionLosses,
        ScheduleCosts,
    )

PACKED_SCHEDULE = "application/x-topoloom-schedule"


@dataclass(frozen=True, slots=True)
class Kept:
    """A verified schedule with its cost; ``load`` returns its sends."""

    subject: Subject
    algorithm: str
    facts: "ScheduleCosts"
    losses: "OptionLosses"
    load: Callable[[], Schedule]


class SharingDocument(Document):
    """Savings by multicast switches, in units of shard size times links."""

    crossings: Exact = Field(description="data on links, summed over the links")
    crossings_unshared: Exact = Field(description="the same without multicast")
    inverse_rate_together: Exact = omitted("allreduce: inverse rate of both passes at once")


class CostFacts(Document):
    """The cost of a schedule, computed from its sends alone."""

    collective: str = Field(description="collective of the schedule")
    steps: int = omitted("number of steps, or hops of the longest route", ge=0)
    bandwidth: Exact = omitted("T_B in units of M/B, exact")
    inverse_rate: Exact = omitted(
        "trees: time per byte of a shard of size 1, M bytes take M / data times as long; routes: "
        "time for every rank to send one unit to every other; in 1 / bandwidth unit of the topology"
    )
    chunks_per_shard: int = omitted("steps: chunks per shard", ge=1)
    trees_per_root: int = omitted("trees: number per unit of shard size", ge=1)
    units_per_pair: int = omitted("routes: units per pair of ranks", ge=1)
    ranks: int = omitted("trees, and routes beside idle hosts: number of participating ranks", ge=1)
    data: int = omitted("trees: total size of the shards", ge=1)


class PartFacts(CostFacts):
    """A part of an allreduce."""

    multicast: SharingDocument = omitted("trees: savings by multicast switches")


class ScheduleSummary(CostFacts):
    """Summary of a verified schedule; the id leads to the schedule itself."""

    id: Identity = Field(description="id of the schedule")
    topology_id: Identity = Field(description="id of the topology")
    topology_digest: Digest = Field(description="digest of the topology")
    name: str = Field(description="name of the topology; may be empty")
    assumed: list[AssumptionDocument] = assumed_field()
    algorithm: str = Field(description="algorithm")
    parts: list[PartFacts] = omitted("allreduce: reduce-scatter, then allgather")
    together: bool = omitted("allreduce: whether both parts run simultaneously, as one pipeline")
    multicast: SharingDocument = omitted("trees: savings by multicast switches")
    bandwidth_loss: Exact = omitted("with max_chunks: T_B above the minimum, in units of M/B")
    gap: Exact = omitted("fewer trees or passes in turn: time above the optimum, as a share of it")


def of(kept: Kept, identity: str) -> dict[str, Any]:
    """Return the summary of a schedule."""
    losses = {"bandwidth_loss": kept.losses.bandwidth, "gap": kept.losses.gap}
    return {
        "id": identity,
        **kept.subject.members(),
        "algorithm": kept.algorithm,
        **given_facts(kept.facts),
        **{name: str(lost) for name, lost in losses.items() if lost is not None},
    }


def given_facts(facts: "ScheduleCosts") -> dict[str, Any]:
    """Return the facts of a schedule as JSON members."""
    exact = {"bandwidth", "inverse_rate"}
    members: dict[str, Any] = {"collective": facts.collective.value}
    for name in ("steps", "bandwidth", "inverse_rate", *_COUNTS):
        value = getattr(facts, name)
        if value is not None:
            members[name] = str(value) if name in exact else value
    if facts.parts:
        members["parts"] = [given_facts(part) for part in facts.parts]
    if facts.together:
        members["together"] = True
    if facts.multicast is not None:
        members["multicast"] = _sharing(facts.multicast)
    return members


_COUNTS = ("chunks_per_shard", "trees_per_root", "units_per_pair", "ranks", "data")


def facts_of(members: Mapping[str, Any]) -> "ScheduleCosts":
    """Return the facts of a summary or of a part.

    >>> from topoloom.schedules.model.verified_schedule import ScheduleCosts
    >>> facts = ScheduleCosts(Collective.ALLGATHER, 2, Fraction(11, 12), chunks_per_shard=1)
    >>> facts_of(given_facts(facts)) == facts
    True
    """
    from topoloom.schedules.model.verified_schedule import ScheduleCosts

    exact = {
        name: Fraction(members[name]) for name in ("bandwidth", "inverse_rate") if name in members
    }
    saved = members.get("multicast")
    return ScheduleCosts(
        Collective.of(members["collective"]),
        steps=members.get("steps"),
        **exact,
        **{name: members.get(name) for name in _COUNTS},
        parts=tuple(facts_of(part) for part in members.get("parts", ())),
        multicast=None if saved is None else _shared(saved),
        together=members.get("together", False),
    )


def option_key(options: Options) -> dict[str, Any]:
    """Return the options of an algorithm as plain JSON, the key of its answer.

    >>> option_key(Options(max_gap=Fraction(1, 10), root="a"))
    {'max_gap': '1/10', 'root': 'a'}
    """
    shards: Mapping[Any, int] | None = options.shards
    return given_members(
        trees_per_root=options.trees_per_root,
        max_gap=None if options.max_gap is None else str(options.max_gap),
        root=options.root,
        shards=None
        if shards is None
        else [{"rank": rank, "size": size} for rank, size in shards.items()],
        participants=None if options.participants is None else list(options.participants),
        max_chunks=options.max_chunks,
        steps=options.steps,
        max_height=options.max_height,
    )


def _sharing(saved: "MulticastSavings") -> dict[str, str]:
    members = {
        "crossings": saved.crossings,
        "crossings_unshared": saved.crossings_unshared,
        "inverse_rate_together": saved.together,
    }
    return {name: str(value) for name, value in members.items() if value is not None}


def _shared(members: Mapping[str, str]) -> "MulticastSavings":
    from topoloom.schedules.model.verified_schedule import MulticastSavings

    together = members.get("inverse_rate_together")
    return MulticastSavings(
        Fraction(members["crossings"]),
        Fraction(members["crossings_unshared"]),
        None if together is None else Fraction(together),
    )


def _encode(kept: Kept, identity: str) -> Computed:
    from topoloom.schedules.formats.schedule.binary import pack

    return Computed(pack(kept.load()), PACKED_SCHEDULE, of(kept, identity))


def _decode(artefact: Artefact) -> Kept:
    from topoloom.schedules.formats.schedule.binary import unpack
    from topoloom.schedules.model.verified_schedule import OptionLosses

    members = artefact.summary
    lost, gap = (members.get(name) for name in ("bandwidth_loss", "gap"))
    return Kept(
        Subject.from_document(members),
        members["algorithm"],
        facts_of(members),
        OptionLosses(
            None if lost is None else Fraction(lost),
            None if gap is None else Fraction(gap),
        ),
        partial(unpack, artefact.content),
    )


SCHEDULE = Kind("schedule", _encode, _decode)
