"""`Base`, a member of a family of the catalog, and `Graph`, which holds any graph.

A member computes its properties from its fields; only ``links`` constructs anything.  Nodes are
0..n-1 and a link runs from source to target.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.evaluation.cost import Claim
from topoloom.synth.families.delta_encoding import link_ends, link_gaps
from topoloom.synth.limits import MAX_NODES, require_size
from topoloom.synth.naming.terms import Term, require, require_integer
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    import networkx as nx

Arguments: TypeAlias = tuple[int, ...]
Ends: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class Base(Term):
    """A member of a family of base topologies; each subclass is a family.

    A family annotates its fields, all integers (the last may be ``tuple[int, ...]`` and takes the
    rest); a member is written and constructed as ``Circulant(16, 3, 4)``.  The constructor raises
    `OutOfDomain` with the field and its rule outside the domain or the limits of `synth.limits`,
    so every existing member can be built.

    Attributes:
        title, source: Of the family: one line of description, and the literature.

    >>> from topoloom.synth.families import Circulant
    >>> member = Circulant(16, 3, 4)
    >>> member, member.n, member.offsets, member.nodes, member.degree
    (Circulant(16, 3, 4), 16, (3, 4), 16, 4)
    >>> Circulant(16, 3, 9)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: offsets: must be from 1 to n / 2
    """

    title: ClassVar[str]
    source: ClassVar[str]

    def __init__(self, *arguments: int) -> None:
        super().__init__(*arguments)
        require_size(*self.size())

    def _check_argument(self, name: str, value: object) -> None:
        require_integer(name, value)

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Return (nodes, degree); numbers above the limits may be capped during construction."""
        raise NotImplementedError

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.size()[0]

    @property
    def degree(self) -> int:
        """Ports of a host: the most links out of or into any node."""
        return self.size()[1]

    @abstractmethod
    def links(self) -> Ends:
        """Return the sources and the targets of all links, two arrays of node numbers."""
        raise NotImplementedError

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield members of exactly this size, without construction of graphs."""
        yield from ()

    @classmethod
    def proved(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield members of exactly this size with proven costs in both directions."""
        for member in cls.matching(nodes, degree):
            if member.claim() and member.claim_transpose():
                yield member

    @staticmethod
    def of(graph: "Topology | nx.Graph[Any]") -> "Graph":
        """Return any graph of compute nodes and links of equal capacity as a base; see `Graph`.

        Args:
            graph: A topology without switches whose links have one capacity; or a Graph, DiGraph,
                MultiGraph or MultiDiGraph, whose undirected edges become two-way links.  From 2 to
                `synth.limits.MAX_NODES` nodes, any ids; node number i is the i-th node of
                ``graph.nodes``.  Attributes other than capacities and kinds are ignored.

        Raises:
            InvalidTopology: There is a switch, a link from a node to itself or no link, or
                capacities differ.
            OutOfDomain: The graph exceeds the limits.

        O(links log links).

        >>> import networkx as nx
        >>> Base.of(nx.path_graph(["a", "b", "c"]))
        Graph(3, 1, 2, 2, 2)
        """
        return Graph(*link_gaps(graph))

    def degrees(self) -> tuple[int, int]:
        """Return the most links out of a node and the most links into a node."""
        return self.degree, self.degree

    def bidirectional(self) -> bool:
        """Return whether every link has a partner the other way."""
        return False

    def parallel(self) -> bool:
        """Return whether two links have the same source and target."""
        return False

    def regular(self) -> bool:
        """Return whether every node has ``degree`` links out and in."""
        return True

    def vertex_transitive(self) -> bool:
        """Return True only if the member is proven vertex-transitive."""
        return False

    def arc_transitive(self) -> bool:
        """Return True only if the member is proven arc-transitive."""
        return False

    def representatives(self) -> Sequence[int] | None:
        """Return nodes that represent all orbits of automorphisms, or None if unknown."""
        return (0,) if self.vertex_transitive() else None

    def semiregular_group(self) -> NDArray[np.int64] | None:
        """Return automorphisms without fixed nodes (`symmetry.semiregular_groups`), or None."""
        return None

    def claim(self) -> Claim | None:
        """Return the proven cost on the graph, or None: it must be measured."""
        return None

    def claim_transpose(self) -> Claim | None:
        """Return the proven cost on the transposed graph, or None.

        By default members are isomorphic to their transposes.
        """
        return self.claim()


class Graph(Base):
    """Graph(n, g, ...): any graph, delta-encoded; constructed by `Base.of`.

    The link from s to t has the key s n + t.  The keys are sorted; the first argument after n is
    the first key, and each other argument is the difference to the previous key, 0 for a parallel
    link.  So ``Graph(3, 1, 4, 1)`` has the keys 1, 5, 6: the ring 0 -> 1 -> 2 -> 0.

    The text holds the whole graph, and ``parse(str(g)) == g`` within the limit of recipes: 4,096
    characters are about 1,000 links of 200 hosts.  ``str`` also returns longer texts, which
    `synth.recipes.recipe.parse` refuses; pass larger graphs by name, as
    ``parse("LineGraph(2, @my)", {"my": graph})``.

    Nodes may differ in degree; cost and symmetry have no claims.  Operators that need a regular
    graph refuse other graphs.
    """

    n: int
    gaps: tuple[int, ...]
    title = "any graph: sorted keys s n + t of its links s -> t, each minus the previous key"
    source = "made from a given graph by Base.of"

    def check_domain(self) -> None:
        """Require two nodes, a link, no link from a node to itself, and all ends below n."""
        require(2 <= self.n <= MAX_NODES, "n", f"must be from 2 to {MAX_NODES}")
        require(bool(self.gaps), "gaps", "must be at least one")
        require(sum(self.gaps) < self.n**2, "gaps", "must add up to less than n n")
        sources, targets = self._ends
        require(not (sources == targets).any(), "gaps", "must make no link from a node to itself")

    @cached_property
    def _ends(self) -> Ends:
        return link_ends(self.n, self.gaps)

    def size(self) -> tuple[int, int]:
        """Return n nodes and the most links into or out of a node."""
        return self.n, max(self.degrees())

    def degrees(self) -> tuple[int, int]:
        """Return the counted maximum degrees, which may differ."""
        most_out, most_in = (int(np.bincount(ends).max()) for ends in self._ends)
        return most_out, most_in

    def links(self) -> Ends:
        """Return the links sorted by source, then by target."""
        sources, targets = self._ends
        return sources.copy(), targets.copy()

    def bidirectional(self) -> bool:
        """Return whether every link has its own partner the other way."""
        sources, targets = self._ends
        return np.array_equal(np.sort(targets * self.n + sources), sources * self.n + targets)

    def parallel(self) -> bool:
        """Return whether a gap other than the first is 0, that is, two keys are equal."""
        return 0 in self.gaps[1:]

    def regular(self) -> bool:
        """Return whether all nodes have equally many links out, and as many in."""
        return all(
            bool((np.bincount(ends, minlength=self.n) == self.degree).all()) for ends in self._ends
        )


def always(self: Any) -> bool:
    """Return True: the method of a family whose members all have a property.

    The assignment in the class names the property, and a comment beside it the proof.
    """
    return True


def at_least(**least: int) -> Any:
    """Return a method ``check_domain`` that requires the least value of each named field.

    >>> class Path(Base):
    ...     n: int
    ...     check_domain = at_least(n=2)
    ...     def size(self): return self.n, 1
    ...     def links(self): return np.arange(self.n - 1), np.arange(1, self.n)
    >>> Path(1)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: n: must be at least 2
    """

    def check_domain(self: Base) -> None:
        for field, value in least.items():
            require(getattr(self, field) >= value, field, f"must be at least {value}")

    return check_domain


def two_way(sources: NDArray[Any], targets: NDArray[Any]) -> Ends:
    """Return the given links followed by their partners the other way."""
    return np.concatenate([sources, targets]), np.concatenate([targets, sources])


def cliques(groups: NDArray[np.int64]) -> Ends:
    """Return the links both ways between all nodes of every row.

    >>> [ends.tolist() for ends in cliques(np.array([[0, 1], [1, 2]]))]
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    size = groups.shape[1]
    sources, targets = np.repeat(groups, size, axis=1), np.tile(groups, size)
    different = sources != targets
    return sources[different], targets[different]


def join(parts: Iterable[Ends]) -> Ends:
    """Return the links of all parts, concatenated."""
    listed = list(parts)
    return (
        np.concatenate([sources for sources, _ in listed]),
        np.concatenate([targets for _, targets in listed]),
    )
