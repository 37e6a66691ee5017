"""The value of every link: the change of the best rate with more or less of its capacity.

Links between the same two nodes count together, in both directions, as in `single_faults`.  Links
that an automorphism maps to each other have equal values.  Values are exact one-sided derivatives
of the best rate, and rates at larger changes (`schedules.trees.rates.parametric_rate`).  For a
changed topology, `rates_after_repair` returns the rate after undoing each change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from topoloom.schedules.errors import NoSchedule, TookTooLong, TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.optimum.single_faults import link_kinds
from topoloom.schedules.options import Options, require_root
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import copying_nodes, network_of
from topoloom.schedules.trees.rates.allreduce_rate import sequential_rate
from topoloom.schedules.trees.rates.parametric_rate import (
    ParametricRates,
    allreduce_ceiling,
    pass_ceiling,
)
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.degrade import Changes, degraded
from topoloom.synth.topology.topology import Link, NodeId, Topology

MOST_KINDS = 500
"""Maximum kinds of links; each takes about six optima."""

MOST_RESTORED = 100
"""Maximum changes to undo; each takes one optimum."""

Pair = tuple[NodeId, NodeId]


@dataclass(frozen=True, slots=True)
class LinkValue:
    """The value of the links of one kind; rates are algbw, in the unit of bandwidth.

    ``pairs`` are the node pairs that they join, in topology order.  ``capacities`` are those from
    the first node of a pair to the second and back, 0 without a link.

    ``more`` is the rise of algbw per unit of bandwidth added between one such pair, in each
    existing direction; ``less`` is the fall per unit removed; ``each_more`` is the rise per unit
    added between every pair.  ``doubled`` is algbw with the links of one pair doubled,
    ``all_doubled`` with those of every pair doubled.  None marks values without an exact result,
    for allreduces only.
    """

    pairs: tuple[Pair, ...]
    capacities: tuple[Fraction, Fraction]
    more: Fraction | None
    less: Fraction | None
    each_more: Fraction | None
    doubled: Fraction | None
    all_doubled: Fraction | None


@dataclass(frozen=True, slots=True)
class RestoredRate:
    """The algbw after a lost node, or the links between two nodes, are restored."""

    nodes: tuple[NodeId, ...]
    algbw: Fraction


def link_values(
    topology: Topology, collective: Collective, options: Options | None = None
) -> list[LinkValue]:
    """Return the value of each kind of links, the most valuable first.

    Args:
        topology: Any fabric.
        collective: Any but all-to-all.
        options: As for `schedules.optimum.collective_optimum.collective_optimum`, without a number
            of trees.

    Raises:
        NoSchedule: The options have a number of trees or a gap, the collective is all-to-all, or no
            schedule is known to reach the bound of this allreduce.
        TooLarge: There are more than `MOST_KINDS` kinds of links.
        InvalidTopology, Unreachable, TookTooLong: As
            `schedules.optimum.collective_optimum.collective_optimum`.

    In symmetric fabrics many cuts are equally narrow, and more capacity of one link gains nothing:
    ``each_more`` then identifies the limiting kind of links.

    The optimum of two boxes is limited by the links into a GPU, from its switch and the network:

    >>> from topoloom.synth.fabrics import fabric
    >>> for value in link_values(fabric("dgx-a100-2"), Collective.ALLGATHER):
    ...     print(value.pairs[0], len(value.pairs), value.more, value.each_more, value.less)
    ('0.gpu0', '0.nvswitch') 16 0 16/15 16/15
    ('0.gpu0', 'plane0') 16 0 16/15 16/15
    """
    options = options or Options()
    if options.trees_per_root is not None or options.max_gap is not None:
        raise NoSchedule("/values", "must be left out: values assume any number of trees")
    if collective is Collective.ALL_TO_ALL:
        raise NoSchedule("/values", "must be left out: all-to-all has no trees")
    require_root(collective, options.root, options.shards)
    kinds = link_kinds(topology, options)
    if len(kinds) > MOST_KINDS:
        raise TooLarge(
            "/topology", f"has {len(kinds)} kinds of links; values cover at most {MOST_KINDS}"
        )
    rates = _rates(topology, collective, options)
    found = []
    for number, pairs in enumerate(kinds):
        report_progress("link values", number, len(kinds))
        found.append(_value(rates, topology, pairs))
    return sorted(found, key=_worth, reverse=True)


def _worth(value: LinkValue) -> tuple[Fraction, ...]:
    """Return the sort key: gain of one link, gain of every link, and loss."""
    none = Fraction(0)
    each = (value.each_more or none) / len(value.pairs)
    return value.more or none, each, value.less or none


def _rates(topology: Topology, collective: Collective, options: Options) -> list[ParametricRates]:
    """Return the passes that run in sequence; one only if they run at once."""
    demand = demand_of(topology, options.shards, options.participants, options.root)
    allreduce = collective is Collective.ALLREDUCE
    ways = [inward for inward in (False, True) if allreduce or collective.outward is not inward]
    for inward in ways:
        require_paths(topology, demand, inward=inward)
    network, copying = network_of(topology, demand), copying_nodes(topology)
    if allreduce and not options.requires_sequence:
        ceiling_of = allreduce_ceiling(copying, topology.nodes)
        try:
            return [ParametricRates(network, ceiling_of, partial(sequential_rate, copying=copying))]
        except (TooLarge, TookTooLong):
            # The optimum is then that of passes in sequence.
            pass
    turned = replace(network, tail=network.head, head=network.tail)
    passes = [turned if inward else network for inward in ways]
    return [ParametricRates(one, partial(pass_ceiling, copying=copying)) for one in passes]


def _value(rates: list[ParametricRates], topology: Topology, pairs: Sequence[Pair]) -> LinkValue:
    network = rates[0].network
    place = topology.position
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    wanted = {frozenset((place[one], place[other])) for one, other in pairs}
    arcs = [arc for arc, both in enumerate(ends) if frozenset(both) in wanted]
    one_pair = {place[node] for node in pairs[0]}
    first = [arc for arc in arcs if {int(network.tail[arc]), int(network.head[arc])} == one_pair]
    whole = {arc: int(network.capacity[arc]) * network.unit for arc in arcs}
    more = _margin(rates, first, max(whole[arc] for arc in first))
    each = more if len(pairs) == 1 else _margin(rates, arcs, max(whole[arc] for arc in first))
    less = _margin(rates, first, -min(whole[arc] for arc in first) / 2)
    even = len({whole[arc] for arc in first}) == 1
    return LinkValue(
        tuple(pairs),
        _capacities(topology, pairs[0]),
        more and more[0],
        less and -less[0],
        each and each[0],
        more and more[1] if even else _at(rates, {arc: whole[arc] for arc in first}),
        each and each[1] if even else _at(rates, whole),
    )


def _capacities(topology: Topology, pair: Pair) -> tuple[Fraction, Fraction]:
    found = {pair: Fraction(0), pair[::-1]: Fraction(0)}
    for source, target, capacity in topology.links:
        if (source, target) in found:
            found[source, target] += capacity
    there, back = found.values()
    return there, back


def _margin(
    rates: list[ParametricRates], arcs: Sequence[int], length: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Return the slope of the rate of all passes, and the rate at the end."""
    margins = [rate.followed(arcs, length) for rate in rates]
    if any(margin is None for margin in margins):
        return None
    known = [margin for margin in margins if margin is not None]
    # The derivative of 1 / sum 1/a is its square times sum a'/a^2.
    whole = _one_after_the_other([rate.algbw for rate in rates])
    slopes = zip(known, rates, strict=True)
    slope = whole**2 * sum((margin.slope / rate.algbw**2 for margin, rate in slopes), Fraction(0))
    return slope, _one_after_the_other([margin.algbw for margin in known])


def _at(rates: list[ParametricRates], amounts: dict[int, Fraction]) -> Fraction | None:
    """Return the rate of all passes where some arcs have more capacity."""
    found = [rate.at(amounts) for rate in rates]
    known = [one.algbw for one in found if one is not None]
    return _one_after_the_other(known) if len(known) == len(rates) else None


def _one_after_the_other(algbws: Sequence[Fraction]) -> Fraction:
    """Return the rate of passes in sequence."""
    return 1 / sum((1 / algbw for algbw in algbws), Fraction(0))


def rates_after_repair(
    healthy: Topology, topology: Topology, collective: Collective, options: Options | None = None
) -> list[RestoredRate]:
    """Return algbw with each change of a topology undone, the highest first.

    Args:
        healthy: The topology before the changes.
        topology: The result of `synth.topology.degrade.degraded` on ``healthy``.
        collective, options: As for `link_values`; with ``participants``, a restored node only
            forwards.

    Raises:
        TooLarge: There are more than `MOST_RESTORED` changes.
        NoSchedule, InvalidTopology, Unreachable, TookTooLong: As
            `schedules.optimum.collective_optimum.collective_optimum`.

    >>> ring = Topology("abc", ["ab", "ba", "bc", "cb", "ca", "ac"])
    >>> worse = degraded(ring, without_links=["ab"], slow_links=[("b", "c", Fraction(1, 2))])
    >>> found = rates_after_repair(ring, worse, Collective.ALLGATHER)
    >>> [(one.nodes, str(one.algbw)) for one in found]
    [(('a', 'b'), '9/4'), (('b', 'c'), '3/2')]
    """
    made = _changes(healthy, topology)
    if (count := sum(map(len, made))) > MOST_RESTORED:
        raise TooLarge("/topology", f"has {count} changes; at most {MOST_RESTORED} are undone")
    found = []
    for nodes, left in _each_undone(made):
        again = degraded(healthy, **left._asdict())
        best = collective_optimum(again, collective, options or Options())
        found.append(RestoredRate(nodes, best.algbw))
    return sorted(found, key=lambda one: one.algbw, reverse=True)


def _each_undone(made: Changes) -> Iterator[tuple[tuple[NodeId, ...], Changes]]:
    """Yield the nodes of each change, and all other changes."""
    nodes, gone, slow = made
    for node in nodes:
        yield (node,), made._replace(without_nodes=tuple(one for one in nodes if one != node))
    for pair in gone:
        yield pair, made._replace(without_links=tuple(one for one in gone if one != pair))
    for ends in slow:
        yield ends[:2], made._replace(slow_links=tuple(one for one in slow if one != ends))


def _changes(healthy: Topology, topology: Topology) -> Changes:
    """Return the changes that made a topology."""
    lost = tuple(node for node in healthy.nodes if node not in topology.position)
    before, now = _by_pair(healthy.links), _by_pair(topology.links)
    order = healthy.position
    gone, slow = [], []
    for pair, capacity in before.items():
        if not pair.isdisjoint(lost) or now.get(pair) == capacity:
            continue
        one, other = sorted(pair, key=order.__getitem__)
        if pair in now:
            slow.append((one, other, now[pair] / capacity))
        else:
            gone.append((one, other))
    return Changes(lost, tuple(gone), tuple(slow))


def _by_pair(links: Sequence[Link]) -> dict[frozenset[NodeId], Fraction]:
    found: dict[frozenset[NodeId], Fraction] = {}
    for source, target, capacity in links:
        pair = frozenset((source, target))
        found[pair] = found.get(pair, Fraction(0)) + capacity
    return found
