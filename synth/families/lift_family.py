"""Common base of all families of lifts of voltage graphs."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.algebra.groups import Group
from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Claim
from topoloom.synth.families.family import Arguments, Base, Ends, require
from topoloom.synth.families.voltage import VoltageGraph
from topoloom.synth.limits import MAX_NODES, capped_product


class LiftFamily(Base):
    """A family whose fields describe a voltage graph."""

    @abstractmethod
    def graph(self) -> VoltageGraph:
        """Return the voltage graph; raise `OutOfDomain` for a bad group or bad counts."""
        raise NotImplementedError

    def check_domain(self) -> None:
        """Require a valid group and a connected regular lift without loops."""
        broken = _broken_rule(self)
        if broken:
            raise OutOfDomain(*broken)

    @cached_property
    def _graph(self) -> VoltageGraph:
        return self.graph()

    def size(self) -> tuple[int, int]:
        """Return vertices times the order of the group, and the arcs out of a vertex."""
        graph = self._graph
        return graph.nodes, graph.degree

    def links(self) -> Ends:
        """Return the links arc by arc, see `VoltageGraph.links`."""
        return self._graph.links()

    def bidirectional(self) -> bool:
        """Return whether every arc has a partner of inverse voltage."""
        return self._graph.bidirectional

    def parallel(self) -> bool:
        """Return whether two arcs with the same ends have the same voltage."""
        return self._graph.parallel

    def vertex_transitive(self) -> bool:
        """Return whether there is one vertex: left multiplication is then transitive."""
        return self._graph.vertices == 1

    def representatives(self) -> Sequence[int]:
        """Return one node over each vertex; the group is transitive on the others over it."""
        graph = self._graph
        return range(0, graph.nodes, graph.group.order)

    def semiregular_group(self) -> NDArray[np.int64]:
        """Return the left multiplications: element g maps (s, x) to (s, g x)."""
        graph = self._graph
        order = graph.group.order
        left = np.stack([graph.group.right(x) for x in range(order)], axis=1)
        over = np.arange(graph.vertices) * order
        return (over[None, :, None] + left[:, None, :]).reshape(order, graph.nodes)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the members of the atlas."""
        for entry in bundled_of(nodes, degree).of_size(nodes, degree):
            if entry.family == cls.__name__:
                yield cls(*entry.arguments)

    def claim(self) -> Claim | None:
        """Return the measured cost of the member, if it is in the atlas."""
        entry = bundled_of(*self.size()).entry(str(self))
        return entry and Claim(entry.cost.steps, entry.cost.bandwidth, exact=True)

    def claim_transpose(self) -> Claim | None:
        """Return the measured cost of the transpose, if the member is in the atlas."""
        entry = bundled_of(*self.size()).entry(str(self))
        return entry and Claim(entry.transpose.steps, entry.transpose.bandwidth, exact=True)


@lru_cache(maxsize=4096)
def _broken_rule(member: LiftFamily) -> tuple[str, str] | None:
    """Return the field and the rule that a member violates, or None."""
    try:
        graph = member._graph
        rules = (
            ("loops", not graph.loops, "must make no link from a node to itself"),
            ("heads", graph.balanced, "must enter every vertex as often as leave it"),
            ("generators", graph.connected, "must connect all nodes"),
        )
        for field, holds, rule in rules:
            require(holds, field, rule)
    except OutOfDomain as refused:
        return refused.field, refused.rule
    return None


def require_elements(field: str, elements: Arguments, group: Group) -> None:
    """Raise `OutOfDomain` for an empty list or for numbers that are no elements of a group."""
    require(bool(elements), field, "must be at least one")
    require(
        all(0 <= element < group.order for element in elements),
        field,
        f"must be elements 0 to {group.order - 1} of the group",
    )


def require_small(*factors: int) -> None:
    """Raise `OutOfDomain` above the limits, before any memory of this size is allocated."""
    for factor in factors:
        require(factor >= 1, "order", "must be a product of positive factors")
    require(capped_product(*factors) <= MAX_NODES, "order", f"must be at most {MAX_NODES}")
