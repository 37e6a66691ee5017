"""The all-to-all problem: every compute node sends one unit to every other over arcs.

An *arc* is all parallel links from one node to another; their capacities add.  A semiregular
group of automorphisms (`synth.symmetry.semiregular_groups`) divides the nodes and the arcs into
orbits of equal size.  The average of any routing over the group loads all arcs of an orbit
equally.  One source of each orbit and one load for each orbit of arcs are therefore exact.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

_MAX_CAPACITY = 2**40

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AllToAllDemand:
    """One source of each orbit sends a unit to every other compute node.

    Attributes:
        tail, head (array of int64, by arc): Positions; arcs are sorted by (tail, head).
        orbit (array of int64, by arc): Orbit of each arc.
        capacity (array of int64, by orbit): Capacity of each arc of the orbit, times ``scale``.
        scale: ``capacity / scale`` is in the topology's bandwidth unit.
        wants (array of bool, by position): Whether this node receives a unit from each source: true
            for compute nodes.
        sources: One compute node of each orbit.
        images (array of int64, (order, nodes)): The group.
    """

    tail: Integers
    head: Integers
    orbit: Integers
    capacity: Integers
    scale: Fraction
    wants: NDArray[np.bool_]
    sources: Integers
    images: Integers

    @property
    def nodes(self) -> int:
        """Number of positions, including switches."""
        return len(self.wants)

    @property
    def receivers(self) -> int:
        """Destinations of each source: N - 1."""
        return int(self.wants.sum()) - 1

    def rate(self, load: int, unit: int, orbit: int) -> Fraction:
        """Return the time of ``load / unit`` on each arc of an orbit, per unit of data."""
        return Fraction(load, unit) / int(self.capacity[orbit]) * self.scale

    def most_loaded(self, loads: Integers, unit: int) -> Fraction:
        """Return the largest rate; ``loads`` is by orbit, in 1 / unit.

        O(orbits); only the largest load of each capacity becomes a fraction.
        """
        found = Fraction(0)
        for capacity in np.unique(self.capacity).tolist():
            at = np.flatnonzero(self.capacity == capacity)
            peak = int(at[np.argmax(loads[at])])
            found = max(found, self.rate(int(loads[peak]), unit, peak))
        return found


def all_to_all_demand(topology: Topology) -> AllToAllDemand:
    """Return the problem on a topology, reduced by its known symmetry.

    Raises:
        Unreachable, InvalidTopology: The topology is not strongly connected, or has fewer than two
            compute nodes.
        TooLarge: The capacities have too large a common denominator.

    >>> ring = all_to_all_demand(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    >>> ring.sources.tolist(), ring.orbit.tolist(), ring.receivers
    ([0], [0, 0, 0, 0], 3)
    """
    topology.require_connected()
    nodes = topology.node_count
    images = semiregular_group(topology)
    keys = topology.sources.astype(np.int64) * nodes + topology.targets
    arcs, arc_of_link = np.unique(keys, return_inverse=True)
    tail, head = arcs // nodes, arcs % nodes
    orbit = _orbits(np.searchsorted(arcs, images[:, tail] * nodes + images[:, head]))
    wants = np.array([node not in topology.switches for node in topology.nodes])
    lowest = images.min(axis=0)
    capacity, scale = _capacities(topology, arc_of_link, orbit)
    return AllToAllDemand(
        tail,
        head,
        orbit,
        capacity,
        scale,
        wants,
        np.flatnonzero((lowest == np.arange(nodes)) & wants),
        images,
    )


def _orbits(moved: Integers) -> Integers:
    """Return the orbit of every arc, from the images of the arcs under each group element."""
    return np.unique(moved.min(axis=0), return_inverse=True)[1]


def _capacities(
    topology: Topology, arc_of_link: Integers, orbit: Integers
) -> tuple[Integers, Fraction]:
    if len(set(topology.capacities)) == 1:
        one = np.bincount(arc_of_link, minlength=len(orbit))
        scale = 1 / Fraction(topology.capacities[0])
    else:
        exact = [Fraction(capacity) for capacity in topology.capacities]
        scale = Fraction(lcm(*(capacity.denominator for capacity in set(exact))))
        if sum(exact) * scale > _MAX_CAPACITY:
            raise TooLarge("/links", "the capacities have too large a common denominator")
        one = np.zeros(len(orbit), np.int64)
        np.add.at(one, arc_of_link, [int(capacity * scale) for capacity in exact])
    by_orbit = np.zeros(int(orbit.max()) + 1, np.int64)
    by_orbit[orbit] = one
    return by_orbit, scale
