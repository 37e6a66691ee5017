"""Choose the method that assigns every link to a channel, near to the assignment of today.

`choose` takes the assignment of today, if it has all links already, or searches by the shape of the
plant:

============================================  ===============================================
plant                                         method
============================================  ===============================================
one channel                                   no choice
one-way, a port each way on a panel at most   edge coloring (`coloring.recoloring`)
one-way, several ports on a panel             one flow per channel (`flow_assignment`)
duplex ports, an even number on every panel   turn the links (`orientation`), then as one-way
duplex ports, an odd number, two-sided        as one-way, from side to side
duplex ports, an odd number on a panel        edge coloring
============================================  ===============================================

Walks of the edge coloring then look for fewer moves than flows, and turned links, have.

Where the search finds nothing, or misses its bound, `routes` has an integer program for small
plants.  All limits are in `topoloom.synth.wiring.limits`.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.wiring.assignment.demand import Choice, Demand, Integers
from topoloom.synth.wiring.assignment.flow_assignment import share_out
from topoloom.synth.wiring.assignment.orientation import balanced_directions, sides, turned_to_fit
from topoloom.synth.wiring.coloring.problem import ColoringProblem
from topoloom.synth.wiring.coloring.recoloring import recolor_least


def choose(demand: Demand) -> tuple[Choice, int] | None:
    """Return an assignment that keeps many links in place, and how many any keeps at most.

    None if the search finds no assignment.
    """
    if not len(demand.sources):
        return Choice.straight(np.zeros(0, np.int64)), 0
    bound = demand.most_kept()
    same = _kept_as_they_are(demand)
    return (same, bound) if same is not None else _searched(demand, bound)


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


def _searched(demand: Demand, bound: int) -> tuple[Choice, int] | None:
    """Return a choice and an upper bound of the links that any choice keeps, or None."""
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
        choice = _turned(demand, bound, sending, receiving, joined)
        if choice is None:
            return None
        found = choice, bound
        ends = demand.sources, demand.targets
        return _moved(demand, ends, demand.sending, found) if shared.all() else found
    return _shared(demand, bound) if shared.all() else None


def _one_way(demand: Demand, bound: int, *, search: bool = True) -> tuple[Choice, int] | None:
    if demand.channels == 1:
        choice = Choice.straight(np.zeros(len(demand.sources), np.int64))
        return (choice, bound) if demand.fits(choice) else None
    room = np.concatenate([demand.sending, demand.receiving], axis=1)
    if (room <= 1).all():
        colored = _colored(demand, (demand.sources, demand.targets + demand.size), room, bound)
        if colored is not None or (room == 1).all():
            return colored
    found = share_out(demand, bound)
    if found is None or not search:
        return found
    return _moved(demand, (demand.sources, demand.targets + demand.size), room, found)


def _moved(
    demand: Demand, ends: tuple[Integers, Integers], room: Integers, found: tuple[Choice, int]
) -> tuple[Choice, int]:
    """Return a choice that keeps as many links as the one that was found, or more, and a bound."""
    choice, bound = found
    if demand.kept(choice) == bound:
        return found
    problem = ColoringProblem(*ends, np.ascontiguousarray(room.T), _liked(demand))
    moved = recolor_least(problem, _claimed(demand), bound, choice.channel)
    if moved is None:
        return found
    return max(choice, Choice.straight(moved[0]), key=demand.kept), moved[1]


def _colored(
    demand: Demand, ends: tuple[Integers, Integers], room: Integers, bound: int
) -> tuple[Choice, int] | None:
    """Color the links: nodes are ends, and ``room`` has a port of each node in each channel."""
    links = np.concatenate(ends)
    if (np.bincount(links, minlength=room.shape[1]) > room.sum(axis=0)).any():
        return None
    problem = ColoringProblem(*ends, np.ascontiguousarray(room.T), _liked(demand))
    found = recolor_least(problem, _claimed(demand), bound)
    return None if found is None else (Choice.straight(found[0]), found[1])


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
    found = _one_way(one_way, bound, search=not all(demand.shared))
    if found is None:
        return None
    channel = np.empty(len(order), np.int64)
    channel[order] = found[0].channel
    return channel


def _shared(demand: Demand, bound: int) -> tuple[Choice, int] | None:
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
        return None if channel is None else (Choice.straight(channel), bound)
    return _colored(demand, (demand.sources, demand.targets), room, bound)


def _turned_evenly(size: int, pairs: Counter[tuple[int, int]]) -> Counter[tuple[int, int]]:
    ends = sorted(pairs.elements())
    turned = balanced_directions(size, ends)
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


def _liked(demand: Demand) -> NDArray[np.bool_]:
    """Return the channels on which each link may stay; shape (links, channels).

    Where a node has several sites in a channel, parallel links share the pairs of today: each may
    stay at its own, unless there are more pairs than links.
    """
    u, v = demand.sources, demand.targets
    if demand.turnable:
        u, v = np.minimum(u, v), np.maximum(u, v)
    keys = u * demand.size + v
    pairs = [[a * demand.size + b for a, b in joined.elements()] for joined in demand.joined]
    likes = np.stack([np.isin(keys, np.array(each, np.int64)) for each in pairs], axis=1)
    if demand.has_several_sites:
        today, wanted = Counter(key for each in pairs for key in each), Counter(keys.tolist())
        own = np.array([today[key] <= wanted[key] for key in keys.tolist()])
        likes[own] = _claimed(demand)[own, None] == np.arange(demand.channels)
    return likes
