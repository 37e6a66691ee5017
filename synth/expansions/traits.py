"""What is known of a topology before it is built."""

from dataclasses import dataclass

__all__ = ["Traits"]


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties that the catalogue and the operators promise.

    ``vertex_transitive`` is True only where it is proved; the others are exact.
    """

    nodes: int
    degree: int
    bidirectional: bool
    parallel: bool
    regular: bool
    vertex_transitive: bool
