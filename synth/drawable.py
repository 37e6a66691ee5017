"""Which random regular graphs there are, and how much work exchanges on them are; no kernels."""

from synth.errors import OutOfDomain

__all__ = ["MAX_NODES", "WORD", "require_drawable", "words"]

MAX_NODES = 16_384

WORD = 64
"""Bits in a word: so many nodes are looked at at once."""


def require_drawable(nodes: int, degree: int, seed: int, two_way: bool) -> None:
    """Raise `OutOfDomain` unless there is such a graph, and it is not too large."""
    if not 2 <= nodes <= MAX_NODES:
        raise OutOfDomain("nodes", f"must be in 2 .. {MAX_NODES}")
    if not 1 <= degree < nodes:
        raise OutOfDomain("degree", f"must be in 1 .. {nodes - 1}, less than nodes")
    if not 0 <= seed < 2**63:
        raise OutOfDomain("seed", "must be in 0 .. 2**63 - 1")
    if two_way and nodes * degree % 2:
        raise OutOfDomain(
            "degree", "must be even, or nodes: a two-way link takes a port at both its ends"
        )
    if two_way and degree == 1 and nodes > 2:
        raise OutOfDomain("degree", "must be at least 2: two-way links of degree 1 join 2 nodes")


def words(nodes: int, degree: int, depth: int) -> int:
    """Return how many words are read to count once the pairs more than ``depth`` links apart.

    >>> words(1009, 4, 6)
    387456
    """
    return nodes * degree * depth * -(-nodes // WORD)
