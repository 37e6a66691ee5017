"""Copies of a box, joined by the cables of a topology between boxes.

A box is any topology with accelerators as compute nodes.  The topology between boxes has one
compute node for each box and one link for each direction of a cable; its switches stay switches.
"""

from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.limits import MAX_LINKS, MAX_NODES
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.latencies import Pair
from topoloom.synth.topology.topology import Capacity, Link, NodeId, Topology


class Ports(StrEnum):
    """The rule that assigns the d cable ports of a box to its g accelerators.

    ``EVEN`` puts port p on accelerator ``floor(p g / d)``: neighboring ports share an accelerator
    if d > g.  ``ROUND_ROBIN`` puts port p on accelerator ``p mod g``: the first accelerators have
    the ports if d < g.
    """

    EVEN = "even"
    ROUND_ROBIN = "round-robin"

    def accelerator(self, port: int, degree: int, count: int) -> int:
        """Return the index of the accelerator of a port.

        >>> [Ports.EVEN.accelerator(port, 4, 8) for port in range(4)]
        [0, 2, 4, 6]
        >>> [Ports.ROUND_ROBIN.accelerator(port, 4, 2) for port in range(4)]
        [0, 1, 0, 1]
        """
        return port * count // degree if self is Ports.EVEN else port % count


def box_fabric(
    box: Topology,
    between: Topology,
    *,
    cable: Capacity = 1,
    ports: Ports = Ports.EVEN,
    latency: Fraction | None = None,
    name: str = "",
) -> Topology:
    """Return copies of a box, joined by the cables of a topology between boxes.

    Args:
        box: One box.  Its compute nodes are accelerators.
        between: The i-th compute node stands for the i-th box.  A link of capacity c becomes a link
            of capacity ``c * cable``.
        cable: Rate of one cable in each direction, in the bandwidth unit of the box.
        ports: The rule that assigns the ports of a box to its accelerators.
        latency: Latency of a hop between boxes in seconds, where links have latencies: of a cable,
            or of the two cables to and from switches.  None: the result states no latencies, unless
            both topologies state theirs.
        name: Name of the result.

    Returns:
        Node ``x`` of box b is ``"<b>.x"``; a leading ``"0."`` of all ids of a box is omitted.
        Switches between boxes keep their ids.  ``assumed`` states the ports and their rule.

    Raises:
        OutOfDomain: ``between`` has fewer than two boxes or limits that links share, or the result
            exceeds `synth.limits`.
        InvalidTopology: The rate of a cable is not positive, or a switch between boxes has an id of
            a box.

    The two directions of a cable use the same port of each box.  Ports are in the order of the
    distance from the number of a box to that of its neighbor, so rotations of a circulant rotate
    the whole fabric.  O(links log links).

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> ring = build(parse("BiRing(4)"))
    >>> box_fabric(fabric("dgx-h100-1"), ring, cable=50, name="ring of boxes")
    <Topology ring of boxes: 32 compute, 4 switch, 72 links>
    """
    boxes = between.compute_nodes
    if len(boxes) < 2:
        raise OutOfDomain("between", "must have at least two compute nodes, one for each box")
    if between.shared:
        raise OutOfDomain("between", "must have no limits that links share")
    _require_size(box, between)
    inner = _inner_ids(box)
    switches = [f"{b}.{inner[node]}" for b in range(len(boxes)) for node in _switches(box)]
    outer = _switches(between)
    used = [inner[box.compute_nodes[at]] for at in _accelerators(box, between, ports)]
    cables = list(_cables(between, used, cable))
    latencies = {
        (f"{b}.{inner[source]}", f"{b}.{inner[target]}"): seconds
        for b in range(len(boxes))
        for (source, target), seconds in box.latencies.items()
    }
    of_cables = _cable_latencies(between, cables, latency)
    return Topology(
        [
            *(f"{b}.{inner[node]}" for b in range(len(boxes)) for node in box.compute_nodes),
            *switches,
            *outer,
        ],
        [
            *(
                (f"{b}.{inner[link.source]}", f"{b}.{inner[link.target]}", link.capacity)
                for b in range(len(boxes))
                for link in box.links
            ),
            *cables,
        ],
        switches=[*switches, *outer],
        multicast=[
            *(f"{b}.{inner[node]}" for b in range(len(boxes)) for node in box.multicast),
            *between.multicast,
        ],
        shared=[
            ([(f"{b}.{inner[s]}", f"{b}.{inner[t]}") for s, t in limit.links], limit.capacity)
            for b in range(len(boxes))
            for limit in box.shared
        ],
        name=name,
        bandwidth_unit=box.bandwidth_unit,
        assumed=[*box.assumed, *between.assumed, _port_rule(box, between, ports)],
        latencies=latencies | of_cables if latencies and of_cables else None,
    )


def _switches(topology: Topology) -> list[NodeId]:
    return [node for node in topology.nodes if node in topology.switches]


def _inner_ids(box: Topology) -> dict[NodeId, str]:
    """Return the ids inside a box, without the box number of a fabric of one box."""
    texts = {node: str(node) for node in box.nodes}
    if all(text.startswith("0.") for text in texts.values()):
        return {node: text[2:] for node, text in texts.items()}
    return texts


def _accelerators(box: Topology, between: Topology, ports: Ports) -> list[int]:
    """Return the index of the accelerator of each port."""
    count, degree = len(box.compute_nodes), _ports_of(between)
    return [ports.accelerator(port, degree, count) for port in range(degree)]


def _ports_of(between: Topology) -> int:
    """Return the largest number of links into or out of a box."""
    places = [between.position[node] for node in between.compute_nodes]
    return int(max(between.out_degrees[places].max(), between.in_degrees[places].max()))


def _cables(between: Topology, used: list[str], cable: Capacity) -> Iterator[Link]:
    """Yield the links of all cables, each between the accelerators of its ports."""
    number = {between.position[node]: at for at, node in enumerate(between.compute_nodes)}
    ends = list(zip(between.sources.tolist(), between.targets.tolist(), strict=True))
    sending = _ports(ends, between.node_count, number)
    receiving = _ports([(t, s) for s, t in ends], between.node_count, number)

    def end(node: int, port: dict[int, int], link: int) -> NodeId:
        return f"{number[node]}.{used[port[link]]}" if node in number else between.nodes[node]

    for link, (source, target) in enumerate(ends):
        capacity = between.capacities[link] * cable
        yield Link(end(source, sending, link), end(target, receiving, link), capacity)


def _cable_latencies(
    between: Topology, cables: list[Link], latency: Fraction | None
) -> dict[Pair, Fraction]:
    """Return the latency of each cable; empty where it is unknown."""
    if between.latencies:
        stated = (between.latencies[link[:2]] for link in between.links)
    elif latency is not None:
        ends = ([node in between.switches for node in link[:2]] for link in between.links)
        stated = (latency * (2 - sum(switched)) / 2 for switched in ends)
    else:
        return {}
    return {cable[:2]: seconds for cable, seconds in zip(cables, stated, strict=True)}


def _ports(ends: list[tuple[int, int]], nodes: int, boxes: dict[int, int]) -> dict[int, int]:
    """Return the port of each link at its first end, where this end is a box."""
    links: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for link, (near, far) in enumerate(ends):
        if near in boxes:
            links[near].append(((far - near) % nodes, link))
    return {link: port for found in links.values() for port, (_, link) in enumerate(sorted(found))}


def _port_rule(box: Topology, between: Topology, ports: Ports) -> Assumption:
    count, degree = len(box.compute_nodes), _ports_of(between)
    used = ", ".join(map(str, _accelerators(box, between, ports)[:16]))
    more = ", ..." if degree > 16 else ""
    text = f"The {degree} ports of each box are on its accelerators {used}{more} of {count}."
    return Assumption(text, "ports")


def _require_size(box: Topology, between: Topology) -> None:
    boxes = len(between.compute_nodes)
    nodes = boxes * box.node_count + len(between.switches)
    links = boxes * box.link_count + between.link_count
    if nodes > MAX_NODES or links > MAX_LINKS:
        rule = f"must have at most {MAX_NODES} nodes and {MAX_LINKS} links in all boxes"
        raise OutOfDomain("between", rule)
