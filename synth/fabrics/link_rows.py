"""Rows of a fabric's link list: cables that carry as much one way as the other."""

from topoloom.synth.topology.topology import Capacity

Row = tuple[str, str, Capacity]


def both(one: str, other: str, capacity: Capacity) -> list[Row]:
    """Return the two links of a cable.

    >>> both("a", "b", 25)
    [('a', 'b', 25), ('b', 'a', 25)]
    """
    return [(one, other, capacity), (other, one, capacity)]
