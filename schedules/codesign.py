"""Which algorithm, cut how finely, for which message size on which topology.

A topology is wired once for a job; what runs on it may differ from message to message.
An *offer* says what a topology can do, as exact costs; a *plan* is one way to carry out
one collective of one size, with its predicted time.  The cost model is that of
`synth.cost`; pipelines take (h + P - 1) rounds of alpha + T / P, as in
`schedules.simulate`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from schedules.baselines import Workload, seconds
from schedules.model import Collective
from synth.cost import Cost

__all__ = [
    "LARGEST",
    "Offer",
    "Plan",
    "Range",
    "best_plan",
    "floor_seconds",
    "pipelined",
    "plans",
    "switch_over",
    "total_seconds",
]

LARGEST = 1 << 40
"""Message sizes from one byte to this are looked at for changes of plan."""

_MAX_CHUNKS = 1 << 20


@dataclass(frozen=True, slots=True)
class Offer:
    """What can run on a topology of so many nodes.

    ``gather`` and ``scatter`` are the costs of BFB on the graph and on its transpose.
    ``trees`` are those of ForestColl, both ways: ``steps`` is the height of the trees,
    ``bandwidth`` their time on the wire in M / B; None where there is no better one.
    ``routings`` are those of all-to-all, ``steps`` the most hops.
    """

    nodes: int
    gather: Cost
    scatter: Cost
    trees: tuple[Cost, Cost] | None = None
    routings: tuple[Cost, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to carry out a collective; ``chunks`` is how finely it pipelines."""

    algorithm: str
    seconds: Fraction
    steps: int
    chunks: int = 1


@dataclass(frozen=True, slots=True)
class Range:
    """From so many bytes on, up to the next range, this algorithm is the fastest."""

    from_bytes: int
    algorithm: str


def plans(offer: Offer, work: Workload) -> Iterator[Plan]:
    """Yield all ways to carry out a collective on a topology.

    ``bfb``: steps, both passes for an allreduce.  ``bfb-one-shot``: an allreduce in one
    pass, in which every rank gathers the whole contributions of all, N M bytes, and adds
    them up by itself: half the steps for small messages.  ``forestcoll``: pipelined trees.
    ``mcf`` and ``shortest-paths``: all-to-all by routes.

    Examples
    --------
    >>> work = Workload(Collective.ALLREDUCE, 1000, Fraction(10**10), Fraction(1, 10**5))
    >>> offer = Offer(12, Cost(2, Fraction(11, 12)), Cost(2, Fraction(11, 12)))
    >>> [(plan.algorithm, plan.steps) for plan in plans(offer, work)]
    [('bfb', 4), ('bfb-one-shot', 2)]
    """
    if work.collective is Collective.ALL_TO_ALL:
        for routing in offer.routings:
            yield pipelined("mcf", [routing], work)
        return
    passes = _passes(work.collective)
    costs = [offer.scatter if which else offer.gather for which in passes]
    steps = sum(cost.steps for cost in costs)
    wire = sum((cost.bandwidth for cost in costs), Fraction(0))
    yield Plan("bfb", seconds(steps, wire, work), steps)
    if work.collective is Collective.ALLREDUCE:
        cost = offer.gather
        once = seconds(cost.steps, cost.bandwidth * offer.nodes, work)
        yield Plan("bfb-one-shot", once, cost.steps)
    if offer.trees is not None:
        trees = [offer.trees[which] for which in passes]
        yield pipelined("forestcoll", trees, work)


def best_plan(offer: Offer, work: Workload) -> Plan:
    """Return the plan of least time; of equals, the first that `plans` yields.

    Raises
    ------
    ValueError
        The offer has nothing for this collective.
    """
    return min(plans(offer, work), key=lambda plan: plan.seconds)


def pipelined(algorithm: str, passes: Sequence[Cost], work: Workload) -> Plan:
    """Return the pipelined plan of each pass's best number of chunks.

    Notes
    -----
    f(P) = (h + P - 1)(alpha + T / P) is convex with its least value where
    P^2 = (h - 1) T / alpha; the best integer is next to it.  No chunk is smaller than a
    byte.

    >>> work = Workload(Collective.ALLGATHER, 10**6, Fraction(10**10), Fraction(1, 10**5))
    >>> plan = pipelined("forestcoll", [Cost(3, Fraction(1))], work)
    >>> plan.chunks, plan.steps, float(plan.seconds)
    (4, 6, 0.00021)
    """
    total, steps, chunks = Fraction(0), 0, 1
    for cost in passes:
        transfer, ahead = cost.bandwidth * work.transfer_seconds, cost.steps - 1
        near = isqrt(int(ahead * transfer / work.alpha_seconds))
        most = max(1, min(_MAX_CHUNKS, work.size_bytes))
        found = min(
            ((ahead + p) * (work.alpha_seconds + transfer / p), p)
            for p in {min(max(p, 1), most) for p in (near, near + 1)}
        )
        total += found[0]
        steps += ahead + found[1]
        chunks = max(chunks, found[1])
    return Plan(algorithm, total, steps, chunks)


def floor_seconds(bounds: Cost, routes: Fraction, work: Workload) -> Fraction:
    """Return the time that no algorithm on any topology of this size can beat.

    Parameters
    ----------
    bounds : Cost
        `synth.cost.lower_bound` of the hosts.
    routes : Fraction
        `synth.cost.all_to_all_bound` of the hosts.

    Notes
    -----
    Every rank's data must reach the farthest rank: ``bounds.steps`` hops, once, also in
    an allreduce.  On the wire an allreduce takes twice what an allgather does: its hosts
    must send 2 (N - 1) / N of the buffer each, counted together (Patarasuk and Yuan,
    "Bandwidth optimal all-reduce algorithms", 2009).
    """
    if work.collective is Collective.ALL_TO_ALL:
        return seconds(bounds.steps, routes, work)
    return seconds(bounds.steps, len(_passes(work.collective)) * bounds.bandwidth, work)


def switch_over(offer: Offer, work: Workload) -> tuple[Range, ...]:
    """Return which algorithm is the fastest from which message size on, up to `LARGEST`.

    ``work.size_bytes`` does not matter.  Changes are found between powers of two and
    then to the byte, so that two changes within a factor of two may go unseen.

    >>> work = Workload(Collective.ALLREDUCE, 1, Fraction(10**10), Fraction(1, 10**5))
    >>> offer = Offer(12, Cost(2, Fraction(11, 12)), Cost(2, Fraction(11, 12)))
    >>> [(part.from_bytes, part.algorithm) for part in switch_over(offer, work)]
    [(1, 'bfb-one-shot'), (21819, 'bfb')]
    """

    def fastest(size: int) -> str:
        at = Workload(work.collective, size, work.bytes_per_second, work.alpha_seconds)
        return best_plan(offer, at).algorithm

    ranges = [Range(1, fastest(1))]
    size = 1
    while size < LARGEST:
        following = fastest(2 * size)
        if following != ranges[-1].algorithm:
            low, high = size, 2 * size
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if fastest(middle) == following else (middle, high)
            ranges.append(Range(high, following))
        size *= 2
    return tuple(ranges)


def total_seconds(found: Iterable[tuple[Plan, int]]) -> Fraction:
    """Return the time of plans that run so many times each."""
    return sum((plan.seconds * count for plan, count in found), Fraction(0))


def _passes(collective: Collective) -> tuple[int, ...]:
    """Return which passes a collective makes: 0 for a gathering one, 1 for a scattering one."""
    return {
        Collective.ALLGATHER: (0,),
        Collective.REDUCE_SCATTER: (1,),
        Collective.ALLREDUCE: (1, 0),
    }[collective]
