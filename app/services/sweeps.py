"""Sweeps: one question asked of many, each answer stored by itself, and all in one document.

A sweep computes what is not stored yet.  Its questions can be carried out before, anywhere, in
any order: `parts` says which they are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from app.documents.sweep import SWEEP, Part, SweepAnswer
from app.schemas import DesignRequest, FrontierRequest, OptimumRequest, TopologySource
from app.services import costs, designs, frontiers, topologies
from app.services.context import Context
from app.store import Artefact, Asked
from app.sweep_request import MAX_PARTS, SweepRequest
from app.topology_source import TopologyChanges
from schedules.errors import ScheduleError, TookTooLong
from schedules.progress import tell
from synth.errors import SynthError
from synth.topology import NodeId

__all__ = ["Question", "create", "parts"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a sweep: a request, and of an optimum the topology beside it."""

    request: FrontierRequest | DesignRequest | OptimumRequest
    topology: TopologySource | None = None
    link: tuple[NodeId, NodeId] | None = None

    def asked_of(self) -> Part:
        """Return what it is asked of, without an answer."""
        if isinstance(self.request, OptimumRequest):
            return Part(link=self.link)
        return Part(nodes=self.request.nodes, degree=self.request.degree)

    @property
    def operation(self) -> str:
        """The operation that answers it."""
        return _OPERATIONS[type(self.request)]

    def body(self) -> Mapping[str, Asked] | Asked:
        """Return the request of that operation as plain JSON."""
        asked = self.request.canonical()
        if self.topology is None:
            return asked
        return {"topology": self.topology.canonical(), **asked}

    def answer(self, context: Context) -> Artefact:
        """Return its stored answer, computed if need be."""
        return _ANSWERS[self.operation](context, self)


_OPERATIONS: Mapping[type, str] = MappingProxyType(
    {FrontierRequest: "frontier", DesignRequest: "design", OptimumRequest: "optimum"}
)
_ANSWERS: Mapping[str, Callable[[Context, Any], Artefact]] = MappingProxyType(
    {
        "frontier": lambda context, asked: frontiers.frontier(context, asked.request),
        "design": lambda context, asked: designs.create(context, asked.request),
        "optimum": lambda context, asked: costs.optimum(context, asked.topology, asked.request),
    }
)


def create(context: Context, request: SweepRequest) -> Artefact:
    """Return the stored sweep/1 document that answers a request.

    A question that has no answer, since its hosts cannot be wired so for instance, is a row
    that says why.  What takes too long ends all of it; what was computed by then is kept.
    """
    asked, questions = _asked(context, request)

    def compute() -> SweepAnswer:
        asking, found = list(questions), []
        for number, question in enumerate(asking):
            tell("sweep", number, len(asking))
            found.append(_answered(context, question))
        return SweepAnswer(asked, found)

    return context.keep(SWEEP, asked, compute)


def parts(context: Context, request: SweepRequest) -> list[Question]:
    """Return the questions of a sweep; the topology that loses links is stored by then."""
    return list(_asked(context, request)[1])


def _asked(context: Context, request: SweepRequest) -> tuple[Asked, Iterator[Question]]:
    """Return the key of a sweep, and its questions."""
    if request.over != "faults":
        return request.canonical(), (Question(one) for one in request.hosts_asked())
    loaded = topologies.load(context, request.topology, field="/topology")
    ends = (frozenset((link.source, link.target)) for link in loaded.topology.links)
    pairs = [tuple(sorted(pair, key=str)) for pair in dict.fromkeys(ends) if len(pair) == 2]
    context.require_at_most("/topology", len(pairs), MAX_PARTS, "pairs of nodes with links")
    asked = request.optimum_asked()
    key = {"over": "faults", "topology_id": loaded.id, "question": asked.canonical()}
    return key, (_fault(loaded.id, one, other, asked) for one, other in pairs)


def _fault(identity: str, one: NodeId, other: NodeId, asked: OptimumRequest) -> Question:
    changes = TopologyChanges(without_links=[(one, other)])
    return Question(asked, TopologySource(id=identity, changes=changes), (one, other))


def _answered(context: Context, question: Question) -> Part:
    try:
        return replace(question.asked_of(), answer=question.answer(context))
    except TookTooLong:
        raise
    except (SynthError, ScheduleError) as error:
        return replace(question.asked_of(), rule=str(error))
