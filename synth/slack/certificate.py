"""Labels of an allgather: what a search hands over, and the theorem by which they are checked.

The check knows the graph and the labels alone: nothing of how they were found, none of the
tables of the search, and no symmetry, which it unfolds first.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import Topology

__all__ = ["Labels", "check_labels"]


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """In which step every piece of every shard arrives at every node, and at what load.

    Attributes
    ----------
    images : (order, N) array of int64
        A group of automorphisms; row g holds where g takes every position.
    roots : (R,) array of int64
        A node of every orbit, q times each where a shard is cut into q pieces.
    arrival : (R, N) array of int8
        The label of piece r at a node: the step, from 1, after which it is there; 0 at its
        root.  The images of the root and of the node have the same.
    loads : tuple of Fraction
        By step, from 1: how many shards a node may receive over all its links together.  A
        link carries at most its share of that, by capacity: 1/d of it where links are equal.
    """

    images: NDArray[np.int64]
    roots: NDArray[np.int64]
    arrival: NDArray[np.int8]
    loads: tuple[Fraction, ...]

    @property
    def pieces(self) -> int:
        """Into how many pieces a shard is cut, q."""
        return int((self.roots == self.roots[0]).sum())

    @property
    def cost(self) -> Cost:
        """What an allgather by these labels costs."""
        return Cost(len(self.loads), sum(self.loads, Fraction(0)) / self.images.shape[1])

    def unfolded(self) -> NDArray[np.int8]:
        """Return (q, N, N): the label of every piece of every shard, by its owner, at every node.

        The last axis is the shard's owner.  O(q N^2).
        """
        nodes = self.images.shape[1]
        whole = np.full((self.pieces, nodes, nodes), -1, np.int8)
        number = np.zeros(nodes, np.int64)
        for root, labels in zip(self.roots.tolist(), self.arrival, strict=True):
            piece = number[root]
            number[root] += 1
            for image in self.images:
                whole[piece, image, image[root]] = labels
        return whole


def check_labels(topology: Topology, labels: Labels) -> Cost:
    """Return the cost that labels prove, by the label theorem; raise if they prove none.

    Parameters
    ----------
    topology : Topology
        Direct-connect, of any capacities.
    labels : Labels
        From anywhere.

    Raises
    ------
    ClaimBroken
        Their shapes do not fit; a label is out of range; a piece has no link to come by; or
        the pieces of a step that can come by some links only are more than those carry.

    Notes
    -----
    *Theorem.*  Let every piece of every shard have a label at every node, 0 at its owner
    only.  Call a link w -> u *open* to a piece if its label at w is below that at u.  If for
    every node u, step t and set S of links into u

        (pieces of label t at u to which no link outside S is open) / q  <=  load(t) c(S) / B,

    where c(S) is the capacity of S and B the largest into or out of a node, then there is an
    allgather of T steps in which a link of capacity c carries at most load(t) c / B shards
    in step t.  Its T_B is the sum of load(t) / N.

    *Proof.*  By Hall's theorem (max-flow, min-cut) the condition lets the pieces of label t at u
    be shared among the links open to each, none of which takes more than its limit.  What a
    link is to carry, its tail holds: the piece arrived there, all of it, in a step before t.  So
    by induction on t everything of label at most t is where it should be after step t.  The
    supplies are whole numbers of pieces: where the limits are multiples of 1/C of a shard
    and C of q, whole numbers of 1/C suffice.

    Exact: integers and Fractions.  O(q N links) array operations and O(N T 4^d).

    Examples
    --------
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> images = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    >>> arrival = np.array([[0, 1, 2]], np.int8)
    >>> labels = Labels(images, np.array([0]), arrival, (Fraction(1), Fraction(1)))
    >>> check_labels(ring, labels)
    Cost(steps=2, bandwidth=Fraction(2, 3))
    >>> check_labels(ring, Labels(images, np.array([0]), arrival, (Fraction(1), Fraction(1, 2))))
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.ClaimBroken: /loads/1: node 0 must receive 1 piece(s) \
over links that carry 1/2
    """
    whole = _unfolded(topology, labels)
    nodes, pieces, steps = topology.node_count, labels.pieces, len(labels.loads)
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
            shares = [load * pieces / max(through) for load in labels.loads]
            limits[capacities] = _limits(capacities, shares)
        there = whole[:, node].reshape(-1)
        mask = np.zeros(len(there), np.int64)
        for bit, (source, _) in enumerate(links):
            mask |= (whole[:, source].reshape(-1) < there).astype(np.int64) << bit
        if (mask[there > 0] == 0).any():
            raise ClaimBroken("/arrival", f"node {topology.nodes[node]!r} gets a piece by no link")
        key = (there.astype(np.int64) << len(links)) + mask
        count = np.bincount(key, minlength=(steps + 1) << len(links)).reshape(steps + 1, -1)[1:]
        sets = np.arange(1 << len(links))
        within = count @ ((sets[:, None] & ~sets[None, :]) == 0)
        over = np.argwhere(within > limits[capacities])
        if len(over):
            step, chosen = over[0].tolist()
            carried = sum(c for bit, c in enumerate(capacities) if chosen >> bit & 1)
            carried = labels.loads[step] * pieces * carried / max(through)
            raise ClaimBroken(
                f"/loads/{step}",
                f"node {topology.nodes[node]!r} must receive {within[step, chosen]} piece(s) "
                f"over links that carry {carried}",
            )
    return labels.cost


def _unfolded(topology: Topology, labels: Labels) -> NDArray[np.int8]:
    """Return all labels, once they fit the graph and say of every cell what they should."""
    nodes, steps = topology.node_count, len(labels.loads)
    if topology.switches:
        raise ClaimBroken("/nodes", "must hold no switches: labels are of direct links")
    if labels.images.shape[1:] != (nodes,) or labels.arrival.shape != (len(labels.roots), nodes):
        raise ClaimBroken("/arrival", f"must have a label for each root and all {nodes} nodes")
    if steps > np.iinfo(np.int8).max:
        raise ClaimBroken("/loads", f"must be of at most {np.iinfo(np.int8).max} steps")
    if labels.pieces * len(set(labels.roots.tolist())) != len(labels.roots):
        raise ClaimBroken("/roots", "must hold every root equally often")
    whole = labels.unfolded()
    own = np.arange(nodes)
    if (whole < 0).any():
        raise ClaimBroken("/roots", "must hold a node of every orbit of the images")
    if whole[:, own, own].any() or (whole == 0).sum() != labels.pieces * nodes:
        raise ClaimBroken("/arrival", "must be 0 where a shard starts, and there only")
    if (whole > steps).any():
        raise ClaimBroken("/arrival", f"must be at most {steps}, the number of loads")
    return whole


def _limits(capacities: tuple[Fraction, ...], shares: list[Fraction]) -> NDArray[np.int64]:
    """Return, by step and set of links, how many whole pieces the set can carry."""
    weights = [Fraction(0)]
    for capacity in capacities:
        weights += [weight + capacity for weight in weights]
    return np.array([[int(share * weight) for weight in weights] for share in shares], np.int64)
