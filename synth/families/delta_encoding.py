"""Delta encoding of a graph: the differences of the sorted keys of its links.

The key of a link from node s to node t of n is s n + t.  Sorted keys are close together, so their
differences are short: 2 to 4 digits on graphs of a few hundred nodes.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    import networkx as nx


def link_gaps(graph: "Topology | nx.Graph[Any]") -> tuple[int, ...]:
    """Return n and the gaps of a topology or a networkx graph; domain as `Base.of`.

    >>> link_gaps(Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")]))
    (3, 1, 4, 1)
    """
    count, pairs = _of_topology(graph) if isinstance(graph, Topology) else _of_networkx(graph)
    if not pairs:
        raise InvalidTopology("/links", "a base must have at least one link")
    keys = sorted(source * count + target for source, target in pairs)
    return count, keys[0], *(high - low for low, high in pairwise(keys))


def link_ends(count: int, gaps: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sources and targets of the links, sorted; the sum of the gaps is below 2**63.

    >>> link_ends(3, (1, 4, 1))
    (array([0, 1, 2]), array([1, 2, 0]))
    """
    keys = np.fromiter(accumulate(gaps), np.int64, len(gaps))
    return keys // count, keys % count


Pairs = list[tuple[int, int]]


def _of_topology(graph: Topology) -> tuple[int, Pairs]:
    if graph.switches:
        named = min(graph.switches, key=str)
        raise InvalidTopology("/nodes", f"a base must have no switch; {named!r} is one")
    _require_alike(graph.capacities)
    return graph.node_count, list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


def _of_networkx(graph: "nx.Graph[Any]") -> tuple[int, Pairs]:
    if not (hasattr(graph, "is_directed") and hasattr(graph, "edges")):
        given = type(graph).__name__
        raise InvalidTopology("/", f"must be a Topology or a networkx graph, not {given}")
    position: dict[Any, int] = {}
    for index, (node, data) in enumerate(graph.nodes(data=True)):
        if data.get("kind", "compute") != "compute":
            raise InvalidTopology("/nodes", f"a base must have no switch; {node!r} is one")
        position[node] = index
    _require_alike(data.get("capacity", 1) for _, _, data in graph.edges(data=True))
    pairs = [(position[source], position[target]) for source, target in graph.edges()]
    for source, target in pairs:
        if source == target:
            named = next(node for node, index in position.items() if index == source)
            raise InvalidTopology("/links", f"must join two different nodes; both are {named!r}")
    if not graph.is_directed():
        pairs += [(target, source) for source, target in pairs]
    return len(position), pairs


def _require_alike(capacities: Iterable[Any]) -> None:
    """Raise unless all links have one capacity: a base counts links without weights."""
    first, *others = dict.fromkeys(capacities) or [1]
    if others:
        raise InvalidTopology(
            "/links", f"all links of a base must have one capacity, not {first} and {others[0]}"
        )
