"""A graph draft: nodes and edges with their data, and the assumptions about missing data."""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from topoloom.synth.formats.attributes import CAPACITIES, Attributes, number
from topoloom.synth.formats.topology_draft import Draft
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

SPEED = "LinkSpeedRaw"
"""Attribute of the Internet Topology Zoo: bits per second (topology-zoo.org, "Dataset")."""

BITS_PER_GB = 8 * 10**9
SHOWN = 5
"""Names in one sentence at most."""

_FORWARDS = re.compile(r"(?i)switch|spine|leaf|router|fabric|^(tor|sw|rail|plane)[-_.]?[0-9]*$")
_DRAWN = frozenset({"id", "key", "label", "name", "source", "target", "graphics", "x", "y"})
"""Attributes that every drawing program writes."""


class _Edge(NamedTuple):
    source: NodeId
    target: NodeId
    place: str
    capacity_place: str
    data: Mapping[str, Any]
    directed: bool | None


class GraphDraft:
    """A graph with the data that a reader found in the text.

    Args:
        attributes: The user's options for the data.
        directed: Whether the text states that links are directed; None where it states neither.
        default: Whether the format takes links as directed where nothing is stated.
        kinds: Whether nodes of this format can carry a kind.

    >>> draft = GraphDraft(Attributes(), directed=None, default=True, kinds=False)
    >>> for node in "ab":
    ...     draft.node(node, "/line/1")
    >>> draft.edge("a", "b", "/line/1", {})
    >>> [assumption.option for assumption in draft.build().assumed]
    ['directed', 'capacity_attribute']
    """

    def __init__(
        self, attributes: Attributes, *, directed: bool | None, default: bool, kinds: bool
    ) -> None:
        self._attributes = attributes
        self._stated = directed
        self._default = default
        self._kinds = kinds
        self._draft = Draft()
        self._nodes: list[tuple[NodeId, Mapping[str, Any]]] = []
        self._edges: list[_Edge] = []

    def node(
        self, id: NodeId, place: str, data: Mapping[str, Any] | None = None, kind_place: str = ""
    ) -> None:
        """Add a node with its data; ``kind_place`` is where errors of its kind are."""
        data = data or {}
        switch = self._kinds and self._attributes.is_switch(data, kind_place or place)
        self._draft.node(id, place, switch=switch)
        self._nodes.append((id, data))

    def edge(
        self,
        source: NodeId,
        target: NodeId,
        place: str,
        data: Mapping[str, Any],
        *,
        directed: bool | None = None,
        capacity_place: str = "",
    ) -> None:
        """Add an edge with its data; ``directed`` is the direction stated for this edge."""
        self._edges.append(_Edge(source, target, place, capacity_place or place, data, directed))

    def limit(self, pairs: Iterable[tuple[NodeId, NodeId]], value: Capacity, place: str) -> None:
        """Add a capacity that the edges between these pairs share."""
        self._draft.limit(pairs, value, place)

    def assume(self, text: str, option: str = "") -> None:
        """Report a fact that the text does not state, and the option that states it."""
        self._draft.assume(text, option)

    def build(self, about: Mapping[str, Any] | None = None) -> Topology:
        """Return the topology with its assumptions; ``about`` are the graph's own data."""
        stated = {key: value for key, value in (about or {}).items() if isinstance(value, str)}
        by_speed = self._has_speeds()
        capacity = _speed if by_speed else self._attributes.capacity_of
        self._add_links(capacity)
        self._assume_direction()
        self._assume_capacities(by_speed)
        self._assume_kinds()
        unit = self._attributes.unit or stated.get("bandwidth_unit") or ("GB/s" if by_speed else "")
        return self._draft.build(
            name=stated.get("name", ""), recipe=stated.get("recipe"), unit=unit or self._unit()
        )

    def _add_links(self, capacity: Callable[[Mapping[str, Any], str], Capacity]) -> None:
        usual = self._default if self._stated is None else self._stated
        for source, target, place, capacity_place, data, own in self._edges:
            value = capacity(data, capacity_place)
            self._draft.link(source, target, value, place)
            directed = usual if own is None else own
            if self._attributes.directed is not None:
                directed = self._attributes.directed
            if not directed:
                self._draft.link(target, source, value, place)

    def _has_speeds(self) -> bool:
        """Whether every edge has a speed of the Topology Zoo, and none a capacity."""
        return bool(self._edges) and all(
            SPEED in edge.data and not self._states_capacity(edge) for edge in self._edges
        )

    def _states_capacity(self, edge: _Edge) -> bool:
        if self._attributes.capacity is not None:
            return True
        return any(name in edge.data for name in CAPACITIES)

    def _assume_direction(self) -> None:
        if self._attributes.directed is not None or self._stated is not None:
            return
        silent = [edge for edge in self._edges if edge.directed is None]
        if not silent:
            return
        pairs = {(edge.source, edge.target) for edge in silent}
        if self._default and all((target, source) in pairs for source, target in pairs):
            return
        way = "one way, from its first node to its second" if self._default else "both ways"
        self._draft.assume(f"The file states no direction: each link is read {way}.", "directed")

    def _assume_capacities(self, by_speed: bool) -> None:
        if by_speed:
            self._draft.assume(
                f"Capacities are the attribute {SPEED}, read as bits per second.",
                "capacity_attribute",
            )
            return
        silent = [edge for edge in self._edges if not self._states_capacity(edge)]
        if not silent:
            return
        count = f"{len(silent)} of {len(self._edges)} links state no capacity: each has 1."
        unread = _shown(name for edge in silent for name in edge.data)
        self._draft.assume(
            count + (f" Not read: {unread}." if unread else ""), "capacity_attribute"
        )

    def _assume_kinds(self) -> None:
        name = self._attributes.kind or "kind"
        silent = [(id, data) for id, data in self._nodes if name not in data]
        if not silent:
            return
        if self._kinds:
            count = f"{len(silent)} of {len(self._nodes)} nodes"
            unread = _shown(
                key
                for _, data in silent
                for key, value in data.items()
                if isinstance(value, str) and value and not _is_number(value)
            )
            self._draft.assume(
                f"{count} have no attribute {_printable(name)}: they are read as compute nodes."
                + (f" Not read: {unread}." if unread else ""),
                "kind_attribute",
            )
        elif suspects := _shown(str(id) for id, _ in silent if _FORWARDS.search(str(id))):
            self._draft.assume(
                f"This format states no switches: {suspects} are read as compute nodes."
            )

    def _unit(self) -> str:
        """Return the unit of a graph that states none."""
        unit = self._draft.unit()
        if unit != "link":
            self._draft.assume(f"The file states no unit: capacities are in {unit}.", "unit")
        elif any(self._states_capacity(edge) for edge in self._edges):
            self._draft.assume("The file states no unit: every capacity is 1, one link.", "unit")
        return unit


def _speed(data: Mapping[str, Any], place: str) -> Capacity:
    return Fraction(number(data[SPEED], place)) / BITS_PER_GB


def _shown(names: Iterable[str]) -> str:
    """Return a few different names, and how many more there are."""
    found = [name for name in dict.fromkeys(names) if name.lower() not in _DRAWN]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(map(_printable, found[:SHOWN])) + more


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in name[:50])


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?", text) is not None
