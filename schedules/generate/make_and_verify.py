"""Generate a schedule, verify it chunk by chunk, and derive its cost from its sends alone.

`verified_schedule` returns only schedules that pass the independent verifier and cost at most as
much as the theorem of their algorithm states.
"""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from topoloom.schedules.errors import TookTooLong, TooLarge
from topoloom.schedules.generate.collectives import GATHERS, make
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    tree_height,
)
from topoloom.schedules.model.verified_schedule import (
    MulticastSavings,
    OptionLosses,
    ScheduleCosts,
    VerifiedSchedule,
)
from topoloom.schedules.options import Options
from topoloom.schedules.trees import limits
from topoloom.schedules.verify import (
    require_valid,
    route_inverse_rate,
    route_phases,
    step_cost,
    together_inverse_rate,
    tree_inverse_rate,
    tree_loads,
)
from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology


def verified_schedule(
    topology: Topology, collective: Collective, algorithm: str, options: Options
) -> VerifiedSchedule:
    """Return a verified schedule that costs what its algorithm promises.

    Args:
        topology, collective, algorithm, options: As for `schedules.generate.collectives.make`.

    Raises:
        NoSchedule, UnknownCollective, Unreachable, InvalidTopology, TooLarge: As
            `schedules.generate.collectives.make`.
        InvalidSchedule, ClaimBroken: A bug: the schedule is invalid, or its derived cost differs
            from the measured or proved cost.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> verified_schedule(ring, Collective.ALLGATHER, "bfb", Options()).facts.steps
    2
    """
    given = {option.name: getattr(options, option.name) for option in fields(options)}
    schedule = make(topology, collective, algorithm, **given)
    require_valid(schedule, topology)
    costs = schedule_costs(schedule, topology)
    losses = _losses(schedule, topology, algorithm, options, costs)
    return VerifiedSchedule(schedule, algorithm, costs, losses)


def default_algorithm(topology: Topology, collective: Collective, options: Options) -> str:
    """Return the default algorithm.

    ``mcf`` for all-to-all; ``forestcoll`` where no other algorithm applies: with a root, trees,
    shards or participants, unequal links, or switches; else ``bfb``.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> default_algorithm(ring, Collective.ALLREDUCE, Options())
    'bfb'
    """
    if collective is Collective.ALL_TO_ALL:
        return "mcf"
    if collective.has_root or options.forestcoll_only:
        return "forestcoll"
    equal_links = not (topology.switches or topology.shared) and len(set(topology.capacities)) == 1
    return "bfb" if equal_links or options.max_chunks is not None else "forestcoll"


def schedule_costs(schedule: Schedule, topology: Topology) -> ScheduleCosts:
    """Return the costs of a schedule, derived from its sends alone; see `ScheduleCosts`."""
    if isinstance(schedule, RouteSchedule):
        rate = route_inverse_rate(schedule, topology)
        return ScheduleCosts(
            schedule.collective,
            steps=len(route_phases(schedule, topology)),
            bandwidth=rate * node_capacity(topology) / len(schedule.ranks),
            inverse_rate=rate,
            units_per_pair=schedule.units_per_pair,
            ranks=len(schedule.ranks) if schedule.idle else None,
        )
    if isinstance(schedule, SequenceSchedule):
        return _of_sequence(schedule, topology)
    if isinstance(schedule, StepSchedule):
        cost = step_cost(schedule, topology)
        chunks = schedule.chunks_per_shard
        return ScheduleCosts(
            schedule.collective, cost.steps, cost.bandwidth, chunks_per_shard=chunks
        )
    return ScheduleCosts(
        schedule.collective,
        inverse_rate=tree_inverse_rate(schedule, topology),
        trees_per_root=schedule.trees_per_root,
        ranks=len(schedule.ranks),
        data=sum(schedule.sizes),
        multicast=_sharing(schedule, topology),
    )


def _of_sequence(schedule: SequenceSchedule, topology: Topology) -> ScheduleCosts:
    parts = tuple(schedule_costs(part, topology) for part in schedule.parts)

    def known(name: str) -> list[Any] | None:
        values = [getattr(part, name) for part in parts]
        return None if None in values else values

    sums: dict[str, Any] = {
        name: sum(values[1:], values[0])
        for name in ("steps", "bandwidth", "inverse_rate")
        if (values := known(name))
    }
    most = {
        name: max(values)
        for name in ("chunks_per_shard", "trees_per_root", "ranks", "data")
        if (values := known(name))
    }
    together = schedule.together
    if together:
        sums["inverse_rate"] = tree_inverse_rate(schedule, topology)
    return ScheduleCosts(
        Collective.ALLREDUCE,
        **sums,
        **most,
        parts=parts,
        multicast=_sharing(schedule, topology),
        together=together,
    )


def _sharing(schedule: Schedule, topology: Topology) -> MulticastSavings | None:
    """Return the savings by switches that copy; None without such switches or without trees."""
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if not topology.multicast or len(trees) < len(parts):
        return None
    crossings, unshared = (
        sum(
            (
                Fraction(
                    sum(tree_loads(part, topology, shared=shared).values()), part.trees_per_root
                )
                for part in trees
            ),
            Fraction(0),
        )
        for shared in (True, False)
    )
    sequence = isinstance(schedule, SequenceSchedule)
    together = together_inverse_rate(schedule, topology) if sequence else None
    return MulticastSavings(crossings, unshared, together)


def _losses(
    schedule: Schedule, topology: Topology, algorithm: str, options: Options, costs: ScheduleCosts
) -> OptionLosses:
    """Raise `ClaimBroken` if a schedule costs more than promised; return the losses."""
    if isinstance(schedule, RouteSchedule):
        # No theorem states its cost; `schedules.routes.routing_choices` gives its bound.
        return OptionLosses()
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        return OptionLosses(gap=_joint_gap(schedule, topology, options, costs) or None)
    if isinstance(parts[0], TreeSchedule):
        of_parts = zip(parts, costs.parts or (costs,), strict=True)
        taken, least = zip(
            *(_tree_rates(part, topology, options, cost) for part, cost in of_parts), strict=True
        )
        gap = sum(taken, Fraction(0)) / sum(least, Fraction(0)) - 1
        if options.max_gap is not None or options.max_height is not None:
            return OptionLosses(gap=gap)
        large = len(parts[0].ranks) > limits.MAX_PACKED_RANKS
        if isinstance(schedule, SequenceSchedule) and large and not options.requires_sequence:
            return OptionLosses(gap=_gap_of_sequence(schedule, topology, options, costs))
        return OptionLosses()
    lost = [_step_loss(part, topology, algorithm, options) for part in parts]
    if options.max_chunks is None or GATHERS.get(algorithm, algorithm) != "bfb":
        return OptionLosses()
    scale = len(topology.compute_nodes) if algorithm in GATHERS else 1
    return OptionLosses(bandwidth=scale * sum(lost, Fraction(0)))


def _gap_of_sequence(
    schedule: SequenceSchedule, topology: Topology, options: Options, costs: ScheduleCosts
) -> Fraction | None:
    """Return the excess over passes at once, where these are faster but too many trees to pack."""
    try:
        return _gap_above_bound(schedule, topology, options, costs) or None
    except (TooLarge, TookTooLong):
        return None


def _joint_gap(
    schedule: SequenceSchedule, topology: Topology, options: Options, costs: ScheduleCosts
) -> Fraction:
    """Return the relative excess of an allreduce of concurrent parts over its best known rate.

    Raises `ClaimBroken` if the gap exceeds what fewer trees may cost.
    """
    gap = _gap_above_bound(schedule, topology, options, costs)
    if gap > limits.MANY_TREES_GAP:
        raise _broken(schedule, gap, f"at most {limits.MANY_TREES_GAP} more than its bound")
    return gap


def _gap_above_bound(
    schedule: SequenceSchedule, topology: Topology, options: Options, costs: ScheduleCosts
) -> Fraction:
    """Return the relative excess over the best known rate of an allreduce, at least 0."""
    from topoloom.schedules.trees.concurrent_passes import bound_in_canonical_order

    rate, members = costs.inverse_rate, options.participants
    assert rate is not None
    _, bound = bound_in_canonical_order(topology, None if members is None else tuple(members))
    data = max(sum(part.sizes) for part in schedule.parts if isinstance(part, TreeSchedule))
    return max(Fraction(0), rate * bound.feasible / data - 1)


def _tree_rates(
    part: Schedule, topology: Topology, options: Options, costs: ScheduleCosts
) -> tuple[Fraction, Fraction]:
    """Return the inverse rate of a forest, and the least of any number of trees."""
    from topoloom.schedules.optimum.collective_optimum import forest_optimum

    rate = costs.inverse_rate
    assert rate is not None
    if options.max_height is not None:
        _require_low(part, options.max_height)
        # No bound is proved for limited heights; the optimum is that of any height.
        free = replace(options, trees_per_root=None)
        return rate, forest_optimum(topology, free, inward=not part.collective.outward).inverse_rate
    claimed = forest_optimum(topology, options, inward=not part.collective.outward)
    if rate > claimed.inverse_rate:
        raise _broken(part, rate, claimed.inverse_rate)
    return rate, claimed.inverse_rate / (1 + claimed.gap)


def _require_low(part: Schedule, max_height: int) -> None:
    """Raise `ClaimBroken` if a tree exceeds the maximum height."""
    assert isinstance(part, TreeSchedule)
    height = max(tree_height(tree) for tree in part.trees)
    if height > max_height:
        raise _broken(part, Fraction(height), f"at most {max_height} hops")


def _step_loss(part: Schedule, topology: Topology, algorithm: str, options: Options) -> Fraction:
    """Return the excess of bandwidth over the best known; 0 where none is known."""
    from topoloom.schedules.steps import bfb, lift
    from topoloom.synth.evaluation.measure import measure

    if isinstance(part, StepSchedule) and part.in_one_pass:
        part, algorithm = replace(part, collective=Collective.ALLGATHER), GATHERS[algorithm]
    # A reduce-scatter is the reversed allgather of the transpose.
    graph = topology if part.collective.outward else topology.transpose()
    derived = step_cost(part, topology)
    if algorithm == "slack":
        # A slack schedule carries its own proof of cost (`synth.slack.check_slack_schedule`).
        return Fraction(0)
    if algorithm != "bfb":
        claim = lift.claim_on(graph)
        if claim is not None and not claim.covers(derived):
            raise _broken(part, derived, claim)
        return Fraction(0)
    best = measure(graph)
    claimed = best if options.max_chunks is None else bfb.cost(graph, options.max_chunks)
    if derived != claimed:
        raise _broken(part, derived, claimed)
    return derived.bandwidth - best.bandwidth


def _broken(part: Schedule, derived: Cost | Fraction, claimed: object) -> ClaimBroken:
    return ClaimBroken("schedule", f"the {part.collective} costs {derived}, not {claimed}")
