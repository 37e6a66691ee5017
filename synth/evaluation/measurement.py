"""Costs of a topology in both directions, with the bounds of its size."""

from dataclasses import dataclass

from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class Measurement:
    """Exact costs of the breadth-first-broadcast allgather.

    ``transpose`` is the cost on the transposed graph, which equals that of the reduce-scatter.
    ``bounds`` are lower bounds for the numbers of nodes and ports and the kind of links.
    """

    nodes: int
    degree: int
    links: Links
    cost: Cost
    transpose: Cost
    bounds: Cost


def measurement(topology: Topology) -> Measurement:
    """Return the costs of a topology; domain and errors as `synth.evaluation.measure.measure_both`.

    >>> ring = measurement(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    >>> ring.cost, ring.links
    (Cost(steps=2, bandwidth=Fraction(2, 3)), <Links.UNIDIRECTIONAL: 'unidirectional'>)
    """
    cost, transpose = measure_both(topology)
    nodes, degree, links = topology.node_count, topology.degree, links_of(topology)
    return Measurement(nodes, degree, links, cost, transpose, lower_bound(nodes, degree, links))


def links_of(topology: Topology) -> Links:
    """Return the kind of links: two-way if every link has a partner.

    >>> links_of(Topology(range(2), [(0, 1), (1, 0)]))
    <Links.BIDIRECTIONAL: 'bidirectional'>
    """
    return Links.BIDIRECTIONAL if topology.is_bidirectional else Links.UNIDIRECTIONAL
