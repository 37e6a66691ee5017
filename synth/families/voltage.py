"""Voltage graphs and their lifts: large regular digraphs from a small digraph and a group.

A voltage graph has vertices 0 .. n-1 and arcs, each with a group element, its voltage.  Its lift
has a node for every vertex s and element x, numbered s |group| + x; the arc from s to t of voltage
v becomes the links (s, x) -> (t, x v).  Left multiplication by an element is an automorphism, so
all nodes over one vertex are equivalent: a lift of one vertex, a Cayley digraph, is
vertex-transitive.  (Gross and Tucker, "Topological Graph Theory", chapter 2.)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.algebra.groups import Group, inverse

Arc = tuple[int, int, int]


@dataclass(frozen=True)
class VoltageGraph:
    """A digraph with voltages; equally many arcs leave every vertex.

    Attributes:
        group: Group of the voltages.
        vertices: n.
        heads, voltages: By arc; the first d arcs leave vertex 0, the next d vertex 1, and so on.

    >>> from topoloom.synth.algebra.group_extensions import Metacyclic
    >>> graph = VoltageGraph(Metacyclic(4, 1, 1), 1, (0, 0), (1, 2))
    >>> graph.nodes, graph.degree, graph.connected, graph.bidirectional
    (4, 2, True, False)
    """

    group: Group
    vertices: int
    heads: tuple[int, ...]
    voltages: tuple[int, ...]

    @property
    def nodes(self) -> int:
        """Nodes of the lift."""
        return self.vertices * self.group.order

    @property
    def degree(self) -> int:
        """Arcs that leave each vertex."""
        return len(self.heads) // self.vertices

    @cached_property
    def arcs(self) -> list[Arc]:
        """(tail, head, voltage) of every arc."""
        tails = (arc // self.degree for arc in range(len(self.heads)))
        return list(zip(tails, self.heads, self.voltages, strict=True))

    @property
    def loops(self) -> bool:
        """Whether a link of the lift joins a node to itself."""
        return any(tail == head and voltage == 0 for tail, head, voltage in self.arcs)

    @property
    def parallel(self) -> bool:
        """Whether two links of the lift have the same ends."""
        return len(set(self.arcs)) < len(self.arcs)

    @property
    def balanced(self) -> bool:
        """Whether equally many arcs enter and leave every vertex."""
        return np.bincount(self.heads, minlength=self.vertices).tolist() == (
            [self.degree] * self.vertices
        )

    @property
    def bidirectional(self) -> bool:
        """Whether every arc has its own partner of inverse voltage."""
        back = {voltage: inverse(self.group, voltage) for voltage in set(self.voltages)}
        turned = ((head, tail, back[voltage]) for tail, head, voltage in self.arcs)
        return sorted(turned) == sorted(self.arcs)

    @property
    def connected(self) -> bool:
        """Whether every node of the lift reaches every other; for balanced graphs."""
        # Imported here: recipes are parsed without kernels, whose import takes longer.
        from topoloom.synth.kernels.reachability import is_connected

        # Every weak component of a balanced digraph has an Euler circuit.
        return is_connected(self.nodes, *self.links())

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sources and the targets of all links of the lift, arc by arc.

        O(links).

        >>> from topoloom.synth.algebra.group_extensions import Metacyclic
        >>> VoltageGraph(Metacyclic(3, 1, 1), 1, (0,), (2,)).links()
        (array([0, 1, 2]), array([2, 0, 1]))
        """
        order = self.group.order
        moved = {voltage: self.group.right(voltage) for voltage in set(self.voltages)}
        sources = [tail * order + np.arange(order) for tail, _, _ in self.arcs]
        targets = [head * order + moved[voltage] for _, head, voltage in self.arcs]
        return np.concatenate(sources), np.concatenate(targets)
