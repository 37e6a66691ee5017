"""A choice of channels of least time or of fewest drained hosts.

The choice of fewest moves is the start.  Links of two channels change places as long as that
gains; whatever is small is then decided by an integer program, and the relaxation of a larger
one gives a bound.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.channel_ilp import variables, written
from topoloom.synth.wiring.assignment.channel_swaps import Rank, exchanged, ranked
from topoloom.synth.wiring.assignment.channels import Channel, Supply
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Ends
from topoloom.synth.wiring.assignment.realize import grouped, joins_of
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.ilp.objective_rows import Keep, Stakes, Use, at_least, least
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.plant.free_ports import ours


@dataclass(frozen=True, slots=True)
class Aim:
    """The objective of a demand.

    ``pairs`` has the pairs that a link takes in every channel, by panel; ``bound`` is a lower
    bound of the objective for all choices.
    """

    stakes: Stakes
    hosts: tuple[int, ...]
    pairs: tuple[Counter[int], ...]
    bound: Fraction

    def rank(self, demand: Demand, choice: Choice) -> Rank:
        """Return the sort key of a choice, the objective first; less is better."""
        return ranked(demand, choice, self.stakes, self.pairs, self.hosts)


def aim_of(objective: Objective, found: Supply, demand: Demand, fewest: tuple[int, int]) -> Aim:
    """Return the objective of a demand on the panels where its links are plugged.

    ``fewest`` are lower bounds of removes and adds.
    """
    plant, mine = found.plant, ours(found.plant, found.hosts)
    doomed, exact = _doomed(found, demand, mine)
    stakes = Stakes(objective, plant, Counter(pair.panel for pair in mine), doomed, exact)
    pairs = tuple(_pairs(channel, found) for channel in found.channels)
    room: Counter[int] = Counter()
    for channel, each in zip(found.channels, pairs, strict=True):
        sites = [sum(map(len, side)) for side in (channel.senders, channel.receivers)]
        most = sites[0] // 2 if channel.shared else min(sites)
        room.update({panel: count * most for panel, count in each.items()})
    at_hosts = Counter(host for pair in mine for host in set(plant.hosts_of(pair)) - {-1})
    bound = at_least(stakes, *fewest, room, list(at_hosts.values()))
    return Aim(stakes, found.hosts, pairs, bound)


def _doomed(found: Supply, demand: Demand, mine: tuple[Pair, ...]) -> tuple[frozenset[int], bool]:
    """Return the hosts that every choice drains, and whether only whole links can stay.

    The second value is true if every pair of today that may stay belongs to a complete link.
    """
    whole = grouped(found)
    links: Counter[Ends] = Counter()
    today: Counter[Ends] = Counter()
    for ends in demand.links:
        links[_ordered(ends, found.duplex)] += 1
    for ends, rows in whole.items():
        today[_ordered(ends, found.duplex)] += len(rows)
    node_of = {host: node for node, host in enumerate(found.hosts)}
    useful = joins_of(found)
    parts = {pair for rows in whole.values() for row in rows for pair in row}
    doomed: set[int] = set()
    exact = True
    for pair in mine:
        hosts = found.plant.hosts_of(pair)
        u, v = (node_of.get(host, -1) for host in hosts)
        key = _ordered((u, v), found.duplex)
        if pair not in useful or not links[key] or today[key] > links[key]:
            doomed.update(hosts)
        exact = exact and (pair in parts or pair not in useful or not links[key])
    return frozenset(doomed - {-1}), exact


def _ordered(ends: Ends, duplex: bool) -> Ends:
    return (min(ends), max(ends)) if duplex else ends


def _pairs(channel: Channel, found: Supply) -> Counter[int]:
    """Return how many pairs a link of a channel takes on which panel."""
    sender = next((row[0] for row in channel.senders if row), None)
    receiver = next((row[0] for row in channel.receivers if row), None)
    if sender is None or receiver is None:
        return Counter()
    both_ways = found.duplex and sender.tx != sender.rx
    return Counter(end.panel for end in (*sender.tx, *(receiver.tx if both_ways else ())))


def aimed(demand: Demand, choice: Choice, aim: Aim) -> tuple[Choice, Fraction]:
    """Return a choice with a small value of the objective, and a lower bound for all choices.

    ``choice`` is any choice that fits, preferably of few moves.
    """
    stakes, bound = aim.stakes, aim.bound
    better = exchanged(demand, choice, stakes, aim.pairs, aim.hosts)
    size = variables(demand)
    met = aim.rank(demand, better)[0] == bound
    if not size or met or size > limits.MAX_RELAXED_VARIABLES:
        return better, bound
    found = written(demand, keeping=True)
    uses = [Use(n, aim.pairs[channel]) for n, (_, channel, _) in enumerate(found.columns)]
    keeps = [
        Keep(
            kept.column,
            aim.pairs[kept.channel],
            kept.there,
            frozenset(aim.hosts[node] for node in kept.ends),
        )
        for kept in found.kept
    ]
    values, proven = least(found.program, stakes, uses, keeps, size <= limits.MAX_EXACT_VARIABLES)
    if stakes.exact:
        bound = max(bound, proven)
    exact = None if values is None else found.choice(values)
    choices = [better] if exact is None else [better, exact]
    return min(choices, key=lambda one: aim.rank(demand, one)), bound
