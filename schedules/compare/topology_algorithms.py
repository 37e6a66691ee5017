"""The fastest algorithm and number of chunks by message size on a topology.

A topology is wired once per job; its algorithm may differ from message to message.  An *offer*
states the exact costs that a topology supports.  `topology_candidates` turns an offer into times as
functions of the size, which `schedules.compare.crossover` compares.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Literal

from topoloom.schedules.baselines import PASSES, Operation, seconds
from topoloom.schedules.compare.crossover import Candidate, tree_candidate
from topoloom.schedules.compare.stepped_time_models import Loads, StepPass, pass_candidate
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import ONE_SHOT
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Lockstep
from topoloom.synth.evaluation.cost import Cost


@dataclass(frozen=True, slots=True)
class Routing:
    """A routing of an all-to-all; ``cost`` is its largest number of hops and T_B."""

    algorithm: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class TopologyCosts:
    """Costs of the algorithms on a topology of ``nodes`` hosts.

    Attributes:
        gather, scatter: Costs of step schedules on the graph and on its transpose.
        trees (pair of Lockstep): ForestColl's allgather and reduce-scatter of one byte, or None
            without trees.  A pass is None where no collective uses it.
        routings: Routings of all-to-all, where needed.
        algorithm: Algorithm of the steps: ``bfb`` or ``slack``.
        loads (pair of Loads): Link loads by step, on the graph and on its transpose.  Needed where
            chunks cost time.
        degree: Ports per host; for all-to-all only.
        lifted (pair of StepPass): Schedules lifted from the bases of the recipe, likewise; None
            where not compared.
    """

    nodes: int
    gather: Cost
    scatter: Cost
    trees: tuple[Lockstep | None, Lockstep | None] | None = None
    routings: tuple[Routing, ...] = ()
    algorithm: Literal["bfb", "slack"] = "bfb"
    loads: tuple[Loads, Loads] | None = None
    lifted: tuple[StepPass, StepPass] | None = None
    degree: int = 1


def topology_candidates(
    offer: TopologyCosts, work: Operation, largest_bytes: int
) -> tuple[Candidate, ...]:
    """Return all algorithms for a collective on a topology, as times by message size.

    - ``bfb`` or ``slack``: steps; an allreduce has both passes.
    - `ONE_SHOT`: an allreduce in one pass of N M bytes, with half the steps for small messages.
    - ``lifted``: the same by a schedule lifted from the bases of the recipe.
    - ``forestcoll``: trees in lock step, or all-to-all by each routing, cut optimally up to
      ``largest_bytes``.

    Where chunks cost time, ``bfb`` and ``slack`` have a line per useful number of chunks.

    Args:
        offer: Costs on the topology.
        work: The collective and the speeds; its size is not used.

    Raises:
        NoSchedule: The offer has no algorithm for this collective.

    Where steps reach the optimal bandwidth (N - 1) / N, no pipeline is faster: trees need at
    least as many rounds as the diameter, and their busiest link carries at least as much.

    >>> from topoloom.schedules.compare.crossover import fastest_ranges
    >>> work = Operation(Collective.ALLREDUCE, 1, Fraction(10**10), Fraction(1, 10**5))
    >>> offer = TopologyCosts(12, Cost(2, Fraction(11, 12)), Cost(2, Fraction(11, 12)))
    >>> found = fastest_ranges(topology_candidates(offer, work, 2**30))
    >>> [(part.name, part.first_bytes) for part in found]
    [('bfb-one-shot', 1), ('bfb', 21819)]
    """
    if work.collective is Collective.ALL_TO_ALL and offer.routings:
        return tuple(_routed(one, offer, work, largest_bytes) for one in offer.routings)
    if work.collective not in PASSES:
        raise NoSchedule("/collective", f"nothing is offered for {work.collective}")
    found = []
    loads = offer.loads or (None, None)
    own = StepPass(offer.gather, loads[0]), StepPass(offer.scatter, loads[1])
    ways = {offer.algorithm: own} | ({"lifted": offer.lifted} if offer.lifted else {})
    for name, both in ways.items():
        passes = [both[which] for which in ORDER[work.collective]]
        found.append(pass_candidate(name, passes, work))
        if work.collective is Collective.ALLREDUCE:
            once = [passes[-1].widened(offer.nodes)]
            found.append(pass_candidate(ONE_SHOT[name], once, work))
    if offer.trees:
        trees = [offer.trees[which] for which in ORDER[work.collective]]
        found.append(tree_candidate("forestcoll", [one for one in trees if one], largest_bytes))
    return tuple(found)


def floor_seconds(bounds: Cost, all_to_all: Fraction, work: Operation) -> Fraction:
    """Return a lower bound on the time of any algorithm on any topology of this size.

    Args:
        bounds: `synth.evaluation.cost.lower_bound` of the hosts.
        all_to_all: `synth.evaluation.cost.all_to_all_bound` of the hosts.

    Data of every rank must reach the farthest rank: ``bounds.steps`` hops, also in an
    allreduce.  Transmission of an allreduce takes twice as long as that of an allgather: hosts
    together must send 2 (N - 1) times the buffer (Patarasuk and Yuan, "Bandwidth optimal
    all-reduce algorithms", 2009).

    >>> work = Operation(Collective.ALLREDUCE, 10**6, Fraction(10**10), Fraction(1, 10**5))
    >>> float(floor_seconds(Cost(2, Fraction(1, 2)), Fraction(1), work))
    0.00012
    """
    if work.collective is Collective.ALL_TO_ALL:
        return seconds(bounds.steps, all_to_all, work)
    wire = PASSES[work.collective] * bounds.bandwidth
    return seconds(bounds.steps, wire, work, bounds.steps)


ORDER = {
    Collective.ALLGATHER: (0,),
    Collective.REDUCE_SCATTER: (1,),
    Collective.ALLREDUCE: (1, 0),
}
"""The passes of a collective: 0 on the graph, 1 on its transpose."""


def _routed(
    routing: Routing, offer: TopologyCosts, work: Operation, largest_bytes: int
) -> Candidate:
    """Return an all-to-all as a pipeline in which every round runs all hops at once.

    A message carries at most one block: the busiest link has at least as many messages as blocks.
    """
    depth = routing.cost.steps
    whole = routing.cost.bandwidth / work.bytes_per_second
    rows = tuple((whole,) * (depth - level) for level in range(depth))
    rounds = Lockstep(work.alpha_seconds, depth, rows)
    if work.message_seconds:
        blocks = ceil(routing.cost.bandwidth * Fraction(offer.nodes, offer.degree))
        counts = tuple((blocks,) * (depth - level) for level in range(depth))
        rounds = replace(rounds, message_seconds=work.message_seconds, window_messages=counts)
    return tree_candidate(routing.algorithm, [rounds], largest_bytes)
