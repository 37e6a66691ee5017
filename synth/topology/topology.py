"""The one graph type: compute nodes and switches joined by directed links.

Orientation is fixed here for the whole program: a link runs from ``source`` to
``target``, data moves that way, and every pair is written in that order.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.naming.short_names import shortened
from topoloom.synth.topology.assumptions import Assumption, assumed_members
from topoloom.synth.topology.validation import (
    Capacity,
    NodeId,
    Shared,
    positions_of,
    require_switches,
    row_of,
    shared_members,
    shared_of,
    written,
)

if TYPE_CHECKING:
    import networkx as nx

    from topoloom.synth.naming.terms import Term

MAX_RECIPE = 4096
"""Characters of a recipe in a document; a longer one is left out of it."""

Positions: TypeAlias = NDArray[np.int32]


class Link(NamedTuple):
    """A directed link; ``capacity`` is in the topology's bandwidth unit."""

    source: NodeId
    target: NodeId
    capacity: Capacity = 1


class Topology:
    """A directed capacitated multigraph of compute nodes and switches; immutable.

    Parameters
    ----------
    nodes : iterable of int or str
        Unique ids.  Their order is the rank order of the compute nodes.
    links : iterable of Link or (source, target[, capacity]) tuples
        Parallel links are several entries.  Capacities are positive integers or
        Fractions.  No link joins a node to itself.
    switches : iterable of int or str
        Those nodes that only forward.
    multicast : iterable of int or str
        Those switches that can also copy what comes in to several links, and add up what
        comes in from several (NVLink SHARP).
    shared : iterable of (links, capacity)
        Limits that several links have together, as a PCIe switch or a network card that
        two GPUs share: what crosses the links, given as pairs, is at most ``capacity``.
    name : str
        For people; not part of the identity, and nothing is read out of it.
    recipe : Term, optional
        How the topology, or the one with every link turned round, is made.  A hint: what
        uses it checks on the links that it holds.  Not part of the identity.
    bandwidth_unit : str
        Unit of the capacities, such as ``"GB/s"``; ``"link"`` when every capacity
        counts links.
    assumed : iterable of Assumption
        What the file that describes the topology does not state.  Not part of the identity.

    Notes
    -----
    *Position* of a node is its index in ``nodes``.  Links are kept sorted by
    (source position, target position, capacity), so two topologies that differ
    only in the order of their links are equal and have the same digest.  The
    arrays ``sources`` and ``targets`` hold positions and follow the order of
    ``links``; ``capacities`` is parallel to them.  All arrays are read-only.

    Raises
    ------
    InvalidTopology
        An id is repeated, a link's end is unknown, a link joins a node to itself,
        a capacity is not positive, or a multicast node is no switch.

    Examples
    --------
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)], name="ring")
    >>> ring.node_count, ring.link_count, ring.degree
    (3, 3, 1)
    >>> ring.transpose().links[0]
    Link(source=0, target=2, capacity=1)
    """

    def __init__(
        self,
        nodes: Iterable[NodeId],
        links: Iterable[Sequence[Any]],
        *,
        switches: Iterable[NodeId] = (),
        multicast: Iterable[NodeId] = (),
        shared: Iterable[tuple[Iterable[Sequence[NodeId]], Capacity]] = (),
        name: str = "",
        recipe: "Term | None" = None,
        bandwidth_unit: str = "link",
        assumed: Iterable[Assumption] = (),
    ) -> None:
        self.nodes: tuple[NodeId, ...] = tuple(nodes)
        self.switches: frozenset[NodeId] = frozenset(switches)
        self.multicast: frozenset[NodeId] = frozenset(multicast)
        self.name = name
        self.recipe = recipe
        self.bandwidth_unit = bandwidth_unit
        self.assumed = tuple(dict.fromkeys(assumed))
        position = positions_of(self.nodes)
        require_switches(self.nodes, self.switches, self.multicast)
        rows = [row_of(position, index, link) for index, link in enumerate(links)]
        rows.sort()
        self.sources: Positions = _frozen([row[0] for row in rows])
        self.targets: Positions = _frozen([row[1] for row in rows])
        self.capacities: tuple[Capacity, ...] = tuple(row[2] for row in rows)
        self.shared: tuple[Shared, ...] = shared_of(position, {row[:2] for row in rows}, shared)

    @classmethod
    def direct(
        cls,
        node_count: int,
        sources: NDArray[Any],
        targets: NDArray[Any],
        *,
        name: str = "",
        recipe: "Term | None" = None,
    ) -> "Topology":
        """Return compute nodes 0..node_count-1 joined by unit links, from arrays.

        ``sources`` and ``targets`` are integer arrays of equal length with values in
        [0, node_count).  This is the fast way for large graphs: O(links log links).

        >>> Topology.direct(2, np.array([1, 0]), np.array([0, 1])).links
        (Link(source=0, target=1, capacity=1), Link(source=1, target=0, capacity=1))
        """
        if node_count < 1:
            raise InvalidTopology("/nodes", "must not be empty")
        ends = np.concatenate([sources, targets]) if len(sources) else np.zeros(0, np.int32)
        if len(sources) != len(targets) or (
            len(ends) and not (0 <= ends.min() and ends.max() < node_count)
        ):
            raise InvalidTopology("/links", "every end must be one of the nodes")
        if np.any(sources == targets):
            raise InvalidTopology("/links", "a link must join two different nodes")
        topology = cls.__new__(cls)
        topology.nodes = tuple(range(node_count))
        topology.switches = topology.multicast = frozenset()
        topology.shared = ()
        topology.name = name
        topology.recipe = recipe
        topology.bandwidth_unit = "link"
        topology.assumed = ()
        order = np.lexsort((targets, sources))
        topology.sources = _frozen(sources[order])
        topology.targets = _frozen(targets[order])
        topology.capacities = (1,) * len(order)
        return topology

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links, sorted; parallel ones are neighbours."""
        nodes = self.nodes
        ends = zip(self.sources.tolist(), self.targets.tolist(), self.capacities, strict=True)
        return tuple(Link(nodes[s], nodes[t], c) for s, t, c in ends)

    @cached_property
    def position(self) -> dict[NodeId, int]:
        """Index in ``nodes`` of every id."""
        return {node: index for index, node in enumerate(self.nodes)}

    @cached_property
    def compute_nodes(self) -> tuple[NodeId, ...]:
        """The nodes that hold data, in rank order."""
        return tuple(node for node in self.nodes if node not in self.switches)

    @property
    def node_count(self) -> int:
        """Number of nodes, switches included."""
        return len(self.nodes)

    @property
    def link_count(self) -> int:
        """Number of links, each parallel one counted."""
        return len(self.capacities)

    @cached_property
    def out_degrees(self) -> NDArray[np.int64]:
        """Links that leave each node, by position."""
        return np.bincount(self.sources, minlength=self.node_count)

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """Links that enter each node, by position."""
        return np.bincount(self.targets, minlength=self.node_count)

    @cached_property
    def degree(self) -> int:
        """Ports a host needs: the largest in- or out-degree of any node."""
        return int(max(self.out_degrees.max(), self.in_degrees.max()))

    @cached_property
    def is_regular(self) -> bool:
        """Whether every node has ``degree`` links in and ``degree`` links out."""
        return bool(
            (self.out_degrees == self.degree).all() and (self.in_degrees == self.degree).all()
        )

    @cached_property
    def is_bidirectional(self) -> bool:
        """Whether every link has a partner of equal capacity the other way."""
        return self == self.transpose()

    @cached_property
    def has_parallel_links(self) -> bool:
        """Whether some ordered pair of nodes is joined by more than one link."""
        same = (np.diff(self.sources) == 0) & (np.diff(self.targets) == 0)
        return bool(same.any())

    def transpose(self) -> "Topology":
        """Return the topology with every link turned round; same nodes, name and recipe."""
        turned = Topology.__new__(Topology)
        turned.nodes, turned.switches = self.nodes, self.switches
        turned.multicast = self.multicast
        place = self.position
        turned.shared = shared_of(
            place,
            {(place[t], place[s]) for one in self.shared for s, t in one.links},
            [([(t, s) for s, t in one.links], one.capacity) for one in self.shared],
        )
        turned.name, turned.recipe = self.name, self.recipe
        turned.bandwidth_unit, turned.assumed = self.bandwidth_unit, self.assumed
        # A stable sort: parallel links keep their order, which is by capacity.
        order = np.lexsort((self.sources, self.targets))
        turned.sources = _frozen(self.targets[order])
        turned.targets = _frozen(self.sources[order])
        one_capacity = self.capacities.count(self.capacities[0]) if self.capacities else 0
        turned.capacities = (
            self.capacities
            if one_capacity == self.link_count
            else tuple(self.capacities[index] for index in order.tolist())
        )
        return turned

    def renamed(self, name: str) -> "Topology":
        """Return the same topology, of the same recipe, under another name."""
        return self._but(name=name)

    def with_recipe(self, recipe: "Term | None") -> "Topology":
        """Return the same topology with a recipe, or with none."""
        return self._but(recipe=recipe)

    def with_assumed(self, assumed: "Iterable[Assumption]") -> "Topology":
        """Return the same topology with what was assumed in making it."""
        return self._but(assumed=tuple(dict.fromkeys(assumed)))

    def _but(self, **changed: Any) -> "Topology":
        copy = Topology.__new__(Topology)
        copy.__dict__.update(self.__dict__ | changed)
        return copy

    @cached_property
    def digest(self) -> str:
        """Identity: ``sha256:`` of the canonical JSON without name, recipe and ``assumed``."""
        document = self.to_document()
        for member in ("name", "recipe", "assumed"):
            document.pop(member, None)
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def to_document(self) -> dict[str, Any]:
        """Return the topology/1 document (JSON types only).

        >>> from fractions import Fraction
        >>> half = Topology(["a", "s"], [("a", "s", Fraction(1, 2))], switches=["s"])
        >>> half.to_document()["links"]
        [{'source': 'a', 'target': 's', 'capacity': '1/2'}]
        """
        return {
            "schema": "topology/1",
            **self.labels(),
            "nodes": [
                {"id": node, "kind": "switch" if node in self.switches else "compute"}
                | ({"multicast": True} if node in self.multicast else {})
                for node in self.nodes
            ],
            "links": [
                {
                    "source": link.source,
                    "target": link.target,
                    "capacity": written(link.capacity),
                }
                for link in self.links
            ],
            **shared_members(self.shared),
            **assumed_members(self.assumed),
        }

    def labels(self) -> dict[str, str]:
        """Return ``name``, ``recipe`` if there is one, and ``bandwidth_unit``, as written.

        A name of more than `synth.naming.short_names.MAX_NAME` characters is cut, a recipe of more
        than `MAX_RECIPE` left out.

        >>> Topology([0, 1], [(0, 1)], name="pair").labels()
        {'name': 'pair', 'bandwidth_unit': 'link'}
        """
        recipe = "" if self.recipe is None else str(self.recipe)
        made = {"recipe": recipe} if 0 < len(recipe) <= MAX_RECIPE else {}
        return {"name": shortened(self.name), **made, "bandwidth_unit": self.bandwidth_unit}

    def to_networkx(self) -> "nx.MultiDiGraph[NodeId]":
        """Return a networkx multigraph; nodes carry ``kind``, links ``capacity``.

        The graph carries what `labels` says.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[NodeId] = nx.MultiDiGraph(None, None, **self.labels())
        for node in self.nodes:
            graph.add_node(node, kind="switch" if node in self.switches else "compute")
        for link in self.links:
            graph.add_edge(link.source, link.target, capacity=link.capacity)
        return graph

    def require_connected(self) -> None:
        """Raise unless every compute node can reach every other.

        Raises
        ------
        InvalidTopology
            There are fewer than two compute nodes.
        Unreachable
            Some compute node cannot reach another; both are named.
        """
        # A graph is read without kernels.
        from topoloom.synth.kernels.reachability import reached

        if len(self.compute_nodes) < 2:
            raise InvalidTopology("/nodes", "must hold at least two compute nodes")
        anchor = self.position[self.compute_nodes[0]]
        from_anchor = reached(self.node_count, self.sources, self.targets, anchor)
        to_anchor = reached(self.node_count, self.targets, self.sources, anchor)
        # Every pair is connected through the anchor if all reach it and it reaches all.
        for node in self.compute_nodes:
            if not from_anchor[self.position[node]]:
                raise Unreachable(
                    "/links", f"compute node {self.nodes[anchor]!r} must reach {node!r}"
                )
            if not to_anchor[self.position[node]]:
                raise Unreachable(
                    "/links", f"compute node {node!r} must reach {self.nodes[anchor]!r}"
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return (
            self.nodes == other.nodes
            and self.switches == other.switches
            and self.multicast == other.multicast
            and self.shared == other.shared
            and self.bandwidth_unit == other.bandwidth_unit
            and np.array_equal(self.sources, other.sources)
            and np.array_equal(self.targets, other.targets)
            and self.capacities == other.capacities
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        kinds = f"{len(self.compute_nodes)} compute"
        if self.switches:
            kinds += f", {len(self.switches)} switch"
        return f"<Topology {self.name or '(unnamed)'}: {kinds}, {self.link_count} links>"


def _frozen(values: Any) -> Positions:
    array = np.array(values, dtype=np.int32)
    array.setflags(write=False)
    return array
