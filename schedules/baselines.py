"""What people run today on hosts with d ports: rings, tori, hypercubes, binary trees.

Closed forms in seconds, exact, for N hosts of bandwidth B bytes/s split over d
links, hop latency alpha and M bytes.  Where a form rests on an assumption, it
favours the baseline; ``docs/cost-model.md`` derives them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from schedules.model import Collective

__all__ = ["BASELINES", "Baseline", "Operation", "baselines", "bound_seconds", "seconds"]


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective on so many bytes, and how fast links are.

    ``size_bytes`` is the output of an allgather, the input of a reduce-scatter, the
    buffer of an allreduce; ``bytes_per_second`` is what one host sends at most.
    """

    collective: Collective
    size_bytes: int
    bytes_per_second: Fraction
    alpha_seconds: Fraction

    @property
    def transfer_seconds(self) -> Fraction:
        """M / B: the unit in which T_B is counted."""
        return self.size_bytes / self.bytes_per_second


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's time; ``chunks`` is how finely it pipelines."""

    name: str
    seconds: Fraction
    steps: int
    chunks: int


def seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return steps * alpha + bandwidth * M / B.

    >>> work = Operation(Collective.ALLGATHER, 1000, Fraction(10**6), Fraction(1, 10**5))
    >>> seconds(2, Fraction(3, 4), work)
    Fraction(77, 100000)
    """
    return steps * operation.alpha_seconds + bandwidth * operation.transfer_seconds


PASSES = {Collective.ALLGATHER: 1, Collective.REDUCE_SCATTER: 1, Collective.ALLREDUCE: 2}
"""How many allgather-like passes collectives make; the others make none."""


def passes(collective: Collective) -> int:
    """Return how many passes a collective makes, at least 1."""
    return PASSES.get(collective, 1)


def bound_seconds(steps: int, bandwidth: Fraction, operation: Operation) -> Fraction:
    """Return the time no schedule of as many passes can beat, from the bounds of one."""
    count = passes(operation.collective)
    return seconds(count * steps, count * bandwidth, operation)


def shifted_ring(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of floor(d / 2) bidirectional rings over the same hosts.

    Each direction of each ring carries an equal part of the data, N - 1 steps per
    pass.  A port left over when d is odd stays idle; with d = 1 there is one
    directed ring.  Broadcast and reduce run otherwise: None.

    In an all-to-all every rank's data goes the shorter way round, so that all ranks
    together cross floor(N^2 / 4) links, or N (N - 1) / 2 on a directed ring, evenly; it is
    taken to be pipelined so well that only the longest way adds latency.

    >>> work = Operation(Collective.ALLREDUCE, 10**6, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> float(shifted_ring(12, 4, work).seconds)
    0.00036666666666666667
    """
    if operation.collective.has_root:
        return None
    used = degree if degree == 1 else degree - degree % 2
    if operation.collective is Collective.ALL_TO_ALL:
        far = nodes - 1 if used == 1 else nodes // 2
        hops = nodes * (nodes - 1) // 2 if used == 1 else nodes * nodes // 4
        wire = Fraction(hops, nodes) * Fraction(degree, used)
        return Baseline("shifted-ring", seconds(far, wire, operation), far, 1)
    steps = passes(operation.collective) * (nodes - 1)
    bandwidth = Fraction(steps, nodes) * Fraction(degree, used)
    return Baseline("shifted-ring", seconds(steps, bandwidth, operation), steps, 1)


def double_binary_tree(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of floor(d / 4) double binary trees; None where there is none.

    Two trees of four links per host, each with half the data: it is reduced up and
    broadcast down in c chunks, one chunk per step and link.  The last chunk is
    everywhere after 2h + c - 1 steps, and c is the best integer.

    Notes
    -----
    With k the seconds all chunks of a tree take on one link, the time is
    f(c) = (2h - 1 + c) * (alpha + k / c), convex in c with its least value at
    sqrt((2h - 1) * k / alpha); the best integer is next to it.

    >>> work = Operation(Collective.ALLREDUCE, 10**6, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> tree = double_binary_tree(12, 4, work)
    >>> tree.chunks, float(tree.seconds)
    (9, 0.000388888...)
    """
    pairs = degree // 4
    if not pairs or operation.collective is not Collective.ALLREDUCE:
        return None
    height = nodes.bit_length() - 1
    share = Fraction(operation.size_bytes, 2 * pairs)
    link_seconds = share / (operation.bytes_per_second / degree)
    alpha, lead = operation.alpha_seconds, 2 * height - 1

    def time(chunks: int) -> Fraction:
        return (lead + chunks) * (alpha + link_seconds / chunks)

    # No chunk is smaller than a byte.
    most = max(1, int(share))
    near = isqrt(int(lead * link_seconds / alpha))
    chunks = min((min(max(c, 1), most) for c in (near, near + 1)), key=lambda c: (time(c), c))
    return Baseline("double-binary-tree", time(chunks), lead + chunks, chunks)


def torus_rings(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of rings along both dimensions of floor(d / 4) 2-D tori.

    The torus is r by c, as square as N allows, with c <= r; None where c < 3 or d < 4.
    A share r / (r + c) of the data goes round the short rings first, then, with all that
    was gathered there, round the long ones; the rest the other way.  Both directions
    of a ring carry half.  c - 1 + r - 1 steps per pass.  Broadcast and reduce: None.

    >>> work = Operation(Collective.ALLGATHER, 16, Fraction(1), Fraction(0))
    >>> torus_rings(16, 4, work).seconds, torus_rings(16, 4, work).steps
    (Fraction(15, 1), 6)
    """
    if operation.collective not in PASSES:
        return None
    short = max(side for side in range(1, isqrt(nodes) + 1) if nodes % side == 0)
    long, used = nodes // short, degree - degree % 4
    if short < 3 or not used:
        return None
    rounds = passes(operation.collective)
    # Four times the sum over the steps of the largest load, in shards.
    load = Fraction(2 * (short * long**2 + nodes - long - short**2), short + long)
    steps, bandwidth = short + long - 2, load / nodes * Fraction(degree, used)
    return Baseline(
        "torus-rings", seconds(rounds * steps, rounds * bandwidth, operation), rounds * steps, 1
    )


def recursive_doubling(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of recursive doubling (halving) on a hypercube of the hosts.

    N = 2**k hosts with k <= d ports, floor(d / k) links along each dimension; None for
    other hosts.  In step i of an allgather partners along a dimension exchange the 2**i
    shards that they have.  The data is cut into k parts that start at different
    dimensions, so that every link is used in every step.  k steps per pass.  Broadcast
    and reduce run otherwise: None.

    >>> work = Operation(Collective.ALLREDUCE, 16, Fraction(1), Fraction(0))
    >>> recursive_doubling(16, 4, work).seconds, recursive_doubling(16, 4, work).steps
    (Fraction(30, 1), 8)
    """
    dimensions = nodes.bit_length() - 1
    if operation.collective not in PASSES:
        return None
    if nodes != 1 << dimensions or not 1 <= dimensions <= degree:
        return None
    used = degree - degree % dimensions
    steps = passes(operation.collective) * dimensions
    bandwidth = Fraction(nodes - 1, nodes) * passes(operation.collective) * Fraction(degree, used)
    return Baseline("recursive-doubling", seconds(steps, bandwidth, operation), steps, 1)


BASELINES: tuple[Callable[[int, int, Operation], Baseline | None], ...] = (
    shifted_ring,
    double_binary_tree,
    torus_rings,
    recursive_doubling,
)


def baselines(nodes: int, degree: int, operation: Operation) -> tuple[Baseline, ...]:
    """Return every baseline that these hosts can run."""
    found = (baseline(nodes, degree, operation) for baseline in BASELINES)
    return tuple(entry for entry in found if entry is not None)
