"""Sweeps: one request over many sizes, jobs or faults, with each answer stored separately.

A sweep computes the missing answers.  `parts` lists its requests, which can run earlier, on any
machine, in any order.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.sweep import SWEEP, SweepAnswer, SweepPart
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.requests.options.sweeps_and_jobs import PartName
from topoloom.app.requests.schedules import OptimumRequest
from topoloom.app.requests.sweeps import MAX_PARTS, SweepRequest
from topoloom.app.requests.topology_source import TopologyChanges, TopologySource
from topoloom.app.services import costs, designs, frontiers, iterations, topologies
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology, asked_options
from topoloom.app.store.artifacts import Artefact, Asked
from topoloom.schedules.errors import ScheduleError, TookTooLong
from topoloom.synth.errors import SynthError
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.degrade import MOST_PAIRS, joined_pairs

if TYPE_CHECKING:
    from topoloom.schedules.optimum.single_faults import FaultKind


@dataclass(frozen=True, slots=True)
class Question:
    """One request of a sweep; for an optimum also the fault and the topology with it."""

    request: FrontierRequest | DesignRequest | IterationRequest | OptimumRequest
    topology: TopologySource | None = None
    fault: "FaultKind | None" = None

    def asked_of(self) -> SweepPart:
        """Return the size or the fault of the question, without an answer."""
        if isinstance(self.request, OptimumRequest):
            return SweepPart(fault=self.fault)
        part = SweepPart(nodes=self.request.nodes, degree=self.request.degree)
        if not isinstance(self.request, IterationRequest):
            return part
        return replace(part, job=self.request.job, topology=self.request.topology or "")

    @property
    def operation(self) -> str:
        """The operation that answers the question."""
        return _OPERATIONS[type(self.request)]

    def body(self) -> Mapping[str, Asked] | Asked:
        """Return the request of the operation as plain JSON."""
        asked = self.request.canonical()
        if self.topology is None:
            return asked
        return {"topology": self.topology.canonical(), **asked}

    def answer(self, context: Context) -> Artefact:
        """Return the stored answer; compute it if it is missing."""
        return _ANSWERS[self.operation](context, self)


_OPERATIONS: Mapping[type, str] = MappingProxyType(
    {
        FrontierRequest: "frontier",
        DesignRequest: "design",
        IterationRequest: "iteration",
        OptimumRequest: "optimum",
    }
)
_ANSWERS: Mapping[str, Callable[[Context, Any], Artefact]] = MappingProxyType(
    {
        "frontier": lambda context, asked: frontiers.frontier(context, asked.request),
        "design": lambda context, asked: designs.create(context, asked.request),
        "iteration": lambda context, asked: iterations.create(context, asked.request),
        "optimum": lambda context, asked: costs.optimum(context, asked.topology, asked.request),
    }
)


def create(context: Context, request: SweepRequest) -> Artefact:
    """Return the stored sweep/1 document that answers a request.

    A question without an answer is a row with the reason, for instance that no wiring exists.
    A timeout ends the sweep; the answers before it stay stored.
    """
    asked, questions = _asked(context, request)

    def compute() -> SweepAnswer:
        asking, found = list(questions), []
        for number, question in enumerate(asking):
            report_progress("sweep", number, len(asking))
            found.append(_answered(context, question))
        return SweepAnswer(asked, found)

    return context.answer(SWEEP, asked, compute).artefact


def parts(context: Context, request: SweepRequest) -> list[Question]:
    """Return the questions of a sweep that can run separately.

    A fault analysis has none: its questions depend on the symmetry of the topology, which only
    the sweep itself computes.  This call stores the topology.
    """
    _, questions = _asked(context, request)
    return [] if request.kind == "fault-analysis" else list(questions)


def _asked(context: Context, request: SweepRequest) -> tuple[Asked, Iterator[Question]]:
    """Return the cache key of a sweep, and its questions."""
    if request.kind != "fault-analysis":
        return request.canonical(), (Question(one) for one in request.host_requests())
    loaded = topologies.load(context, request.topology, field="/topology")
    pairs = joined_pairs(loaded.topology)
    context.require_at_most("/topology", pairs, MOST_PAIRS, "pairs of nodes with links")
    asked = request.optimum_request()
    lost = request.parts_lost
    key = {
        "over": "faults",
        "topology_id": loaded.id,
        "lost": lost,
        "question": asked.canonical(),
    }
    return key, _faults(context, loaded, asked, lost)


def _faults(
    context: Context, loaded: StoredTopology, asked: OptimumRequest, lost: list[PartName]
) -> Iterator[Question]:
    """Yield the question of every kind of fault."""
    from topoloom.schedules.optimum.single_faults import fault_kinds

    kinds = fault_kinds(loaded.topology, asked_options(asked, loaded), lost)
    context.require_at_most("/topology", len(kinds), MAX_PARTS, "kinds of faults")
    for kind in kinds:
        if kind.part == "link":
            changes = TopologyChanges(without_links=[(kind.lost[0], kind.lost[-1])])
            yield Question(asked, TopologySource(id=loaded.id, changes=changes), kind)
            continue
        changes = TopologyChanges(without_nodes=[*kind.lost])
        left = _without(asked, str(kind.lost[0]))
        yield Question(left, TopologySource(id=loaded.id, changes=changes), kind)


def _without(asked: OptimumRequest, lost: str) -> OptimumRequest:
    """Return the same request for the group without the lost rank."""
    members, shards = asked.participants, asked.shards
    return asked.model_copy(
        update={
            "participants": members and [name for name in members if str(name) != lost],
            "shards": shards and [one for one in shards if str(one.rank) != lost],
        }
    )


def _answered(context: Context, question: Question) -> SweepPart:
    try:
        return replace(question.asked_of(), answer=question.answer(context))
    except TookTooLong:
        raise
    except (SynthError, ScheduleError) as error:
        # The row of a fault names the part whose loss breaks the rule.
        rule = str(error) if question.fault is None else error.rule
        return replace(question.asked_of(), rule=rule)
