"""Fat trees as files of htsim and Phantora describe them by a few numbers."""

import json
from fractions import Fraction

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.cables import USUAL, LinkModel, assumptions, decimal
from topoloom.synth.formats.simulators.tiers import Tier, tiers_of
from topoloom.synth.topology.topology import Topology


def htsim(topology: Topology, model: LinkModel = USUAL) -> str:
    r"""Return a fat tree of two or three tiers as a ``.topo`` file of htsim.

    Source: csg-htsim, "sim/datacenter/topologies" and the reader of fat trees.

    >>> from topoloom.synth.fabrics import fabric
    >>> print(htsim(fabric("fat-tree-4"), LinkModel(node_gbps=Fraction(100))).split("\n\n")[1])
    Tier 0
    Downlink_speed_Gbps 100
    Radix_Down 2
    Downlink_Latency_ns 10000
    Bundle 1
    Radix_Up 2
    Oversubscribed 1

    Raises:
        InvalidTopology: The fabric is no fat tree, or has numbers that htsim cannot express: rates
            in Gbit/s, latencies in ns and the oversubscription are whole.
    """
    tree = tiers_of(topology, "htsim", model)
    latency = model.one_latency_us(topology, "htsim")
    lines = [f"# {note}" for note in assumptions(topology, model)]
    lines += [f"Nodes {tree.hosts}", f"Tiers {len(tree.tiers)}", f"Podsize {tree.pod}"]
    for at, tier in enumerate(tree.tiers):
        above = tree.tiers[at + 1] if at + 1 < len(tree.tiers) else None
        lines += ["", f"Tier {at}", *_tier_lines(tier, above, latency)]
    return "\n".join(lines) + "\n"


def _tier_lines(tier: Tier, above: Tier | None, latency_us: Fraction) -> list[str]:
    """Return the lines of a tier; raise `InvalidTopology` for numbers that htsim cannot hold."""
    rows = {
        "Downlink_speed_Gbps": tier.gbps,
        "Radix_Down": Fraction(tier.down * tier.bundle),
        "Downlink_Latency_ns": latency_us * 1000,
        "Bundle": Fraction(tier.bundle),
    }
    if above is not None:
        uplinks = Fraction(tier.up * above.bundle)
        ratio = rows["Radix_Down"] * tier.gbps / (uplinks * above.gbps)
        rows |= {"Radix_Up": uplinks, "Oversubscribed": ratio}
        # htsim divides whole numbers of cables, whatever their rates.
        if rows["Radix_Down"] // uplinks != ratio:
            raise InvalidTopology(
                "/links",
                "must be oversubscribed by a whole number, with equally fast cables below and "
                "above each switch, in htsim",
            )
    for name, value in rows.items():
        if value.denominator != 1 or value < 1:
            raise InvalidTopology("/links", f"must have a whole {name} in htsim; not {value}")
    return [f"{name} {value}" for name, value in rows.items()]


def phantora(topology: Topology, model: LinkModel = USUAL) -> str:
    """Return a fat tree of two tiers as the network of Phantora, in TOML.

    Source: Phantora, "netsim/src/architecture.rs", TwoLayerMultiPath.  Phantora has no latency.
    """
    tree = tiers_of(topology, "phantora", model)
    if len(tree.tiers) != 2:
        raise InvalidTopology("/links", "must have two tiers of switches in phantora")
    leaf, spine = tree.tiers
    # Phantora maps the i-th of these hostnames to the i-th host of the racks, in their order.
    hosts = (f"host{node}" if isinstance(node, int) else node for node in topology.compute_nodes)
    names = ", ".join(json.dumps(name) for name in hosts)
    notes = "".join(f"# {note}\n" for note in assumptions(topology, model)[1:])
    return notes + (
        f"host_mapping = [{names}]\n\n"
        '[simulator]\nloopback_speed = 400\nfairness = "PerFlowMaxMin"\n\n'
        '[topology]\ntype = "TwoLayerMultiPath"\n\n[topology.args]\n'
        f"nspines = {leaf.up}\nnracks = {spine.down}\nrack_size = {leaf.down}\n"
        f"host_bw = {decimal(leaf.gbps)}\n"
        f"rack_uplink_port_bw = {decimal(spine.bundle * spine.gbps)}\n"
        'load_balancer_type = "EcmpEverything"\n'
    )
