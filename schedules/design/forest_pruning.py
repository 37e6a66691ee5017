"""Lower bounds that decide which topologies need a forest, before any forest is packed.

Packing trees takes longer than the rest of a design.  The optimum is cheap to compute; together
with the diameter it bounds the time of every forest.  Where other algorithms are as fast as the
bound, no forest is needed.  Where trees could win very little, a design reports the bound.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from topoloom.schedules.baselines import Operation
from topoloom.schedules.compare.crossover import Candidate, Line, fastest_ranges
from topoloom.schedules.compare.topology_algorithms import ORDER
from topoloom.schedules.design.request import Speed
from topoloom.schedules.design.sources import Sources
from topoloom.schedules.errors import TookTooLong, TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Lockstep, Network, lockstep
from topoloom.synth.recipes.build import traits
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.topology.rates import node_capacity

FOREST_NODES = 1024
"""Maximum hosts for which ForestColl's trees are considered."""

EVERY_SIZE_NODES = 128
"""Maximum hosts for which trees are packed if they may win at any size, on any topology."""

LEAST_GAIN = Fraction(1, 6)
"""With more hosts, trees are packed if they may save this share of the fastest design's time."""

MOST_WORK = 1 << 26
"""With more hosts, trees are packed up to this product of roots, nodes and links."""


class TreeBounds(NamedTuple):
    """Lower bounds of trees on a topology: hops to the farthest node, and T_B both ways."""

    hops: int
    gather: Fraction
    scatter: Fraction


def forest_line(reach: TreeBounds, nodes: int, degree: int, work: Operation) -> Line:
    """Return a lower bound on the time of any forest in lock step, as a line in the size.

    Args:
        reach: Of the topology; T_B may be below the optimum.
        nodes, degree: Hosts, and links into each host.
        work: The collective and the speeds; its size is not used.

    A tree of height h >= ``hops`` cut into P pieces takes h + P - 1 >= ``hops`` rounds, each with
    one latency.  The link that is busiest over all rounds carries T_B M / B; each round lasts
    at least as long as its load of that round.  At least N - 1 messages reach every node, so
    ceil((N - 1) / d) use one of its links, and every round has at least one.

    >>> work = Operation(Collective.ALLREDUCE, 1, Fraction(100), Fraction(2))
    >>> forest_line(TreeBounds(3, Fraction(3, 4), Fraction(7, 8)), 8, 2, work)
    Line(fixed_seconds=Fraction(12, 1), seconds_per_byte=Fraction(13, 800), chunks=1, rounds=6, \
max_chunks=None)
    """
    passes = ORDER[work.collective]
    messages = max(reach.hops, ceil(Fraction(nodes - 1, degree)))
    fixed = reach.hops * work.alpha_seconds + messages * work.message_seconds
    wire = sum(((reach.gather, reach.scatter)[which] for which in passes), Fraction(0))
    rounds = len(passes) * reach.hops
    return Line(len(passes) * fixed, wire / work.bytes_per_second, rounds=rounds)


def may_win(line: Line, others: Sequence[Candidate], largest_bytes: int) -> bool:
    """Whether a line is below all others for some size from 1 to ``largest_bytes``.

    >>> ring = Candidate("ring", (Line(Fraction(3), Fraction(3, 32)),))
    >>> [may_win(Line(Fraction(4), Fraction(1, 16)), [ring], most) for most in (31, 32, 33)]
    [False, False, True]
    """
    best = fastest_ranges([*others, Candidate("", (line,))])
    return any(part.name == "" and part.first_bytes <= largest_bytes for part in best)


def packable(recipe: Recipe, nodes: int, degree: int) -> bool:
    """Whether the trees of a topology are packed within `MOST_WORK`.

    Where all nodes are equivalent, packing the trees of one root suffices.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> packable(parse("GeneralizedKautz(4, 1000)"), 1000, 4)
    False
    >>> packable(parse("Circulant(1000, 5, 7)"), 1000, 4)
    True
    """
    roots = 1 if traits(recipe).vertex_transitive else nodes
    return roots * nodes * nodes * degree <= MOST_WORK


def packed_trees(
    recipe: Recipe, passes: Iterable[int], speed: Speed, sources: Sources
) -> tuple[Lockstep | None, Lockstep | None] | None:
    """Return the lock-step trees of passes for one byte; pass 0 is the allgather.

    None beyond the limits of packing.
    """
    both = Collective.ALLGATHER, Collective.REDUCE_SCATTER
    try:
        found = {which: _in_lock_step(recipe, both[which], speed, sources) for which in passes}
    except (TooLarge, TookTooLong):
        return None
    return found.get(0), found.get(1)


def _in_lock_step(
    recipe: Recipe, collective: Collective, speed: Speed, sources: Sources
) -> Lockstep:
    forest, topology = sources.forest(recipe, collective)
    network = Network(
        speed.alpha_seconds,
        speed.bytes_per_second / node_capacity(topology),
        speed.overhead_seconds,
        chunk_seconds=speed.chunk_seconds,
    )
    return lockstep(forest, topology, network, size_bytes=1)
