"""Candidate topologies between boxes: those of the frontier, and well-known ones at equal ports."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from topoloom.schedules.baselines.torus_topology import nearest
from topoloom.synth.boxes.box_fabric import Ports
from topoloom.synth.boxes.expression import Boxes
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import Frontier
from topoloom.synth.search.hosts import Hosts
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class BoxHosts:
    """The boxes of a design, and the cables of each.

    Attributes:
        box: One box, as in `synth.boxes.expression`.
        boxes, cables: Number of boxes, and of the cables of each.
        links: Whether both directions of a port lead to one box.
        cable: Rate of a cable in the unit of the box; default: the NIC of the catalogue.
        ports: Rule of the accelerators that the cables are on.
        boxes_per_rack: Most boxes of a rack, joined by copper; the racks are chosen for the most
            copper.
        graphs: Topologies of names after ``@`` in the box.
    """

    box: str
    boxes: int
    cables: int
    links: Links = Links.BIDIRECTIONAL
    cable: Fraction | None = None
    ports: Ports = Ports.EVEN
    boxes_per_rack: int = 1
    graphs: Mapping[str, Topology] = field(default_factory=dict)

    def text(self, between: str) -> str:
        """Return the text of the boxes with a topology between boxes.

        >>> BoxHosts("mi300x", 4, 8).text("Complete(4)")
        'Boxes(mi300x, Complete(4))'
        """
        return str(Boxes(self.box, between, self.cable, self.ports))

    def with_cables(self, cables: int) -> "BoxHosts":
        """Return the same boxes with another number of cables each."""
        return replace(self, cables=cables)

    @property
    def hosts(self) -> Hosts:
        """The boxes as hosts of a search; parallel cables only where simple graphs need fewer."""
        return Hosts(self.boxes, self.cables, self.links, parallel_links=self.cables >= self.boxes)


@dataclass(frozen=True, slots=True)
class BoxCandidate:
    """A topology between boxes, under the name of its kind; ``switched`` has switches."""

    kind: str
    between: str
    switched: bool = False


def frontier_candidates(
    hosts: BoxHosts, frontier: Callable[[Hosts], Frontier]
) -> tuple[list[BoxCandidate], int]:
    """Return the points of the frontier, and the least number of steps of any topology.

    Raises:
        ImpossibleRequest: No topology of these boxes exists or is known.
    """
    found = frontier(hosts.hosts)
    recipes = dict.fromkeys(str(point.recipe) for point in found.points)
    return [BoxCandidate("frontier", recipe) for recipe in recipes], found.bounds.steps


def known_candidates(hosts: BoxHosts) -> Iterator[BoxCandidate]:
    """Yield the ring, tori, full mesh and switch that these boxes have ports for.

    Rings, tori and meshes use parallel cables as far as ports are left.

    >>> for one in known_candidates(BoxHosts("dgx-h100", 9, 8)):
    ...     print(one.kind, one.between)
    ring BiRing(9, 4)
    torus Product(BiRing(3, 2), BiRing(3, 2))
    full-mesh Circulant(9, 1, 2, 3, 4)
    switch switch-9-8
    """
    boxes, cables = hosts.boxes, hosts.cables
    for kind, recipe in _recipes(boxes, cables):
        yield BoxCandidate(kind, str(parse(recipe)))
    yield BoxCandidate("switch", f"switch-{boxes}-{cables}", switched=True)


def _recipes(boxes: int, cables: int) -> Iterator[tuple[str, str]]:
    if boxes == 2:
        yield "full-mesh", f"UniRing(2, {cables})"
    elif cables >= 2:
        yield "ring", f"BiRing({boxes}, {cables // 2})"
    for sides in nearest(boxes, cables // 2):
        width = cables // (2 * len(sides))
        rings = ", ".join(f"BiRing({side}, {width})" for side in sides)
        yield "torus", f"Product({rings})"
    if 3 <= boxes <= cables + 1:
        copies = cables // (boxes - 1)
        offsets = [at for at in range(1, boxes // 2 + 1) for _ in range(copies)]
        yield "full-mesh", f"Circulant({', '.join(map(str, [boxes, *offsets]))})"
