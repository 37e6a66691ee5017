"""Networks of any size: one switch, fat tree, dragonfly, rail-optimized and rail-only cluster.

Switches, fat trees and dragonflies count links, so every capacity is 1.  Clusters of boxes have the
bandwidths of DGX H100 boxes, in GB/s per direction.
"""

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.limits import MAX_LINKS, MAX_NODES
from topoloom.synth.topology.topology import Topology

NVLINK = 18 * 25
NIC = 50


def fat_tree(k: int) -> Topology:
    """Return the fat tree of k-port switches: k pods, k**3 / 4 hosts.

    k is even.  Ids: ``"<pod>.host<i>"``, ``"<pod>.edge<i>"``, ``"<pod>.aggregation<i>"``
    and ``"core<i>"``.  Source: Al-Fares, Loukissas and Vahdat, SIGCOMM 2008, section 2.2.

    >>> fat_tree(4)
    <Topology fat-tree: 16 compute, 20 switch, 96 links>
    """
    if k < 2 or k % 2:
        raise OutOfDomain("K", "must be even")
    half = k // 2
    _require_size(k * half * half + k * k + half * half, 6 * k * half * half)
    hosts: list[str] = []
    links: list[Row] = []
    for pod in range(k):
        for edge in range(half):
            for index in range(half):
                host = f"{pod}.host{edge * half + index}"
                hosts.append(host)
                links += two_way_links(host, f"{pod}.edge{edge}", 1)
                links += two_way_links(f"{pod}.edge{edge}", f"{pod}.aggregation{index}", 1)
                # edge and index now number an aggregation switch and its core switch.
                links += two_way_links(f"{pod}.aggregation{edge}", f"core{edge * half + index}", 1)
    layers = [
        f"{pod}.{layer}{index}"
        for layer in ("edge", "aggregation")
        for pod in range(k)
        for index in range(half)
    ]
    switches = [*layers, *(f"core{index}" for index in range(half * half))]
    return Topology([*hosts, *switches], links, switches=switches, name="fat-tree")


def dragonfly(a: int, p: int, h: int, g: int) -> Topology:
    """Return g groups of a routers, each with p hosts and h links to other groups.

    The routers of a group are fully connected.  Every two groups are joined by
    floor(a h / (g - 1)) links, assigned to the routers in order of the distance between the
    groups; remaining ports stay empty.  Ids: ``"<group>.host<i>"``, ``"<group>.router<i>"``.
    Source: Kim, Dally, Scott and Abts, ISCA 2008, section 3; g is at most a h + 1.

    >>> dragonfly(4, 2, 2, 9)
    <Topology dragonfly: 72 compute, 36 switch, 324 links>
    """
    if g > a * h + 1:
        raise OutOfDomain("G", f"must be at most A H + 1 = {a * h + 1}")
    _require_size(g * a * (1 + p), g * a * (2 * p + a - 1 + h))
    links: list[Row] = []
    for group in range(g):
        for router in range(a):
            name = f"{group}.router{router}"
            for index in range(p):
                links += two_way_links(f"{group}.host{router * p + index}", name, 1)
            for other in range(router):
                links += two_way_links(f"{group}.router{other}", name, 1)
    for port in range((a * h) // (g - 1) * (g - 1) if g > 1 else 0):
        lap, distance = port // (g - 1), port % (g - 1) + 1
        # The far group precedes this group by g - distance; this port of it leads back here.
        back = lap * (g - 1) + g - distance - 1
        links += [
            (f"{group}.router{port // h}", f"{(group + distance) % g}.router{back // h}", 1)
            for group in range(g)
        ]
    hosts = [f"{group}.host{index}" for group in range(g) for index in range(a * p)]
    routers = [f"{group}.router{index}" for group in range(g) for index in range(a)]
    return Topology([*hosts, *routers], links, switches=routers, name="dragonfly")


def rail(n: int, k: int) -> Topology:
    """Return n boxes of k GPUs; the i-th NICs of all boxes share rail i, and a spine joins rails.

    450 GB/s from a GPU to the switch of its box (18 NVLink4), 50 GB/s to its rail (a 400 Gbit/s
    NIC), and the same in total from the rail to the spine.  Source: NVIDIA's DGX SuperPOD
    reference architecture for DGX H100, the rail-optimized compute fabric.

    >>> rail(4, 8)
    <Topology rail: 32 compute, 13 switch, 144 links>
    """
    cluster = rail_only(n, k)
    spine = [row for index in range(k) for row in two_way_links(f"rail{index}", "spine", n * NIC)]
    return Topology(
        [*cluster.nodes, "spine"],
        [*cluster.links, *spine],
        switches=[*cluster.switches, "spine"],
        name="rail",
        bandwidth_unit="GB/s",
    )


def rail_only(n: int, k: int) -> Topology:
    """Return a rail cluster without the spine: GPUs reach other rails inside their boxes.

    Source: Wang et al., "Rail-only", arXiv:2307.12169.

    >>> rail_only(4, 8)
    <Topology rail-only: 32 compute, 12 switch, 128 links>
    """
    if n < 2:
        raise OutOfDomain("N", "must be at least 2")
    _require_size(n * (k + 1) + k + 1, 4 * n * k + 2 * k)
    links: list[Row] = []
    for box in range(n):
        for index in range(k):
            links += two_way_links(f"{box}.gpu{index}", f"{box}.nvswitch", NVLINK)
            links += two_way_links(f"{box}.gpu{index}", f"rail{index}", NIC)
    gpus = [f"{box}.gpu{index}" for box in range(n) for index in range(k)]
    switches = [f"{box}.nvswitch" for box in range(n)] + [f"rail{index}" for index in range(k)]
    return Topology(
        [*gpus, *switches], links, switches=switches, name="rail-only", bandwidth_unit="GB/s"
    )


def one_switch(n: int, d: int) -> Topology:
    """Return n hosts, each with d links to one switch: an ideal packet switch for all ports.

    >>> one_switch(4, 2)
    <Topology switch: 4 compute, 1 switch, 16 links>
    """
    _require_size(n + 1, 2 * n * d)
    hosts = [f"host{index}" for index in range(n)]
    links = [row for host in hosts for _ in range(d) for row in two_way_links(host, "switch", 1)]
    return Topology([*hosts, "switch"], links, switches=["switch"], name="switch")


def _require_size(nodes: int, links: int) -> None:
    if nodes > MAX_NODES or links > MAX_LINKS:
        raise OutOfDomain("size", f"must be at most {MAX_NODES} nodes and {MAX_LINKS} links")
