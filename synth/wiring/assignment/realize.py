"""Realize channels as pairs: correctly plugged links stay, the others take free sites."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.assignment.channels import Channel, Site, Supply
from topoloom.synth.wiring.assignment.demand import Choice, Demand
from topoloom.synth.wiring.assignment.link_wiring import Route, Wiring
from topoloom.synth.wiring.plant import Pair, Port

Joined = dict[tuple[int, int], list[tuple[Site, Site]]]


def edges_of(topology: Topology) -> list[tuple[int, int]]:
    """Return the links of a bidirectional topology two by two: one there, one back.

    Of parallel links the first there belongs to the first back, and so on.

    >>> edges_of(Topology(range(2), [(0, 1), (1, 0)]))
    [(0, 1)]
    """
    back: dict[tuple[int, int], list[int]] = defaultdict(list)
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    for index in reversed(range(len(ends))):
        back[ends[index]].append(index)
    return [(index, back[v, u].pop()) for index, (u, v) in enumerate(ends) if u < v]


def demand_of(topology: Topology, found: Supply) -> Demand:
    """Return the links of a topology as a demand on channels."""
    if found.duplex:
        chosen = [there for there, _ in edges_of(topology)]
    else:
        chosen = list(range(topology.link_count))
    partner = partners(found)
    joined = tuple(
        Counter({ends: len(sites) for ends, sites in _joined(channel, found, partner).items()})
        for channel in found.channels
    )
    return Demand(
        topology.node_count,
        topology.sources[chosen].astype(np.int64),
        topology.targets[chosen].astype(np.int64),
        found.sending,
        found.receiving,
        tuple(channel.shared for channel in found.channels),
        found.duplex,
        joined,
    )


def partners(found: Supply) -> dict[Port, Port]:
    """Return the port that every plugged port is joined to today."""
    joined: dict[Port, Port] = {}
    for pair in found.plant.present.pairs:
        one, other = found.plant.ends(pair)
        joined[one], joined[other] = other, one
    return joined


def _joined(channel: Channel, found: Supply, partner: dict[Port, Port]) -> Joined:
    """Return the sites of a channel that are joined today, by the nodes they belong to."""
    receivers = {site.rx: site for row in channel.receivers for site in row}
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


def plugged(topology: Topology, found: Supply, demand: Demand, choice: Choice) -> Wiring:
    """Return the wiring in which every link has its channel."""
    partner = partners(found)
    routes: list[Route] = [()] * topology.link_count
    edges = edges_of(topology) if found.duplex else []
    for number, channel in enumerate(found.channels):
        members = np.flatnonzero(choice.channel == number).tolist()
        turned = choice.turned
        ends = [
            (demand.targets[i], demand.sources[i]) if turned[i] else
            (demand.sources[i], demand.targets[i]) for i in members
        ]  # fmt: skip
        plain = [(int(u), int(v)) for u, v in ends]
        for index, sites in zip(members, _sites(channel, found, partner, plain), strict=True):
            ahead, back = found.joined(*sites)
            if not found.duplex:
                routes[index] = ahead
                continue
            there, away = edges[index]
            # The sender of a turned link is its target, so its forward light is the way back.
            sender = sites[0].host
            if sender != int(topology.sources[there]):
                ahead, back = back, ahead
            routes[there], routes[away] = ahead, back
    return Wiring(found.plant, found.hosts, tuple(routes))


def _sites(
    channel: Channel, found: Supply, partner: dict[Port, Port], ends: list[tuple[int, int]]
) -> Iterator[tuple[Site, Site]]:
    """Yield the two sites of every link of a channel; those joined today before free ones."""
    today = _joined(channel, found, partner)
    kept: list[tuple[Site, Site] | None] = []
    used: set[Site] = set()
    for u, v in ends:
        key = (min(u, v), max(u, v)) if channel.shared else (u, v)
        sites = today[key].pop(0) if today.get(key) else None
        kept.append(sites)
        used.update(sites or ())
    senders = _free(channel.senders, used, partner)
    receivers = senders if channel.shared else _free(channel.receivers, used, partner)
    for (u, v), sites in zip(ends, kept, strict=True):
        yield sites or (senders[u].pop(), receivers[v].pop())


def _free(
    rows: tuple[tuple[Site, ...], ...], used: set[Site], partner: dict[Port, Port]
) -> list[list[Site]]:
    """Return the unused sites of every node, the best ones last.

    Sites without a plugged pair are better: their new pairs need not wait for a removal.
    """

    def empty(site: Site) -> bool:
        return not any(port in partner for port in (*site.tx, *site.rx))

    found = [[site for site in reversed(row) if site not in used] for row in rows]
    return [sorted(row, key=empty) for row in found]


def grouped(found: Supply) -> dict[tuple[int, int], list[tuple[Pair, ...]]]:
    """Return the pairs of every two sites that are joined today as a link joins them, by nodes."""
    partner = partners(found)
    whole: dict[tuple[int, int], list[tuple[Pair, ...]]] = defaultdict(list)
    for channel in found.channels:
        for ends, rows in _joined(channel, found, partner).items():
            for sites in rows:
                ahead, back = found.joined(*sites)
                whole[ends].append(tuple(dict.fromkeys((*ahead, *back))))
    return whole


def joins_of(found: Supply) -> set[Pair]:
    """Return the pairs of today between two usable sites: those that could stay."""
    ends = {
        port
        for channel in found.channels
        for rows in (channel.senders, channel.receivers)
        for row in rows
        for site in row
        for port in (*site.tx, *site.rx)
    }
    plant = found.plant
    return {pair for pair in plant.present.pairs if ends.issuperset(plant.ends(pair))}
