"""The measure of choices of channels, for least time or fewest drained hosts."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.wiring.assignment.channels import Channel, Supply
from topoloom.synth.wiring.assignment.demand import Demand, Ends
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.ilp.objective_rows import Stakes, at_least
from topoloom.synth.wiring.routes.resources import Resources


@dataclass(frozen=True, slots=True)
class Aim:
    """The objective of a demand.

    ``pairs`` has the pairs that a link takes in every channel, by panel; ``bound`` is a lower
    bound of the objective for all choices.
    """

    stakes: Stakes
    pairs: tuple[Counter[int], ...]
    bound: Fraction


def aim_of(
    objective: Objective,
    found: Supply,
    demand: Demand,
    fewest: tuple[int, int],
) -> Aim:
    """Return the objective of a demand on the panels where its links are plugged.

    ``fewest`` are lower bounds of removes and adds.
    """
    plant, mine = found.resources.plant, found.resources.mine
    on_panels = Counter(pair.panel for pair in mine)
    stakes = Stakes(objective, plant, on_panels, _doomed(found.resources, demand))
    pairs = tuple(_pairs(channel, found) for channel in found.channels)
    room: Counter[int] = Counter()
    for channel, each in zip(found.channels, pairs, strict=True):
        sites = [sum(map(len, side)) for side in (channel.senders, channel.receivers)]
        most = sites[0] // 2 if channel.shared else min(sites)
        room.update({panel: count * most for panel, count in each.items()})
    at_hosts = Counter(host for pair in mine for host in set(plant.hosts_of(pair)) - {-1})
    bound = at_least(stakes, *fewest, room, list(at_hosts.values()))
    return Aim(stakes, pairs, bound)


def _doomed(found: Resources, demand: Demand) -> frozenset[int]:
    """Return the hosts that every choice drains."""
    links: Counter[Ends] = Counter()
    today: Counter[Ends] = Counter()
    for ends in demand.links:
        links[_ordered(ends, found.duplex)] += 1
    for ends, count in (item for joined in demand.joined for item in joined.items()):
        today[_ordered(ends, found.duplex)] += count
    node_of = {host: node for node, host in enumerate(found.hosts)}
    doomed: set[int] = set()
    for pair in found.mine:
        hosts = found.plant.hosts_of(pair)
        u, v = (node_of.get(host, -1) for host in hosts)
        key = _ordered((u, v), found.duplex)
        if pair not in found.joins or not links[key] or today[key] > links[key]:
            doomed.update(hosts)
    return frozenset(doomed - {-1})


def _ordered(ends: Ends, duplex: bool) -> Ends:
    return (min(ends), max(ends)) if duplex else ends


def _pairs(channel: Channel, found: Supply) -> Counter[int]:
    """Return how many pairs a link of a channel takes on which panel."""
    sender, receiver = channel.kinds
    both_ways = found.resources.duplex and not sender.one_fibre
    return Counter(group.panel for group in (*sender.tx, *(receiver.tx if both_ways else ())))
