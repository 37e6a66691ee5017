"""Two trees over the hosts, such that inner nodes of one are leaves of the other.

Each tree carries half the data, pipelined: the pieces are reduced towards the root and broadcast
back at once.  The two phases use opposite directions of the links.

References:
    Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
    scan", Parallel Computing 35(12), 2009; NCCL 2.4.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isqrt

from topoloom.schedules.baselines.baseline_run import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation
from topoloom.schedules.model.schedule import Collective, SequenceSchedule, Tree, TreeSchedule
from topoloom.schedules.simulate.judge import LEAST_PIECE_BYTES
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class DoubleTree:
    """The fastest two trees of all numbers of children, ``arities`` of the ports of a host."""

    NAME: str
    arities: Callable[[int], Iterable[int]]

    def time(self, nodes: int, degree: int, operation: Operation) -> Baseline | None:
        """Return the least time of `time`."""
        return self._best(nodes, degree, operation)[0]

    def baseline_run(self, nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
        """Return both trees on disjoint links."""
        timed, arity = self._best(nodes, degree, operation)
        return two_tree_run(nodes, degree, arity, timed) if timed else None

    def _best(self, nodes: int, degree: int, operation: Operation) -> tuple[Baseline | None, int]:
        found = [
            (timed, arity)
            for arity in self.arities(degree)
            if (timed := time(self.NAME, nodes, degree, arity, operation))
        ]
        return min(found, key=lambda pair: (pair[0].seconds, pair[1]), default=(None, 0))


DOUBLE_BINARY_TREE = DoubleTree("double-binary-tree", lambda _: (2,))
"""NCCL's double binary trees, for four ports or more."""

WIDE_DOUBLE_TREE = DoubleTree("double-tree", lambda degree: range(3, degree - 1))
"""Three or more children, for lower height on hosts with many ports."""


def time(name: str, nodes: int, degree: int, arity: int, operation: Operation) -> Baseline | None:
    """Return the time of two trees with ``arity`` children; None where they do not exist.

    A host has arity + 1 links in one tree and one in the other; floor(d / (arity + 2)) links
    are parallel.  Half the data takes twice the least height of such a tree in hops
    (`pipelined_seconds`).  With fewer than arity^2 + 2 hosts both trees might have to share links:
    None.

    >>> work = Operation(Collective.ALLREDUCE, 2**20, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> tree = time("double-binary-tree", 1024, 4, 2, work)
    >>> tree.chunks, round(float(tree.seconds) * 1e6, 1)
    (128, 392.7)
    """
    parallel = degree // (arity + 2)
    if operation.collective is not Collective.ALLREDUCE:
        return None
    if not parallel or nodes < arity**2 + 2:
        return None
    wide = operation.bytes_per_second * parallel / degree
    hops = 2 * _height(nodes, arity)
    return pipelined_seconds(name, hops, Fraction(operation.size_bytes, 2), wide, operation)


def pipelined_seconds(
    name: str, hops: int, size: Fraction | int, bytes_per_second: Fraction, operation: Operation
) -> Baseline:
    """Return the time of data that crosses ``hops`` links in sequence in the best c pieces.

    With k the seconds of all data on a link and m the cost of a message, all pieces arrive after
    hops alpha + (hops - 1 + c) (k / c + m).  Pieces have at least `LEAST_PIECE_BYTES`.  For m = 0
    the time decreases in c; otherwise the minimum is next to the root of (hops - 1) k / m.

    >>> work = Operation(Collective.ALLREDUCE, 2**20, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> chain = pipelined_seconds("chain", 3, 2**20, Fraction(10**9), work)
    >>> chain.chunks, chain.steps, round(float(chain.seconds) * 1e6, 1)
    (256, 258, 1086.8)
    """
    link_seconds = size / bytes_per_second
    each, ramp = operation.message_seconds, hops - 1
    chunks = max(1, int(size) // LEAST_PIECE_BYTES)
    if each:
        root = isqrt(int(ramp * link_seconds / each))
        tried = (min(max(near, 1), chunks) for near in (root, root + 1))
        chunks = min(tried, key=lambda cut: (ramp + cut) * (link_seconds / cut + each))
    wire = (ramp + chunks) * (link_seconds / chunks + each)
    return Baseline(name, hops * operation.alpha_seconds + wire, ramp + chunks, chunks)


def two_tree_run(nodes: int, degree: int, arity: int, timed: Baseline) -> BaselineRun:
    """Return both trees on disjoint links, cut as in `time`, which returned ``timed``."""
    trees = [_edges(nodes, arity, order) for order in _orders(nodes, arity)]
    parallel = degree // (arity + 2)
    pairs = [pair for _, edges in trees for pair in edges]
    both = [pair for a, b in pairs for pair in ((a, b), (b, a))]
    topology = Topology(range(nodes), both * parallel)
    roots = [root for root, _ in trees]
    sizes = tuple(int(host in roots) for host in range(nodes))
    parts = tuple(
        TreeSchedule(
            collective,
            topology.digest,
            topology.nodes,
            1,
            tuple(
                Tree(root, 1, tuple((b, a) if turned else (a, b) for a, b in edges))
                for root, edges in trees
            ),
            sizes,
        )
        for collective, turned in ((Collective.REDUCE_SCATTER, True), (Collective.ALLGATHER, False))
    )
    schedule = SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts, together=True)
    return BaselineRun(topology, schedule, timed.chunks)


def _height(nodes: int, arity: int) -> int:
    """Return the least height of a tree with ``arity`` children over the hosts.

    >>> [_height(nodes, 2) for nodes in (6, 7, 8, 1024)], _height(1024, 4)
    ([2, 2, 3, 10], 5)
    """
    height, room, level = 0, 1, 1
    while room < nodes:
        level *= arity
        room += level
        height += 1
    return height


def _edges(nodes: int, arity: int, order: list[int]) -> tuple[int, list[tuple[int, int]]]:
    """Return the root and the edges, breadth first, of the heap over hosts in an order."""
    return order[0], [(order[(at - 1) // arity], order[at]) for at in range(1, nodes)]


def _orders(nodes: int, arity: int) -> tuple[list[int], list[int]]:
    """Return an order of the hosts for each heap, such that the heaps share no link.

    The inner hosts of the second heap are the last hosts, which are leaves of the first.  These and
    its leaves are rotated until no two hosts are joined in both.
    """
    inner = (nodes - 2) // arity + 1
    first = list(range(nodes))
    joined = {frozenset(pair) for pair in _edges(nodes, arity, first)[1]}
    heads, leaves = first[::-1][:inner], first[::-1][inner:]
    for head, turn in product(range(len(heads)), range(len(leaves))):
        second = [*heads[head:], *heads[:head], *leaves[turn:], *leaves[:turn]]
        if not any(frozenset(pair) in joined for pair in _edges(nodes, arity, second)[1]):
            return first, second
    raise AssertionError(f"no two heaps of {nodes} hosts without a link in common")
