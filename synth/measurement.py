"""What a topology costs both ways, beside the bounds of its size."""

from dataclasses import dataclass

from synth.cost import Cost, Links, lower_bound
from synth.measure import measure_both
from synth.topology import Topology

__all__ = ["Measurement", "links_of", "measurement"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Exact costs of the breadth-first-broadcast allgather.

    ``transpose`` is the cost on the transposed graph, which is that of the reduce-scatter;
    ``bounds`` is what no topology of so many nodes, ports and such links can undercut.
    """

    nodes: int
    degree: int
    links: Links
    cost: Cost
    transpose: Cost
    bounds: Cost


def measurement(topology: Topology) -> Measurement:
    """Return what a topology costs; see `synth.measure.measure_both` for domain and errors.

    >>> ring = measurement(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    >>> ring.cost, ring.links
    (Cost(steps=2, bandwidth=Fraction(2, 3)), <Links.UNIDIRECTIONAL: 'unidirectional'>)
    """
    cost, transpose = measure_both(topology)
    nodes, degree, links = topology.node_count, topology.degree, links_of(topology)
    return Measurement(nodes, degree, links, cost, transpose, lower_bound(nodes, degree, links))


def links_of(topology: Topology) -> Links:
    """Return whether every link has a partner the other way.

    >>> links_of(Topology(range(2), [(0, 1), (1, 0)]))
    <Links.BIDIRECTIONAL: 'bidirectional'>
    """
    return Links.BIDIRECTIONAL if topology.is_bidirectional else Links.UNIDIRECTIONAL
