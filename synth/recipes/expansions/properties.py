"""Properties of a topology that are known without construction."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties that the catalog and the operators guarantee.

    ``vertex_transitive`` and ``arc_transitive`` are True only where proven; the others are exact.
    ``out_degree`` and ``in_degree`` are the most links out of and into a node.
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
        """Return the traits of a regular graph of ``nodes`` nodes, same degree and kind of links.

        Nothing is known of its symmetry, except for rings.
        """
        ring = self.degree == 1
        return replace(self, nodes=nodes, vertex_transitive=ring, arc_transitive=ring)

    @property
    def degree(self) -> int:
        """Ports of a host: the most links out of or into any node."""
        return max(self.out_degree, self.in_degree)
