"""Which random regular graphs there are, and how much work exchanges on them are; no kernels."""

from topoloom.synth.errors import OutOfDomain

__all__ = [
    "MAX_NODES",
    "WORD",
    "aimed_work",
    "aims_by_walks",
    "by_walks",
    "require_drawable",
    "walks_over",
    "words",
    "work",
]

MAX_NODES = 16_384

WORD = 64
"""Bits in a word: so many nodes are looked at at once."""

# Words that are read in the time in which an exchange counts one pair of walks, an aimed one, too.
_WORDS_A_WALK = 100
_AIMED_WORDS_A_WALK = 70
# Nodes whose walks are counted, two bytes for each pair, and walks out of a node that are.
_MOST_COUNTED = 4096
_MOST_WALKS = (1 << 16) - 1


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


def walks_over(degree: int, depth: int, most: int) -> int:
    """Return of how many pairs of walks, to a link and on from it, no more than depth is made.

    Or some number above ``most``.

    >>> walks_over(3, 2, 100), walks_over(2, 5, 1000)
    (7, 129)
    """
    total, walks = 0, 1
    for length in range(depth):
        total, walks = total + (length + 1) * walks, walks * degree
        if total > most:
            break
    return total


def by_walks(nodes: int, degree: int, depth: int) -> bool:
    """Return whether `synth.edge_swaps.walk_counts` needs less work than balls, for edge swaps.

    >>> by_walks(1009, 4, 3), by_walks(1009, 4, 6)
    (True, False)
    """
    return _walk_words(nodes, degree, depth, _WORDS_A_WALK) is not None


def work(nodes: int, degree: int, depth: int) -> int:
    """Return what one exchange costs, in words read.

    >>> work(1009, 4, 6), work(1009, 4, 3)
    (387456, 5700)
    """
    walks = _walk_words(nodes, degree, depth, _WORDS_A_WALK)
    return words(nodes, degree, depth) if walks is None else walks


def aims_by_walks(nodes: int, degree: int, depth: int) -> bool:
    """Return whether walk counts need less work than balls, for targeted swaps.

    >>> aims_by_walks(1009, 4, 5), aims_by_walks(1009, 4, 6)
    (True, False)
    """
    return _aimed_walk_words(nodes, degree, depth) is not None


def aimed_work(nodes: int, degree: int, depth: int) -> int:
    """Return what one aimed exchange costs, in words read.

    >>> aimed_work(1009, 4, 6), aimed_work(1009, 4, 3)
    (387456, 3990)
    """
    walks = _aimed_walk_words(nodes, degree, depth)
    return words(nodes, degree, depth) if walks is None else walks


def _aimed_walk_words(nodes: int, degree: int, depth: int) -> int | None:
    """Do what `_walk_words` does; None, too, where too many walks to be counted leave a node."""
    found = _walk_words(nodes, degree, depth, _AIMED_WORDS_A_WALK)
    if found is None or degree**depth * degree > _MOST_WALKS * max(1, degree - 1):
        return None
    return found


def _walk_words(nodes: int, degree: int, depth: int, a_walk: int) -> int | None:
    """Return what counting walks costs, so many words each; None where balls cost less."""
    most = words(nodes, degree, depth) // a_walk
    walks = walks_over(degree, depth, most)
    return a_walk * walks if nodes <= _MOST_COUNTED and walks < most else None
