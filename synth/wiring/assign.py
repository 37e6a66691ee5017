"""Gives every link of a topology its pair of panel ports, and checks such wirings."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from synth.topology import Topology
from synth.wiring.colouring import edge_colours
from synth.wiring.panels import Layout, Panels, Wiring

__all__ = ["assign_ports", "violations", "wire_colours"]

Integers = NDArray[np.int64]


def assign_ports(topology: Topology, panels: Panels) -> Wiring:
    """Return a wiring of the topology on the panels.

    It exists whenever there are hosts and lanes enough: on one panel because any
    partial permutation can be plugged, on one panel per lane because a bipartite
    multigraph of maximum degree d has an edge colouring with d colours (König).

    Parameters
    ----------
    topology : Topology
        No switches; regular or not, parallel links welcome.  Every link takes one
        pair whatever its capacity.
    panels : Panels

    Returns
    -------
    Wiring
        Its ``classes`` are the certificate; `violations` checks it.

    Raises
    ------
    DoesNotFit
        The topology has switches, too many nodes or too large a degree.

    References
    ----------
    .. [1] D. König, "Über Graphen und ihre Anwendung auf Determinantentheorie und
       Mengenlehre", Mathematische Annalen 77 (1916).

    Examples
    --------
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0), (0, 2)])
    >>> sorted(assign_ports(ring, Panels.of(ring)).classes)
    [(0, 2, 3), (1,)]
    """
    panels.require_room(topology)
    sources = topology.sources.astype(np.int64)
    targets = topology.targets.astype(np.int64)
    if panels.layout is Layout.PER_PORT:
        return wire_colours(topology, panels, edge_colours(panels.hosts, sources, targets))
    a = sources * panels.lanes + _rank_among_equals(sources)
    b = targets * panels.lanes + _rank_among_equals(targets)
    return Wiring(panels, np.zeros(len(a), dtype=np.int64), a, b)


def wire_colours(topology: Topology, panels: Panels, colours: Integers) -> Wiring:
    """Return the wiring that puts every link on the panel numbered by its colour."""
    return Wiring(
        panels, colours, topology.sources.astype(np.int64), topology.targets.astype(np.int64)
    )


def _rank_among_equals(values: Integers) -> Integers:
    """Return for every entry how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return ranks


def violations(wiring: Wiring, topology: Topology) -> list[str]:
    """Return what is wrong with a wiring of a topology, in words; empty if nothing.

    Independent of how the wiring was made: it reads the pairs one by one.

    >>> ring = Topology(range(2), [(0, 1), (1, 0)])
    >>> swapped = Wiring(Panels.of(ring), np.array([0, 0]), np.array([1, 0]), np.array([0, 1]))
    >>> violations(swapped, ring)[0]
    'link 0 runs from 0 to 1, its pair 1A-0B of panel-0 from host 1 to host 0'
    """
    panels, pairs = wiring.panels, wiring.pairs
    if len(pairs) != topology.link_count:
        return [f"{topology.link_count} links have {len(pairs)} pairs"]
    wrong: list[str] = []
    used: Counter[tuple[int, str, int]] = Counter()
    for index, (link, pair) in enumerate(zip(topology.links, pairs, strict=True)):
        if not (0 <= pair.panel < panels.count):
            wrong.append(f"link {index} is on panel {pair.panel}, which does not exist")
            continue
        if not all(0 <= port < panels.ports_per_side for port in (pair.a, pair.b)):
            wrong.append(f"link {index} uses a port that does not exist: {pair}")
            continue
        ends = (topology.position[link.source], topology.position[link.target])
        if panels.host(pair) != ends:
            source, target = panels.host(pair)
            wrong.append(
                f"link {index} runs from {link.source} to {link.target}, its pair "
                f"{pair.a}A-{pair.b}B of {panels.id(pair.panel)} from host {source} "
                f"to host {target}"
            )
        used[pair.panel, "A", pair.a] += 1
        used[pair.panel, "B", pair.b] += 1
    wrong.extend(
        f"port {port}{side} of {panels.id(panel)} is in {count} pairs"
        for (panel, side, port), count in sorted(used.items())
        if count > 1
    )
    return wrong
