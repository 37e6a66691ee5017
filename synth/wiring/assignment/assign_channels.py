"""Choose the method that assigns every link to a channel, near to the assignment of today.

`choose` takes the first of these steps that succeeds:

1. The assignment of today, if it has all links already.
2. A search, by the shape of the plant (`_searched`):

   ============================================  ===============================================
   plant                                         method
   ============================================  ===============================================
   one channel                                   no choice
   one-way, one port each way of every host      bipartite edge coloring: complete the coloring of
   on every panel                                today, exchange two colors, recolor a few colors,
                                                 turn thetas (`coloring`)
   one-way, ports missing here and there         Kempe chains (`coloring.kempe`) and, on smaller
                                                 plants, flows; the better of both
   one-way, several ports on a panel             one flow per channel (`flow_assignment`)
   duplex ports, an even number on every panel   turn the links (`orientation`), then as one-way
   duplex ports, an odd number, two-sided        as one-way, from side to side
   duplex ports, one on every panel              edge coloring by Kempe chains
   ============================================  ===============================================

3. An integer program that decides whether there is any assignment (`channel_ilp`). Its relaxation
   names the missing ports.

If the search misses the bound on kept links, a small plant is decided by an integer program. On a
larger plant without a free port, prices (`coloring.price_bound`) improve the bound. All limits are
in `topoloom.synth.wiring.limits`.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.channel_ilp import (
    Missing,
    best_choice,
    missing_ports,
    variables,
)
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Integers
from topoloom.synth.wiring.assignment.flow_assignment import share_out
from topoloom.synth.wiring.assignment.orientation import balanced, sides, turned_to_fit
from topoloom.synth.wiring.coloring.kempe import coloured
from topoloom.synth.wiring.coloring.price_bound import most_preferred
from topoloom.synth.wiring.coloring.recoloring import (
    complete,
    exchange,
    kept_colours,
    resettle,
    successive,
)
from topoloom.synth.wiring.coloring.thetas import turned_thetas


class NoRoom(Exception):
    """No choice was found; ``missing`` are ports that any choice would lack, if that is proven."""

    def __init__(self, missing: list[Missing]) -> None:
        super().__init__(missing)
        self.missing = missing


def choose(demand: Demand) -> tuple[Choice, int]:
    """Return an assignment that keeps many links in place, and how many any assignment keeps.

    The second number is an upper bound.

    Raises
    ------
    NoRoom
        There is no assignment, or the search found none.
    """
    if not len(demand.sources):
        return Choice.straight(np.zeros(0, np.int64)), 0
    bound = demand.most_kept()
    choice = _kept_as_they_are(demand) or _searched(demand, bound)
    if choice is None:
        return _decided(demand, bound)
    if demand.kept(choice) == bound:
        return choice, bound
    if variables(demand) > limits.MAX_EXACT_VARIABLES:
        return choice, _priced(demand, bound)
    return _exact(demand, choice, bound)


def _exact(demand: Demand, choice: Choice, bound: int) -> tuple[Choice, int]:
    """Return the assignment of the integer program unless it keeps fewer links."""
    exact, proven = best_choice(demand)
    if exact is None or demand.kept(exact) < demand.kept(choice):
        return choice, bound
    return exact, demand.kept(exact) if proven else bound


def _priced(demand: Demand, bound: int) -> int:
    """Return how many links stay at most, by prices where every port is in use."""
    if demand.turnable or len(demand.sources) < demand.size * demand.channels:
        return bound
    if (demand.sending != 1).any() or (demand.receiving != 1).any():
        return bound
    keys = demand.sources * demand.size + demand.targets
    preferred = _preferred_by_channel(demand, keys)
    return min(bound, most_preferred(demand.size, demand.sources, demand.targets, preferred))


def _decided(demand: Demand, bound: int) -> tuple[Choice, int]:
    """Decide by integer program whether there is any choice, where the search found none."""
    missing = missing_ports(demand, integral=False)
    if missing or variables(demand) > limits.MAX_FEASIBILITY_VARIABLES:
        raise NoRoom(missing)
    choice, proven = best_choice(demand)
    if choice is None:
        raise NoRoom(missing_ports(demand, integral=True) if proven else [])
    return choice, demand.kept(choice) if proven else bound


def _kept_as_they_are(demand: Demand) -> Choice | None:
    """Return the choice of today if it has all links already."""
    left = [Counter(joined) for joined in demand.joined]
    channel, turned = np.zeros((2, len(demand.sources)), np.int64)
    for index, (u, v) in enumerate(demand.links):
        for number, (joined, shared) in enumerate(zip(left, demand.shared, strict=True)):
            straight = (min(u, v), max(u, v)) if shared else (u, v)
            ways = ((straight, 0), ((v, u), 1)) if demand.turnable and not shared else ()
            found = next(((e, t) for e, t in ways or ((straight, 0),) if joined[e]), None)
            if found is not None:
                joined[found[0]] -= 1
                channel[index], turned[index] = number, found[1]
                break
        else:
            return None
    choice = Choice(channel, turned.astype(np.bool_))
    return choice if demand.fits(choice) else None


def _searched(demand: Demand, bound: int) -> Choice | None:
    if not demand.channels:
        return None
    if not demand.turnable:
        return _one_way(demand, bound)
    shared = np.array(demand.shared)[:, None]
    if not (demand.sending[shared.ravel()] % 2).any():
        # An even number of shared sites is half of them that send and half that receive.
        sending, receiving = (
            np.where(shared, room // 2, room) for room in (demand.sending, demand.receiving)
        )
        joined = tuple(
            _turned_evenly(demand.size, pairs) if both else pairs
            for pairs, both in zip(demand.joined, demand.shared, strict=True)
        )
        return _turned(demand, bound, sending, receiving, joined)
    return _shared(demand, bound) if shared.all() else None


def _one_way(demand: Demand, bound: int) -> Choice | None:
    if demand.channels == 1:
        choice = Choice.straight(np.zeros(len(demand.sources), np.int64))
        return choice if demand.fits(choice) else None
    if (demand.sending == 1).all() and (demand.receiving == 1).all():
        ends = (demand.sources, demand.targets)
        degrees = [np.bincount(side, minlength=demand.size) for side in ends]
        if len(demand.sources) and max(int(d.max()) for d in degrees) > demand.channels:
            return None
        return Choice.straight(_recoloured(demand, bound))
    if (demand.sending > 1).any() or (demand.receiving > 1).any():
        return share_out(demand)
    chained = _chained(demand)
    # Flows over many channels take minutes where chains take a second.
    large = variables(demand) > limits.MAX_FEASIBILITY_VARIABLES
    if chained is not None and (large or demand.kept(chained) == bound):
        return chained
    found = [choice for choice in (chained, share_out(demand)) if choice is not None]
    return max(found, key=demand.kept, default=None)


def _chained(demand: Demand) -> Choice | None:
    """Color with ports missing here and there: chains from the colors of today."""
    ends = (demand.sources, demand.targets + demand.size)
    room = np.concatenate([demand.sending, demand.receiving], axis=1)
    colours = coloured(ends, room, _claimed(demand))
    return None if colours is None else Choice.straight(colours)


def _turned(
    demand: Demand,
    bound: int,
    sending: Integers,
    receiving: Integers,
    joined: tuple[Counter[tuple[int, int]], ...],
) -> Choice | None:
    """Turn the links, then solve the one-way demand that they are with this room."""
    turnable = Demand(
        demand.size, demand.sources, demand.targets, sending, receiving,
        (False,) * demand.channels, True, joined,
    )  # fmt: skip
    turned = turned_to_fit(turnable, sending.sum(axis=0), receiving.sum(axis=0))
    if turned is None:
        return None
    channel = _across(demand, bound, turned, (sending, receiving), joined)
    if channel is None:
        return None
    choice = Choice(channel, turned)
    return choice if demand.fits(choice) else None


def _across(
    demand: Demand,
    bound: int,
    turned: NDArray[np.bool_],
    room: tuple[Integers, Integers],
    joined: tuple[Counter[tuple[int, int]], ...],
) -> Integers | None:
    """Return the channels of links turned so, each from a sender to a receiver with this room."""
    sources = np.where(turned, demand.targets, demand.sources)
    targets = np.where(turned, demand.sources, demand.targets)
    order = np.lexsort((targets, sources))
    one_way = Demand(
        demand.size, sources[order], targets[order], *room,
        (False,) * demand.channels, False, joined,
    )  # fmt: skip
    found = _one_way(one_way, bound)
    if found is None:
        return None
    channel = np.empty(len(order), np.int64)
    channel[order] = found.channel
    return channel


def _shared(demand: Demand, bound: int) -> Choice | None:
    room = demand.sending
    side = sides(demand.size, demand.links)
    if side is not None:
        # Across two sides every node only sends or only receives: its sites are not shared.
        turned = np.array([side[u] for u, _ in demand.links], np.bool_)
        joined = tuple(
            Counter({((v, u) if side[u] else (u, v)): count for (u, v), count in pairs.items()})
            for pairs in demand.joined
        )
        channel = _across(demand, bound, turned, (room, room), joined)
        return None if channel is None else Choice.straight(channel)
    if (room > 1).any():
        return None
    colours = coloured((demand.sources, demand.targets), room, _claimed(demand))
    return None if colours is None else Choice.straight(colours)


def _turned_evenly(size: int, pairs: Counter[tuple[int, int]]) -> Counter[tuple[int, int]]:
    ends = sorted(pairs.elements())
    turned = balanced(size, ends)
    return Counter((v, u) if turn else (u, v) for (u, v), turn in zip(ends, turned, strict=True))


def _claimed(demand: Demand) -> Integers:
    """Return the channel that joins each link today, or -1; each pair is claimed once."""
    left = [Counter(joined) for joined in demand.joined]
    claimed = np.full(len(demand.sources), -1, np.int64)
    for index, (u, v) in enumerate(demand.links):
        ends = (min(u, v), max(u, v)) if demand.turnable else (u, v)
        for channel, joined in enumerate(left):
            if joined[ends]:
                joined[ends] -= 1
                claimed[index] = channel
                break
    return claimed


def _recoloured(demand: Demand, bound: int) -> Integers:
    """Return channels of one site each way per node: a bipartite edge coloring."""
    size, sources, targets = demand.size, demand.sources, demand.targets
    keys = sources * size + targets
    preferred = _preferred_by_channel(demand, keys)
    colours = complete(size, demand.channels, sources, targets, _claimed(demand))
    kept = kept_colours(keys, colours, preferred)
    if kept < bound:
        starts = [colours, successive(size, sources, targets, preferred)]
        for start in starts:
            exchange(size, sources, targets, start, preferred)
        colours = max(starts, key=lambda start: kept_colours(keys, start, preferred))
        kept = kept_colours(keys, colours, preferred)
    if kept < bound:
        resettle(size, sources, targets, colours, preferred)
        likes = np.stack([np.isin(keys, wanted) for wanted in preferred], axis=1)
        for _ in range(limits.THETA_ROUNDS):
            if not turned_thetas(size, sources, targets, colours, likes):
                break
            resettle(size, sources, targets, colours, preferred)
    return colours


def _preferred_by_channel(demand: Demand, keys: Integers) -> list[Integers]:
    """Return for every channel the sorted keys of the links that it carries today."""
    wanted = np.unique(keys)
    found = []
    for joined in demand.joined:
        today = np.array(sorted(u * demand.size + v for u, v in joined), np.int64)
        found.append(today[np.isin(today, wanted)])
    return found
