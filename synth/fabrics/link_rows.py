"""Rows of a fabric's link list: cables of equal capacity in both directions."""

from topoloom.synth.topology.topology import Capacity

Row = tuple[str, str, Capacity]


def two_way_links(one: str, other: str, capacity: Capacity) -> list[Row]:
    """Return the two links of a cable.

    >>> two_way_links("a", "b", 25)
    [('a', 'b', 25), ('b', 'a', 25)]
    """
    return [(one, other, capacity), (other, one, capacity)]
