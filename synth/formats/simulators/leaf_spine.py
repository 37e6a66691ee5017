"""Two tiers of switches, as files of htsim and Phantora describe them by a few numbers."""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.cables import (
    USUAL,
    LinkModel,
    assumptions,
    cables_of,
    decimal,
)
from topoloom.synth.topology.topology import Topology


class LeafSpine(NamedTuple):
    """A fabric of equal leaves, each with ``bundle`` equal cables to every spine.

    ``hosts`` are those of one leaf; ``down`` and ``up`` are Gbit/s of one cable of a leaf.
    """

    leaves: int
    hosts: int
    spines: int
    bundle: int
    down: Fraction
    up: Fraction


def htsim(topology: Topology, model: LinkModel = USUAL) -> str:
    r"""Return a fabric of two tiers as a ``.topo`` file of htsim.

    Source: csg-htsim, "sim/datacenter/topologies" and the reader of fat trees.

    >>> cables = ["h0 l0", "h1 l0", "h2 l1", "h3 l1", "l0 s0", "l0 s1", "l1 s0", "l1 s1"]
    >>> ends = [pair.split() for pair in cables] + [pair.split()[::-1] for pair in cables]
    >>> tiny = Topology("h0 h1 h2 h3 l0 l1 s0 s1".split(), ends, switches="l0 l1 s0 s1".split())
    >>> print(htsim(tiny, LinkModel(node_gbps=Fraction(400))).split("\n\n")[1])
    Tier 0
    Downlink_speed_Gbps 400
    Radix_Down 2
    Radix_Up 2
    Downlink_Latency_ns 10000
    Oversubscribed 1

    Raises
    ------
    InvalidTopology
        The fabric has not two tiers, or numbers that htsim cannot express: rates in Gbit/s,
        latencies in ns and the oversubscription are whole.
    """
    fabric = leaf_spine(topology, "htsim", model)
    ratio = Fraction(fabric.hosts * fabric.down, fabric.bundle * fabric.spines * fabric.up)
    whole = {"speed of cables in Gbit/s": fabric.down, "speed of uplinks in Gbit/s": fabric.up}
    whole |= {"latency in ns": model.nanoseconds, "oversubscription": ratio}
    for name, value in whole.items():
        if value.denominator != 1 or value < 1:
            raise InvalidTopology("/links", f"must have a whole {name} in htsim; not {value}")
    uplinks = fabric.bundle * fabric.spines
    if fabric.hosts // uplinks != ratio:
        raise InvalidTopology("/links", "must have equally fast cables and uplinks in htsim")
    count, latency = fabric.leaves * fabric.hosts, model.nanoseconds
    notes = "".join(f"# {note}\n" for note in assumptions(topology, model))
    return notes + (
        f"Nodes {count}\nTiers 2\nPodsize {count}\n\n"
        f"Tier 0\nDownlink_speed_Gbps {fabric.down}\nRadix_Down {fabric.hosts}\n"
        f"Radix_Up {uplinks}\nDownlink_Latency_ns {latency}\nOversubscribed {ratio}\n\n"
        f"Tier 1\nDownlink_speed_Gbps {fabric.up}\nRadix_Down {fabric.leaves * fabric.bundle}\n"
        f"Downlink_Latency_ns {latency}\nBundle {fabric.bundle}\n"
    )


def phantora(topology: Topology, model: LinkModel = USUAL) -> str:
    """Return a fabric of two tiers as the network of Phantora, in TOML.

    Source: Phantora, "netsim/src/architecture.rs", TwoLayerMultiPath.  Phantora has no latency.
    """
    fabric = leaf_spine(topology, "phantora", model)
    names = ", ".join(f'"host_{at}"' for at in range(fabric.leaves * fabric.hosts))
    notes = "".join(f"# {note}\n" for note in assumptions(topology, model)[1:])
    return notes + (
        f"host_mapping = [{names}]\n\n"
        '[simulator]\nloopback_speed = 400\nfairness = "PerFlowMaxMin"\n\n'
        '[topology]\ntype = "TwoLayerMultiPath"\n\n[topology.args]\n'
        f"nspines = {fabric.spines}\nnracks = {fabric.leaves}\nrack_size = {fabric.hosts}\n"
        f"host_bw = {decimal(fabric.down)}\n"
        f"rack_uplink_port_bw = {decimal(fabric.bundle * fabric.up)}\n"
        'load_balancer_type = "EcmpEverything"\n'
    )


def leaf_spine(topology: Topology, form: str, model: LinkModel) -> LeafSpine:
    """Return the numbers of a fabric of two tiers; raise `InvalidTopology` for any other fabric.

    The hosts of a leaf are neighbors in the order of ranks, as these simulators number them.
    """
    rank = {topology.position[node]: at for at, node in enumerate(topology.compute_nodes)}
    leaf_of: dict[int, list[int]] = defaultdict(list)
    rates: tuple[set[Fraction], set[Fraction]] = set(), set()
    uplinks: Counter[tuple[int, int]] = Counter()
    between: list[tuple[int, int]] = []
    for one, other, gbps in cables_of(topology, form, model):
        host, switch = (one, other) if one in rank else (other, one)
        is_uplink = host not in rank
        rates[is_uplink].add(gbps)
        if is_uplink:
            between.append((one, other))
        else:
            leaf_of[rank[host]].append(switch)
    leaves = list(dict.fromkeys(switch for at in sorted(leaf_of) for switch in leaf_of[at]))
    for one, other in between:
        uplinks[(one, other) if one in leaves else (other, one)] += 1
    spines = {spine for _, spine in uplinks}
    size = len(rank) // max(1, len(leaves))
    in_order = [leaf_of.get(at) for at in range(len(rank))] == [
        [leaf] for leaf in leaves for _ in range(size)
    ]
    full = uplinks.keys() == {(leaf, spine) for leaf in leaves for spine in spines}
    equal = len({*uplinks.values()}) == len(rates[0]) == len(rates[1]) == 1
    if not (in_order and full and equal) or spines & {*leaves}:
        raise InvalidTopology(
            "/links",
            f"must be leaves of equally many hosts, each joined alike to all spines, for {form}",
        )
    bundle = next(iter(uplinks.values()))
    return LeafSpine(len(leaves), size, len(spines), bundle, rates[0].pop(), rates[1].pop())
