"""The optimum of a collective on a topology, with the cut that proves it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TypeAlias

from topoloom.schedules.errors import TookTooLong, TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.cut_description import BoxPart, Crossing, box_parts, crossings
from topoloom.schedules.options import Options, require_root
from topoloom.schedules.trees.forestcoll import Optimum, optimum
from topoloom.schedules.trees.linear_program.certificate import Cut as WeightedCut
from topoloom.schedules.trees.linear_program.certificate import Proof
from topoloom.schedules.trees.rates.allreduce_rate import AllreduceBound, allreduce_bound
from topoloom.schedules.verify.cuts import (
    cut_inverse_rate,
    pattern_inverse_rate,
    weighted_inverse_rate,
)
from topoloom.synth.errors import ClaimBroken
from topoloom.synth.topology.topology import NodeId, Topology


@dataclass(frozen=True, slots=True)
class Cut:
    """A set of nodes whose links to the rest limit the rate.

    ``nodes`` are in topology order; ``compute_inside`` of them take part and bring ``data_inside``
    units.  ``capacity`` is that of the links out of the set, or into the set for a collective that
    gathers data.  ``links`` are these links, grouped; ``boxes`` are the nodes of the set by box.
    """

    nodes: tuple[NodeId, ...]
    compute_inside: int
    data_inside: int
    capacity: Fraction
    boxes: tuple[BoxPart, ...] = ()
    links: tuple[Crossing, ...] = ()


Sets: TypeAlias = tuple[tuple[tuple[NodeId, ...], Fraction], ...]
"""Node sets in topology order, each with its weight."""


@dataclass(frozen=True, slots=True)
class PatternProof:
    """Node sets and prices for the trees that are copied at the switches ``copying`` alone."""

    copying: tuple[NodeId, ...]
    sets: Sets
    prices: tuple[tuple[NodeId, Fraction], ...]


@dataclass(frozen=True, slots=True)
class BalanceProof:
    """Proof of the optimum where forwarding nodes cannot pass on all capacity that a cut counts.

    ``sets`` are node sets with weights, ``prices`` the weights of such nodes, ``sharing`` those of
    shared limits by their index; see `schedules.trees.linear_program.certificate`.  The bottleneck
    is then a cut of the usable capacities.  Where trees are copied at different switches,
    ``patterns`` alone are the proof.
    """

    sets: Sets
    prices: tuple[tuple[NodeId, Fraction], ...]
    sharing: tuple[tuple[int, Fraction], ...] = ()
    patterns: tuple[PatternProof, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeGap:
    """The gap to the optimum of the fewest trees within ``max_gap``."""

    max_gap: Fraction
    gap: Fraction


@dataclass(frozen=True, slots=True)
class PassOptimum:
    """The optimum of one pass; see `schedules.trees.forestcoll.Optimum` for the members.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> collective_optimum(ring, Collective.ALLGATHER, Options()).passes[0].algbw
    Fraction(3, 2)
    """

    collective: Collective
    nodes: int
    data: int
    inverse_rate: Fraction
    trees_per_root: int
    unit_bandwidth: Fraction
    bottleneck: Cut
    near: TreeGap | None = None
    proof: BalanceProof | None = None
    least: bool | None = None
    bound: Fraction | None = None

    @property
    def algbw(self) -> Fraction:
        """Bytes per unit of time, in the bandwidth unit of the topology."""
        return self.data / self.inverse_rate

    @property
    def optimal_inverse_rate(self) -> Fraction:
        """The least inverse rate over all numbers of trees."""
        return self.inverse_rate / (1 + (self.near.gap if self.near else 0))


@dataclass(frozen=True, slots=True)
class ConcurrentPasses:
    """Bounds on an allreduce whose two passes run at once.

    ``algbw`` is an upper bound; ``feasible`` is reached, by passes in sequence or at once.
    ``gap`` is the excess of the time in sequence over ``inverse_rate``, as a share.  ``shares`` are
    those of the roots, with sum 1, where concurrent passes need unequal ones.  ``at_once`` states
    whether concurrent passes are faster.
    """

    inverse_rate: Fraction
    algbw: Fraction
    feasible: Fraction
    gap: Fraction
    at_once: bool = False
    shares: tuple[tuple[NodeId, Fraction], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the reached rate equals the upper bound."""
        return self.feasible == self.algbw


@dataclass(frozen=True, slots=True)
class CollectiveOptimum:
    """The optimum of a collective: of its one pass, or of both passes of an allreduce.

    ``together`` exists for an allreduce; ``together_left_out`` states why it is missing.
    ``apart`` means that the request requires passes in sequence.
    """

    collective: Collective
    passes: tuple[PassOptimum, ...]
    together: ConcurrentPasses | None = None
    together_left_out: str = ""
    apart: bool = False

    @property
    def nodes(self) -> int:
        """The number of compute nodes that take part."""
        return self.passes[0].nodes

    @property
    def data(self) -> int:
        """The total size of all shards."""
        return self.passes[0].data

    @property
    def sequential(self) -> Fraction:
        """The inverse rate of passes in sequence."""
        return sum((one.inverse_rate for one in self.passes), Fraction(0))

    @property
    def inverse_rate(self) -> Fraction:
        """Time per byte of a shard of size 1; for an allreduce the best that is reached."""
        if self.together is None or self.apart:
            return self.sequential
        return min(self.sequential, self.data / self.together.feasible)

    @property
    def at_once(self) -> bool:
        """Whether both passes of an allreduce run at once."""
        return self.together is not None and self.together.at_once and not self.apart

    @property
    def algbw(self) -> Fraction:
        """Bytes per unit of time, in the bandwidth unit of the topology."""
        return self.data / self.inverse_rate


def collective_optimum(
    topology: Topology, collective: Collective, options: Options
) -> CollectiveOptimum:
    """Return the optimum of a collective, with every number proved by a cut.

    Args:
        topology: Any fabric.
        collective: Any but all-to-all, for which see `schedules.routes.routing_choices`.
        options: ``trees_per_root``, ``max_gap``, ``root``, ``shards`` and ``participants`` as for
            `schedules.trees.rates.topology_rate`.

    Raises:
        NoSchedule, InvalidTopology, Unreachable, TooLarge: As
            `schedules.trees.rates.topology_rate`.
        ClaimBroken: A bug: the links around the bottleneck alone allow a higher rate.
    """
    require_root(collective, options.root, options.shards)
    if collective is not Collective.ALLREDUCE:
        return CollectiveOptimum(collective, (_one_pass(topology, collective, options),))
    passes = tuple(
        _one_pass(topology, part, options)
        for part in (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    )
    apart = options.requires_sequence
    found = CollectiveOptimum(collective, passes, apart=apart)
    try:
        bound = allreduce_bound(topology, options.participants)
    except (TooLarge, TookTooLong) as error:
        return replace(found, together_left_out=error.rule)
    least = found.data / bound.rate
    together = ConcurrentPasses(
        least,
        bound.rate,
        bound.feasible,
        found.sequential / least - 1,
        bound.division is not None,
        _shares(topology, bound, options),
    )
    return replace(found, together=together)


def _shares(
    topology: Topology, bound: AllreduceBound, options: Options
) -> tuple[tuple[NodeId, Fraction], ...]:
    """Return the shares of the roots where both passes run at once with unequal shares."""
    if bound.division is None:
        return ()
    sizes = dict(zip(topology.nodes, bound.division.sizes, strict=True))
    ranks = list(options.participants or topology.compute_nodes)
    if len({sizes[rank] for rank in ranks}) == 1:
        return ()
    whole = sum(sizes.values())
    return tuple((node, Fraction(size, whole)) for node, size in sizes.items() if size)


def forest_optimum(topology: Topology, options: Options, *, inward: bool) -> Optimum:
    """Return the optimum from `schedules.trees.rates.topology_rate`; same domain and errors."""
    return optimum(
        topology,
        options.trees_per_root,
        max_gap=options.max_gap,
        shards=options.shards,
        participants=options.participants,
        root=options.root,
        inward=inward,
    )


def _one_pass(topology: Topology, collective: Collective, options: Options) -> PassOptimum:
    found = forest_optimum(topology, options, inward=not collective.outward)
    _require_proof(topology, collective, found, options)
    cut = Cut(
        tuple(node for node in topology.nodes if node in found.bottleneck),
        found.compute_inside,
        found.data_inside,
        found.exit_capacity,
        tuple(box_parts(topology, found.bottleneck)),
        tuple(crossings(topology, found.bottleneck, inward=not collective.outward)),
    )
    proof = None
    if found.proof is not None:
        proof = BalanceProof(
            _sets(topology, found.proof.cuts),
            tuple(found.proof.copying.items()),
            tuple(sorted(_placed(topology, found.proof.sharing, collective).items())),
            tuple(
                PatternProof(one.copying, _sets(topology, one.cuts), tuple(one.prices.items()))
                for one in found.proof.pattern_cuts
            ),
        )
    near = None if options.max_gap is None else TreeGap(Fraction(options.max_gap), found.gap)
    return PassOptimum(
        collective,
        found.compute_nodes,
        found.data,
        found.inverse_rate,
        found.trees_per_root,
        found.unit_bandwidth,
        cut,
        near,
        proof,
        found.least,
        found.bound,
    )


def _sets(topology: Topology, cuts: Iterable[WeightedCut]) -> Sets:
    order = topology.position
    return tuple((tuple(sorted(one.nodes, key=order.__getitem__)), one.weight) for one in cuts)


def _placed(
    topology: Topology, sharing: Mapping[int, Fraction], collective: Collective
) -> dict[int, Fraction]:
    """Return the weights of shared limits by their index in the topology, not in its transpose."""
    if collective.outward:
        return dict(sharing)
    place = {(frozenset(links), limit): at for at, (links, limit) in enumerate(topology.shared)}
    turned = topology.transpose().shared
    found = {}
    for at, weight in sharing.items():
        links, limit = turned[at]
        found[place[frozenset((t, s) for s, t in links), limit]] = weight
    return found


def _proven(
    topology: Topology, collective: Collective, proof: Proof, sizes: Mapping[NodeId, int]
) -> Fraction:
    """Return the inverse rate that a proof proves."""
    if proof.patterns:
        patterns = {
            frozenset(one.copying): (
                [(cut.nodes, cut.weight) for cut in one.cuts],
                one.prices,
            )
            for one in proof.pattern_cuts
        }
        return pattern_inverse_rate(topology, patterns, sizes, inward=not collective.outward)
    return weighted_inverse_rate(
        topology,
        [(one.nodes, one.weight) for one in proof.cuts],
        proof.copying,
        sizes,
        _placed(topology, proof.sharing, collective),
        inward=not collective.outward,
    )


def _require_proof(
    topology: Topology, collective: Collective, found: Optimum, options: Options
) -> None:
    """Raise `ClaimBroken` unless the links around the bottleneck prove the optimum."""
    ranks = options.participants or topology.compute_nodes
    shards = options.shards or dict.fromkeys(ranks, 1)
    if options.root is not None:
        shards = {options.root: 1}
    common = gcd(*shards.values())
    sizes = {rank: shards.get(rank, 0) // common for rank in ranks}
    counted = options.trees_per_root is not None or options.max_gap is not None
    if found.proof is not None:
        proven = _proven(topology, collective, found.proof, sizes)
        open_ = counted or found.bound is not None
        if proven > found.inverse_rate or (proven < found.inverse_rate and not open_):
            raise ClaimBroken("optimum", f"the sets prove {proven}, not {found.inverse_rate}")
        return
    proven = cut_inverse_rate(
        topology,
        found.bottleneck,
        sizes,
        trees_per_root=found.trees_per_root if counted else None,
        inward=not collective.outward,
    )
    # A given number of trees uses the capacities that forwarding nodes can use.
    if proven > found.inverse_rate or (proven < found.inverse_rate and not found.trimmed):
        raise ClaimBroken("optimum", f"the cut proves {proven}, not {found.inverse_rate}")
