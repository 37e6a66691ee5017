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
from math import isqrt

from topoloom.schedules.baselines.operation import Baseline, Operation
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate.judge import LEAST_PIECE_BYTES


@dataclass(frozen=True, slots=True)
class DoubleTree:
    """The fastest two trees of all numbers of children, ``arities`` of the ports of a host."""

    NAME: str
    arities: Callable[[int], Iterable[int]]

    def time(self, nodes: int, degree: int, operation: Operation) -> Baseline | None:
        """Return the least time of `time`."""
        return self._best(nodes, degree, operation)[0]

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
