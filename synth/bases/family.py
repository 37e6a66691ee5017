"""What a family of the catalogue is, and the helpers that all families share.

A family answers every question about a member from its arguments alone; only ``links``
builds anything.  Nodes are 0..n-1 and a link runs from source to target.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from synth.cost import Claim
from synth.errors import OutOfDomain
from synth.recipe import Base

__all__ = ["Arguments", "Ends", "Family", "cliques", "join", "require", "two_way"]

Arguments: TypeAlias = tuple[int, ...]
Ends: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class Family(Protocol):
    """One family of base topologies.

    Attributes
    ----------
    name : str
        As written in recipes.
    parameters : tuple of str
        Names of the arguments.  One that ends in ``?`` may be left out; one that ends
        in ``*`` may be left out or repeated.
    title, source : str
        One line for people, and where the family comes from.

    Notes
    -----
    Every method but ``check`` and ``matching`` may assume arguments that ``check``
    has passed; ``links``, ``bidirectional``, ``parallel`` and ``regular`` may also
    assume a size within `synth.limits`.
    """

    name: str
    parameters: tuple[str, ...]
    title: str
    source: str

    @abstractmethod
    def check_domain(self, arguments: Arguments) -> None:
        """Raise `OutOfDomain` unless the family is defined here; counts are right."""

    @abstractmethod
    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Return (nodes, degree); beyond the limits the numbers may be cut down."""
        raise NotImplementedError

    @abstractmethod
    def links(self, arguments: Arguments) -> Ends:
        """Return the sources and the targets of all links."""
        raise NotImplementedError

    @abstractmethod
    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield members of exactly this size; nothing is built."""
        raise NotImplementedError

    def proved(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield the members of exactly this size whose costs are claimed, both ways."""
        for base in self.matching(nodes, degree):
            if self.claim(base.arguments) and self.claim_transpose(base.arguments):
                yield base

    def check(self, arguments: Arguments) -> None:
        """Raise `OutOfDomain`, naming the parameter and its rule, for bad arguments."""
        _check_count(self, arguments)
        names = _argument_names(self.parameters, len(arguments))
        for name, value in zip(names, arguments, strict=True):
            require(
                isinstance(value, int) and not isinstance(value, bool), name, "must be an integer"
            )
        self.check_domain(arguments)

    def bidirectional(self, arguments: Arguments) -> bool:
        """Return whether every link has a partner the other way."""
        return False

    def parallel(self, arguments: Arguments) -> bool:
        """Return whether some two links have the same source and target."""
        return False

    def regular(self, arguments: Arguments) -> bool:
        """Return whether every node has ``degree`` links out and as many in."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Return True only where a proof is at hand that all nodes look alike."""
        return False

    def representatives(self, arguments: Arguments) -> Sequence[int] | None:
        """Return nodes to one of which an automorphism takes any node, or None: unknown."""
        return (0,) if self.vertex_transitive(arguments) else None

    def translations(self, arguments: Arguments) -> NDArray[np.int64] | None:
        """Return automorphisms that move all nodes, see `synth.translations`, or None: unknown."""
        return None

    def claim(self, arguments: Arguments) -> Claim | None:
        """Return what is proved of the cost on the graph, or None."""
        return None

    def claim_transpose(self, arguments: Arguments) -> Claim | None:
        """Return what is proved of the cost on the transposed graph, or None.

        Unless a family says otherwise its members are isomorphic to their transposes.
        """
        return self.claim(arguments)


def require(condition: bool, field: str, rule: str) -> None:
    """Raise `OutOfDomain` with this parameter and rule unless the condition holds."""
    if not condition:
        raise OutOfDomain(field, rule)


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
    """Return the links of all parts together."""
    listed = list(parts)
    return (
        np.concatenate([sources for sources, _ in listed]),
        np.concatenate([targets for _, targets in listed]),
    )


def _argument_names(parameters: Sequence[str], count: int) -> list[str]:
    names = [name.rstrip("?*") for name in parameters]
    return names[:count] + [names[-1]] * (count - len(names)) if names else []


def _check_count(family: Family, arguments: Arguments) -> None:
    if not isinstance(arguments, tuple):
        raise OutOfDomain("arguments", "must be a tuple of integers")
    least = sum(1 for name in family.parameters if name[-1] not in "?*")
    unlimited = any(name.endswith("*") for name in family.parameters)
    if len(arguments) < least or (len(arguments) > len(family.parameters) and not unlimited):
        shown = ", ".join(family.parameters)
        raise OutOfDomain(
            "arguments", f"must fit {family.name}({shown}), not {len(arguments)} given"
        )
