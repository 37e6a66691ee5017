"""Links on channels: what channels join today, and the sites at which links stay."""

from collections import Counter, defaultdict

import numpy as np

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.assignment.channels import Channel, Supply
from topoloom.synth.wiring.assignment.demand import Choice, Demand
from topoloom.synth.wiring.routes.lead_links import edges_of
from topoloom.synth.wiring.routes.paths import Led, Path
from topoloom.synth.wiring.routes.resources import End, Resources, Site, strands

Joined = dict[tuple[int, int], list[tuple[Site, Site]]]


def demand_of(topology: Topology, found: Supply) -> Demand:
    """Return the links of a topology as a demand on channels."""
    if found.resources.duplex:
        chosen = [there for there, _ in edges_of(topology)]
    else:
        chosen = list(range(topology.link_count))
    joined = tuple(
        Counter({ends: len(sites) for ends, sites in _joined(channel, found.resources).items()})
        for channel in found.channels
    )
    return Demand(
        topology.node_count,
        topology.sources[chosen].astype(np.int64),
        topology.targets[chosen].astype(np.int64),
        found.sending,
        found.receiving,
        tuple(channel.shared for channel in found.channels),
        found.resources.duplex,
        joined,
    )


def _joined(channel: Channel, found: Resources) -> Joined:
    """Return the sites of a channel that are joined today, by the nodes they belong to."""
    receivers = {site.rx: site for row in channel.receivers for site in row}
    partner = found.partner
    together: Joined = defaultdict(list)
    for row in channel.senders:
        for site in row:
            ends = tuple(partner[tx] for tx in site.tx if tx in partner)
            other = receivers.get(ends)
            if other is None or len(ends) != len(site.tx) or other.host == site.host:
                continue
            if found.duplex and tuple(map(partner.get, other.tx)) != site.rx:
                continue
            if channel.shared and site.host > other.host:
                continue
            together[site.host, other.host].append((site, other))
    return together


def links_with_channels(found: Supply, demand: Demand, choice: Choice) -> list[Led]:
    """Return the links with their channels: those joined today at their sites, others at any."""
    links: list[Led | None] = [None] * len(choice.channel)
    ends = demand.links
    for number, channel in enumerate(found.channels):
        today = _joined(channel, found.resources)
        for index in np.flatnonzero(choice.channel == number).tolist():
            u, v = ends[index]
            turned = bool(choice.turned[index])
            sites = _taken(today, (v, u) if turned else (u, v), channel.shared)
            one, other = map(End, channel.kinds, sites)
            first, second = (other, one) if turned else (one, other)
            paths = (Path(),) * len(strands(first, second))
            links[index] = Led((u, v), first, second, paths)
    return [link for link in links if link is not None]


def _taken(
    today: Joined, nodes: tuple[int, int], shared: bool
) -> tuple[Site, Site] | tuple[None, None]:
    """Take the sites of two nodes that are joined today; None for both if there are none."""
    key = (min(nodes), max(nodes)) if shared else nodes
    if not today.get(key):
        return None, None
    one, other = today[key].pop(0)
    return (one, other) if key == nodes else (other, one)
