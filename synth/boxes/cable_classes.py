"""Classes of links: inside boxes, copper within racks, optics between racks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.boxes.racks import Racks, rack_numbers
from topoloom.synth.topology.topology import Link, NodeId, Topology


@dataclass(frozen=True, slots=True)
class CableCounts:
    """The cables of a fabric of boxes, by class.

    ``copper`` cables join boxes of one rack, ``optics`` all others, and those to switches between
    boxes.  A cable is two links in opposite directions of one capacity; a link without a partner
    counts half, since the other direction of its port leads elsewhere.
    """

    inside: Fraction
    copper: Fraction
    optics: Fraction

    def cost(self, copper: Fraction, optics: Fraction) -> Fraction:
        """Return the price of all cables between boxes.

        >>> CableCounts(Fraction(8), Fraction(2), Fraction(3)).cost(Fraction(1), Fraction(10))
        Fraction(32, 1)
        """
        return self.copper * copper + self.optics * optics


def link_class(link: Link, rack: Sequence[int] = ()) -> str:
    """Return the class of a link of a fabric of boxes: ``inside``, ``copper`` or ``optics``.

    Ids are ``"<box>.<name>"``; ``rack`` is the rack of each box, by default one for each.

    >>> racks = [0, 0, 1, 1]
    >>> link_class(Link("2.gpu0", "3.gpu1"), racks), link_class(Link("1.gpu0", "2.gpu0"), racks)
    ('copper', 'optics')
    """
    one, other = box_number(link.source), box_number(link.target)
    if one is None or other is None:
        return "optics"
    if one == other:
        return "inside"
    return "copper" if rack and rack[one] == rack[other] else "optics"


def cable_counts(topology: Topology, racks: Racks = ()) -> CableCounts:
    """Return the cables of a fabric of boxes by class; by default each box is a rack.  O(links).

    >>> from topoloom.synth.boxes.expression import topology_of_boxes
    >>> cable_counts(topology_of_boxes("Boxes(dgx-h100, BiRing(4))"), ((0, 1), (2, 3)))
    CableCounts(inside=Fraction(32, 1), copper=Fraction(2, 1), optics=Fraction(2, 1))
    """
    rack = rack_numbers(racks)
    links = Counter(link_class(link, rack) for link in topology.links)
    return CableCounts(*(Fraction(links[name], 2) for name in ("inside", "copper", "optics")))


def box_number(node: NodeId) -> int | None:
    """Return the number of the box of an id; None outside boxes.

    >>> box_number("12.gpu0"), box_number("fabric"), box_number(3)
    (12, None, None)
    """
    number, point, _ = str(node).partition(".")
    return int(number) if point and number.isdecimal() else None
