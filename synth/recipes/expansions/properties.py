"""What is known of a topology before it is built."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties that the catalogue and the operators promise.

    ``vertex_transitive`` and ``arc_transitive`` (automorphisms take every link to every other)
    are True only where they are proved; the others are exact.
    ``out_degree`` and ``in_degree`` are the most links that leave and enter a node.
    """

    nodes: int
    out_degree: int
    in_degree: int
    bidirectional: bool
    parallel: bool
    regular: bool
    vertex_transitive: bool
    arc_transitive: bool = False

    def altered(self, nodes: int) -> "Traits":
        """Return the traits of a regular graph of so many nodes of the same degree and kind.

        Nothing is known of its symmetry, but that a ring stays one.
        """
        ring = self.degree == 1
        return replace(self, nodes=nodes, vertex_transitive=ring, arc_transitive=ring)

    @property
    def degree(self) -> int:
        """Ports of a host: the most links that leave or enter any node."""
        return max(self.out_degree, self.in_degree)
