"""A slack schedule of an allgather, and the theorem that checks it.

The check uses the graph and the arrival steps alone: it unfolds the symmetry first and shares no
code with the search.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, eq=False, slots=True)
class SlackSchedule:
    """Arrival step of every piece of every shard at every node, and the load of every step.

    Attributes:
        images ((order, N) array of int64): A group of automorphisms; row g holds where g takes
            every position.
        roots ((R,) array of int64): One node of every orbit, repeated q times for q pieces per
            shard.
        arrival ((R, N) array of int8): The step, from 1, after which a node holds piece r; 0 at its
            root.  Images of the root and of the node have the same arrival step.  No rows where
            only the loads are wanted.
        loads: By step, from 1: shards that a node may receive over all its links together.  A link
            carries at most its share by capacity: 1/d where links are equal.
    """

    images: NDArray[np.int64]
    roots: NDArray[np.int64]
    arrival: NDArray[np.int8]
    loads: tuple[Fraction, ...]

    @property
    def pieces(self) -> int:
        """Pieces of a shard, q."""
        return int((self.roots == self.roots[0]).sum())

    @property
    def cost(self) -> Cost:
        """Cost of the allgather."""
        return Cost(len(self.loads), sum(self.loads, Fraction(0)) / self.images.shape[1])

    def unfolded(self) -> NDArray[np.int8]:
        """Return the arrival step of every piece of every shard at every node, (q, N, N).

        The last axis is the owner of the shard.  O(q N^2).
        """
        nodes = self.images.shape[1]
        whole = np.full((self.pieces, nodes, nodes), -1, np.int8)
        number = np.zeros(nodes, np.int64)
        for root, arrivals in zip(self.roots.tolist(), self.arrival, strict=True):
            piece = number[root]
            number[root] += 1
            for image in self.images:
                whole[piece, image, image[root]] = arrivals
        return whole


def check_slack_schedule(topology: Topology, schedule: SlackSchedule) -> Cost:
    """Return the cost that a slack schedule proves, by the theorem below.

    Args:
        topology: Direct-connect, of any capacities.
        schedule: The schedule, from any source.

    Raises:
        ClaimBroken: The shapes do not fit; an arrival step is out of range; a piece has no open
            link; or the pieces confined to some links in a step exceed the load of these links.

    *Theorem.*  Let every piece of every shard have an arrival step at every node, 0 at its owner
    only.  Call a link w -> u *open* to a piece if the piece arrives at w before u.  If for
    every node u, step t and set S of links into u

        (pieces of arrival step t at u to which no link outside S is open) / q
            <=  load(t) c(S) / B,

    where c(S) is the capacity of S and B the largest into or out of a node, then there is an
    allgather of T steps in which a link of capacity c carries at most load(t) c / B shards
    in step t.  Its T_B is the sum of load(t) / N.

    *Proof.*  By Hall's theorem (max-flow, min-cut) the condition lets the pieces of arrival step t
    at u be distributed over the links open to each, with no link above its limit.  The tail of
    each link holds what the link carries: all of the piece arrived there in a step before t.  By
    induction on t, every piece of arrival step at most t is in place after step t.  The supplies
    are whole numbers of pieces: where the limits are multiples of 1/C of a shard and q divides C,
    whole multiples of 1/C suffice.

    Exact: integers and Fractions.  O(q N links) array operations and O(N T 4^d).

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> images = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    >>> arrival = np.array([[0, 1, 2]], np.int8)
    >>> schedule = SlackSchedule(images, np.array([0]), arrival, (Fraction(1), Fraction(1)))
    >>> check_slack_schedule(ring, schedule)
    Cost(steps=2, bandwidth=Fraction(2, 3))
    >>> loads = Fraction(1), Fraction(1, 2)
    >>> check_slack_schedule(ring, SlackSchedule(images, np.array([0]), arrival, loads))
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.ClaimBroken: /loads/1: node 0 must receive 1 piece(s) \
over links that carry 1/2
    """
    whole = _unfolded(topology, schedule)
    nodes, pieces, steps = topology.node_count, schedule.pieces, len(schedule.loads)
    through = [Fraction(0)] * (2 * nodes)
    entering: list[list[tuple[int, Fraction]]] = [[] for _ in range(nodes)]
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for (source, target), capacity in zip(ends, topology.capacities, strict=True):
        entering[target].append((source, Fraction(capacity)))
        through[target] += capacity
        through[nodes + source] += capacity
    limits: dict[tuple[Fraction, ...], NDArray[np.int64]] = {}
    for node, links in enumerate(entering):
        capacities = tuple(capacity for _, capacity in links)
        if capacities not in limits:
            shares = [load * pieces / max(through) for load in schedule.loads]
            limits[capacities] = _limits(capacities, shares)
        there = whole[:, node].reshape(-1)
        mask = np.zeros(len(there), np.int64)
        for bit, (source, _) in enumerate(links):
            mask |= (whole[:, source].reshape(-1) < there).astype(np.int64) << bit
        if (mask[there > 0] == 0).any():
            raise ClaimBroken(
                "/arrival", f"node {topology.nodes[node]!r} has no open link to a piece"
            )
        key = (there.astype(np.int64) << len(links)) + mask
        count = np.bincount(key, minlength=(steps + 1) << len(links)).reshape(steps + 1, -1)[1:]
        sets = np.arange(1 << len(links))
        within = count @ ((sets[:, None] & ~sets[None, :]) == 0)
        over = np.argwhere(within > limits[capacities])
        if len(over):
            step, chosen = over[0].tolist()
            carried = sum(c for bit, c in enumerate(capacities) if chosen >> bit & 1)
            carried = schedule.loads[step] * pieces * carried / max(through)
            raise ClaimBroken(
                f"/loads/{step}",
                f"node {topology.nodes[node]!r} must receive {within[step, chosen]} piece(s) "
                f"over links that carry {carried}",
            )
    return schedule.cost


def _unfolded(topology: Topology, schedule: SlackSchedule) -> NDArray[np.int8]:
    """Return all arrival steps; raise unless they fit the graph."""
    nodes, steps = topology.node_count, len(schedule.loads)
    if topology.switches:
        raise ClaimBroken("/nodes", "must hold no switches: slack schedules use direct links")
    if schedule.images.shape[1:] != (nodes,) or schedule.arrival.shape != (
        len(schedule.roots),
        nodes,
    ):
        raise ClaimBroken("/arrival", f"must have a row a root and a column for {nodes} nodes")
    if steps > np.iinfo(np.int8).max:
        raise ClaimBroken("/loads", f"must have at most {np.iinfo(np.int8).max} steps")
    if schedule.pieces * len(set(schedule.roots.tolist())) != len(schedule.roots):
        raise ClaimBroken("/roots", "must hold every root equally often")
    whole = schedule.unfolded()
    own = np.arange(nodes)
    if (whole < 0).any():
        raise ClaimBroken("/roots", "must hold a node of every orbit of the images")
    if whole[:, own, own].any() or (whole == 0).sum() != schedule.pieces * nodes:
        raise ClaimBroken("/arrival", "must be 0 at the owner of a shard and nowhere else")
    if (whole > steps).any():
        raise ClaimBroken("/arrival", f"must be at most {steps}, the number of loads")
    return whole


def _limits(capacities: tuple[Fraction, ...], shares: list[Fraction]) -> NDArray[np.int64]:
    """Return the capacity in whole pieces of every link set, by step."""
    weights = [Fraction(0)]
    for capacity in capacities:
        weights += [weight + capacity for weight in weights]
    return np.array([[int(share * weight) for weight in weights] for share in shares], np.int64)
