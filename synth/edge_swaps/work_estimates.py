"""Domain of random regular graphs and work estimates of edge swaps; imports no kernels."""

from topoloom.synth.errors import OutOfDomain

MAX_NODES = 16_384

WORD = 64
"""Bits in a word: the nodes that one operation covers."""

# Words read in the time of updating one pair of walks, for random and for targeted swaps.
_WORDS_A_WALK = 100
_TARGETED_WORDS_A_WALK = 70
# Most nodes for walk counts, at two bytes a pair, and most walks from a node.
_MOST_COUNTED = 4096
_MOST_WALKS = (1 << 16) - 1


def require_random_regular(nodes: int, degree: int, seed: int, two_way: bool) -> None:
    """Raise `OutOfDomain` unless a random regular graph with these parameters exists."""
    if not 2 <= nodes <= MAX_NODES:
        raise OutOfDomain("nodes", f"must be in 2 .. {MAX_NODES}")
    if not 1 <= degree < nodes:
        raise OutOfDomain("degree", f"must be in 1 .. {nodes - 1}, less than nodes")
    if not 0 <= seed < 2**63:
        raise OutOfDomain("seed", "must be in 0 .. 2**63 - 1")
    if two_way and nodes * degree % 2:
        raise OutOfDomain(
            "degree", "must be even, or nodes must be: a two-way link takes a port at both ends"
        )
    if two_way and degree == 1 and nodes > 2:
        raise OutOfDomain("degree", "must be at least 2: two-way links of degree 1 join 2 nodes")


def count_words(nodes: int, degree: int, depth: int) -> int:
    """Return the words read to count the pairs more than ``depth`` links apart once.

    >>> count_words(1009, 4, 6)
    387456
    """
    return nodes * degree * depth * -(-nodes // WORD)


def walks_over(degree: int, depth: int, most: int) -> int:
    """Return the number of walks of at most ``depth`` links over one link.

    Any number above ``most`` stands for more than ``most``.

    >>> walks_over(3, 2, 100), walks_over(2, 5, 1000)
    (7, 129)
    """
    total, walks = 0, 1
    for length in range(depth):
        total, walks = total + (length + 1) * walks, walks * degree
        if total > most:
            break
    return total


def swaps_use_walks(nodes: int, degree: int, depth: int) -> bool:
    """Return whether walk counts need less work than bitsets, for random swaps.

    >>> swaps_use_walks(1009, 4, 3), swaps_use_walks(1009, 4, 6)
    (True, False)
    """
    return _walk_words(nodes, degree, depth, _WORDS_A_WALK) is not None


def swap_words(nodes: int, degree: int, depth: int) -> int:
    """Return the cost of one random swap in words read.

    >>> swap_words(1009, 4, 6), swap_words(1009, 4, 3)
    (387456, 5700)
    """
    walks = _walk_words(nodes, degree, depth, _WORDS_A_WALK)
    return count_words(nodes, degree, depth) if walks is None else walks


def targeted_swaps_use_walks(nodes: int, degree: int, depth: int) -> bool:
    """Return whether walk counts need less work than bitsets, for targeted swaps.

    >>> targeted_swaps_use_walks(1009, 4, 5), targeted_swaps_use_walks(1009, 4, 6)
    (True, False)
    """
    return _aimed_walk_words(nodes, degree, depth) is not None


def targeted_swap_words(nodes: int, degree: int, depth: int) -> int:
    """Return the cost of one targeted swap in words read.

    >>> targeted_swap_words(1009, 4, 6), targeted_swap_words(1009, 4, 3)
    (387456, 3990)
    """
    walks = _aimed_walk_words(nodes, degree, depth)
    return count_words(nodes, degree, depth) if walks is None else walks


def _aimed_walk_words(nodes: int, degree: int, depth: int) -> int | None:
    """Return the cost of walk counts; None above bitsets or above `_MOST_WALKS` from a node."""
    found = _walk_words(nodes, degree, depth, _TARGETED_WORDS_A_WALK)
    if found is None or degree**depth * degree > _MOST_WALKS * max(1, degree - 1):
        return None
    return found


def _walk_words(nodes: int, degree: int, depth: int, a_walk: int) -> int | None:
    """Return the cost of walk counts at ``a_walk`` words each; None if bitsets cost less."""
    most = count_words(nodes, degree, depth) // a_walk
    walks = walks_over(degree, depth, most)
    return a_walk * walks if nodes <= _MOST_COUNTED and walks < most else None
