"""The graph type: compute nodes and switches joined by directed links.

Orientation is the same everywhere: a link runs from ``source`` to ``target``, data moves in this
direction, and pairs are written in this order.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.naming.short_names import shortened
from topoloom.synth.topology.assumptions import Assumption, assumed_members
from topoloom.synth.topology.document_members import link_members, node_members, shared_members
from topoloom.synth.topology.latencies import Pair, link_latencies
from topoloom.synth.topology.link_arrays import (
    Positions,
    read_only,
    require_ends,
    sorted_pairs,
    transposed,
)
from topoloom.synth.topology.notebook import graph_svg, html_table
from topoloom.synth.topology.validation import (
    Capacity,
    NodeId,
    Shared,
    link_row,
    node_positions,
    require_switches,
    shared_limits,
)

if TYPE_CHECKING:
    import networkx as nx

    from topoloom.synth.naming.terms import Term

MAX_RECIPE = 4096
"""Most characters of a recipe in a document; longer recipes are omitted."""


class Link(NamedTuple):
    """A directed link; ``capacity`` is in the topology's bandwidth unit."""

    source: NodeId
    target: NodeId
    capacity: Capacity = 1


class Topology:
    """A directed capacitated multigraph of compute nodes and switches; immutable.

    Args:
        nodes: Unique ids.  Their order is the rank order of the compute nodes.
        links (iterable of Link or (source, target[, capacity]) tuples): Parallel links are several
            entries.  Capacities are positive integers or Fractions.  No link joins a node to
            itself.
        switches: Nodes that only forward.
        multicast: Switches that can also copy incoming data to several links, and add up data from
            several links (NVLink SHARP).
        shared (iterable of (links, capacity)): Limits shared by several links, such as a PCIe
            switch or a network card of two GPUs: the traffic over the links, given as pairs, is at
            most ``capacity``.
        latencies (mapping of (source, target) to Fraction): Latency of the links of each joined
            pair, seconds; empty if the topology states none.  Not part of the identity: schedules
            and rates do not depend on latencies, only times do.
        name: For people; not part of the identity, and never parsed.
        recipe: Construction of the topology or of its transpose.  A hint: users of it verify it on
            the links.  Not part of the identity.
        bandwidth_unit: Unit of the capacities, such as ``"GB/s"``; ``"link"`` if capacities count
            links.
        assumed: Facts that the input file does not state.  Not part of the identity.

    *Position* of a node is its index in ``nodes``.  Links are sorted by (source position, target
    position, capacity), so topologies that differ only in the order of their links are equal and
    have the same digest.  ``latencies`` is in the order of ``links``.  The arrays ``sources`` and
    ``targets`` hold positions in the order of ``links``; ``capacities`` is parallel to them.  All
    arrays are read-only.

    Raises:
        InvalidTopology: An id is repeated, an end of a link is unknown, a link joins a node to
            itself, a capacity is not positive, or a multicast node is no switch.

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
        latencies: Mapping[Pair, int | Fraction] | None = None,
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
        position = node_positions(self.nodes)
        require_switches(self.nodes, self.switches, self.multicast)
        rows = [link_row(position, index, link) for index, link in enumerate(links)]
        rows.sort()
        self.sources: Positions = read_only([row[0] for row in rows])
        self.targets: Positions = read_only([row[1] for row in rows])
        self.capacities: tuple[Capacity, ...] = tuple(row[2] for row in rows)
        self.shared: tuple[Shared, ...] = shared_limits(position, {row[:2] for row in rows}, shared)
        joined = [(self.nodes[row[0]], self.nodes[row[1]]) for row in rows] if latencies else ()
        self.latencies: dict[Pair, Fraction] = link_latencies(joined, latencies or {})

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
        [0, node_count).  Fast for large graphs: O(links log links).

        >>> Topology.direct(2, np.array([1, 0]), np.array([0, 1])).links
        (Link(source=0, target=1, capacity=1), Link(source=1, target=0, capacity=1))
        """
        if node_count < 1:
            raise InvalidTopology("/nodes", "must not be empty")
        require_ends(node_count, sources, targets)
        topology = cls.__new__(cls)
        topology.nodes = tuple(range(node_count))
        topology.switches = topology.multicast = frozenset()
        topology.shared = ()
        topology.latencies = {}
        topology.name = name
        topology.recipe = recipe
        topology.bandwidth_unit = "link"
        topology.assumed = ()
        topology.sources, topology.targets = sorted_pairs(sources, targets, node_count)
        topology.capacities = (1,) * len(sources)
        return topology

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links, sorted; parallel links are adjacent."""
        return tuple(map(Link._make, self._rows()))

    def _rows(self) -> Iterator[tuple[NodeId, NodeId, Capacity]]:
        nodes = self.nodes
        rows = zip(self.sources.tolist(), self.targets.tolist(), self.capacities, strict=True)
        return ((nodes[source], nodes[target], capacity) for source, target, capacity in rows)

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
        """Number of links, parallel links included."""
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
        """Ports of a host: the largest in- or out-degree of any node."""
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
        bare = self._replace(latencies={})
        return bare == bare.transpose()

    @cached_property
    def has_parallel_links(self) -> bool:
        """Whether an ordered pair of nodes is joined by more than one link."""
        same = (np.diff(self.sources) == 0) & (np.diff(self.targets) == 0)
        return bool(same.any())

    @property
    def has_equal_capacities(self) -> bool:
        """Whether all links have one capacity."""
        return not self.capacities or self.capacities.count(self.capacities[0]) == self.link_count

    def transpose(self) -> "Topology":
        """Return the topology with every link reversed; same nodes, name and recipe."""
        turned = Topology.__new__(Topology)
        turned.nodes, turned.switches = self.nodes, self.switches
        turned.multicast = self.multicast
        turned.shared = self._turned_limits() if self.shared else ()
        turned.latencies = {(t, s): latency for (s, t), latency in self.latencies.items()}
        turned.name, turned.recipe = self.name, self.recipe
        turned.bandwidth_unit, turned.assumed = self.bandwidth_unit, self.assumed
        turned.sources, turned.targets, turned.capacities = transposed(
            self.sources, self.targets, self.capacities, self.node_count
        )
        return turned

    def _turned_limits(self) -> tuple[Shared, ...]:
        """Return the shared limits of the reversed links."""
        place = self.position
        return shared_limits(
            place,
            {(place[t], place[s]) for one in self.shared for s, t in one.links},
            [([(t, s) for s, t in one.links], one.capacity) for one in self.shared],
        )

    def renamed(self, name: str) -> "Topology":
        """Return the same topology, with the same recipe, under another name."""
        return self._replace(name=name)

    def with_recipe(self, recipe: "Term | None") -> "Topology":
        """Return the same topology with a recipe, or with none."""
        return self._replace(recipe=recipe)

    def with_latencies(self, latencies: Mapping[Pair, int | Fraction]) -> "Topology":
        """Return the same topology with other latencies of its links, or with none.

        >>> Topology("ab", ["ab"]).with_latencies({("a", "b"): Fraction(1, 10**6)}).latencies
        {('a', 'b'): Fraction(1, 1000000)}
        """
        joined = [link[:2] for link in self.links]
        return self._replace(latencies=link_latencies(joined, latencies))

    def with_assumed(self, assumed: "Iterable[Assumption]") -> "Topology":
        """Return the same topology with other assumptions."""
        return self._replace(assumed=tuple(dict.fromkeys(assumed)))

    def _replace(self, **changed: Any) -> "Topology":
        copy = Topology.__new__(Topology)
        copy.__dict__.update(self.__dict__ | changed)
        return copy

    @cached_property
    def digest(self) -> str:
        """Identity: ``sha256:`` of the canonical JSON of the nodes, links and limits alone."""
        bare = self._replace(latencies={}) if self.latencies else self
        document = bare.to_document()
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
            "nodes": node_members(self.nodes, self.switches, self.multicast),
            "links": link_members(self._rows(), self.latencies),
            **shared_members(self.shared),
            **assumed_members(self.assumed),
        }

    def labels(self) -> dict[str, str]:
        """Return ``name``, ``bandwidth_unit``, and ``recipe`` if present, as in documents.

        Truncates names above `synth.naming.short_names.MAX_NAME` characters and omits recipes
        above `MAX_RECIPE`.

        >>> Topology([0, 1], [(0, 1)], name="pair").labels()
        {'name': 'pair', 'bandwidth_unit': 'link'}
        """
        recipe = "" if self.recipe is None else str(self.recipe)
        made = {"recipe": recipe} if 0 < len(recipe) <= MAX_RECIPE else {}
        return {"name": shortened(self.name), **made, "bandwidth_unit": self.bandwidth_unit}

    def to_networkx(self) -> "nx.MultiDiGraph[NodeId]":
        """Return a networkx multigraph; nodes have ``kind``, links ``capacity``.

        Graph attributes are those of `labels`.
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

        Raises:
            InvalidTopology: There are fewer than two compute nodes.
            Unreachable: Some compute node cannot reach another; both are named.
        """
        # Imported here: graphs are read without kernels.
        from topoloom.synth.kernels.reachability import reachable_mask

        if len(self.compute_nodes) < 2:
            raise InvalidTopology("/nodes", "must hold at least two compute nodes")
        anchor = self.position[self.compute_nodes[0]]
        from_anchor = reachable_mask(self.node_count, self.sources, self.targets, anchor)
        to_anchor = reachable_mask(self.node_count, self.targets, self.sources, anchor)
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
            and self.latencies == other.latencies
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

    def _repr_svg_(self) -> str | None:
        """Return the drawing for notebooks; None for a large topology."""
        links = list(zip(self.sources.tolist(), self.targets.tolist(), strict=True))
        return graph_svg(self.nodes, links, self.switches)

    def _repr_html_(self) -> str:
        """Return facts for notebooks, with the drawing of a small topology."""
        facts = (
            ("hosts", len(self.compute_nodes)),
            ("switches", len(self.switches)),
            ("links", self.link_count),
            ("recipe", self.recipe or "none"),
        )
        caption = f"Topology {self.name or '(unnamed)'}"
        return html_table(caption, ("fact", "value"), facts) + (self._repr_svg_() or "")
