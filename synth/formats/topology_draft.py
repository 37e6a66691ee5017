"""Shared parts of all readers: a topology draft, places in a text, exact numbers."""

import re
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

import networkx as nx

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.recipes.topology_document import (
    MAX_LINKS,
    MAX_NODES,
    MAX_TEXT,
    with_name_and_recipe,
)
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.rates import unit_name
from topoloom.synth.topology.topology import Capacity, Link, NodeId, Topology

MAX_DIGITS = 30

_Node = TypeVar("_Node", bound=Hashable)

_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?|[0-9]{1,30}/[0-9]{1,30}")
_PLACE = re.compile(r"/(nodes|links|shared)/([0-9]+)(.*)")


def line(number: int) -> str:
    """Return the place of a line, counted from 1, as errors name it.

    >>> line(7)
    '/line/7'
    """
    return f"/line/{number}"


def wrong(place: str, rule: str) -> InvalidTopology:
    """Return the error to raise; quotations from the text are shortened."""
    return InvalidTopology(place, rule if len(rule) <= 300 else rule[:297] + "...")


def object_at(value: Any, place: str) -> dict[Any, Any]:
    """Return a value of JSON or YAML that must be an object."""
    if not isinstance(value, dict):
        raise wrong(place, "must be an object")
    return value


def list_at(value: Any, place: str) -> list[Any]:
    """Return a value of JSON or YAML that must be a list."""
    if not isinstance(value, list):
        raise wrong(place, "must be a list")
    return value


def capacity(text: str, place: str) -> Fraction:
    """Return the exact value of ``12``, ``12.5``, ``1.25e1`` or ``25/2``; zero is allowed.

    >>> capacity("12.5", line(1))
    Fraction(25, 2)

    Raises:
        InvalidTopology: It is no such number, or needs more than 30 digits.
    """
    if _NUMBER.fullmatch(text) and not re.search("/0+$", text):
        value = Fraction(text)
        if max(value.numerator, value.denominator) < 10**MAX_DIGITS:
            return value
    raise wrong(place, f"must be a number of at most {MAX_DIGITS} digits; {text[:50]!r} is not")


def join(nodes: Iterable[_Node], pairs: Iterable[tuple[_Node, _Node]]) -> "list[set[_Node]]":
    """Return the connected components of undirected pairs, in order of their first node.

    >>> join([1, 2, 3], [(3, 1)])
    [{1, 3}, {2}]
    """
    graph: nx.Graph[_Node] = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(pairs)
    return [set(piece) for piece in nx.connected_components(graph)]


class Draft:
    """A topology in the making, which knows where in the text each part came from.

    >>> draft = Draft()
    >>> draft.node("a", line(1))
    >>> draft.link("a", "b", 1, line(2))
    >>> draft.build()
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: /line/2: must be the id of a node; 'b' is not
    """

    def __init__(self) -> None:
        self._nodes: list[NodeId] = []
        self._links: list[Link] = []
        self._switches: set[NodeId] = set()
        self._shared: list[tuple[list[tuple[NodeId, NodeId]], Capacity]] = []
        self._places: dict[str, list[str]] = {"nodes": [], "links": [], "shared": []}
        self._assumed: list[Assumption] = []

    def assume(self, text: str, option: str = "") -> None:
        """Report a fact that the text does not state, and the option that states it."""
        self._assumed.append(Assumption(text, option))

    def node(self, id: NodeId, place: str, *, switch: bool = False) -> None:
        """Add a node; its id must be printable, of at most 200 characters or 30 digits."""
        if isinstance(id, str) and (len(id) > 200 or not id.isprintable()):
            raise wrong(place, "an id must be printable, at most 200 characters")
        if isinstance(id, int) and abs(id) >= 10**MAX_DIGITS:
            raise wrong(place, f"an id must have at most {MAX_DIGITS} digits")
        if len(self._nodes) >= MAX_NODES:
            raise wrong(place, f"must have at most {MAX_NODES} nodes")
        self._nodes.append(id)
        self._places["nodes"].append(place)
        if switch:
            self._switches.add(id)

    def link(self, source: NodeId, target: NodeId, value: Capacity, place: str) -> None:
        """Add a directed link."""
        if len(self._links) >= MAX_LINKS:
            raise wrong(place, f"must have at most {MAX_LINKS} links")
        self._links.append(Link(source, target, value))
        self._places["links"].append(place)

    def cable(self, one: NodeId, other: NodeId, value: Capacity, place: str) -> None:
        """Add a link each way."""
        self.link(one, other, value, place)
        self.link(other, one, value, place)

    def limit(self, pairs: Iterable[tuple[NodeId, NodeId]], value: Capacity, place: str) -> None:
        """Add a capacity that the links between these pairs share."""
        self._shared.append((list(pairs), value))
        self._places["shared"].append(place)

    def unit(self) -> str:
        """Return the unit of capacities that come without one: links if all are 1."""
        return "link" if all(link.capacity == 1 for link in self._links) else "GB/s"

    def build(self, *, name: str = "", recipe: str | None = None, unit: str = "GB/s") -> Topology:
        """Return the topology; errors name the place in the text."""
        if len(unit) > MAX_TEXT or not unit.isprintable():
            raise wrong("", f"the unit must be printable, at most {MAX_TEXT} characters")
        try:
            topology = Topology(
                self._nodes,
                self._links,
                switches=self._switches,
                shared=self._shared,
                bandwidth_unit=unit_name(unit),
                assumed=self._assumed,
            )
            return with_name_and_recipe(topology, name, *(() if recipe is None else (recipe,)))
        except InvalidTopology as error:
            match = _PLACE.fullmatch(error.field)
            if match is None:
                raise
            place = self._places[match[1]][int(match[2])]
            inner = "" if place.startswith("/line/") else match[3]
            raise wrong(place + inner, error.rule) from None
