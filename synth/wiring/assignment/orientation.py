"""Two-way links on duplex ports: which end is plugged as the sender.

Statement.  Let every node have at most K links, K even.  Then the links can be turned such
that every node sends at most K/2 and receives at most K/2.  Proof: join the nodes of odd
degree to one more node; every component then has an Euler circuit; turn links along it.
Every visit of a node uses one link in and one out, so both are half the degree, and a link to
the additional node takes away at most one of them.  Together with König's theorem, every
two-way topology of degree at most K fits K/2 panels whose A sides have one half of the ports
and whose B sides have the other (*cross wiring*), or, the same for every panel, any number of
panels with an even number of ports of each host.  On panels that have one port of each host
it fits only if its graph has an edge coloring with K colors.

References:
    .. [1] J. Petersen, "Die Theorie der regulären graphs", Acta Mathematica 15 (1891).
    .. [2] D. König, "Über Graphen und ihre Anwendung", Mathematische Annalen 77 (1916).
    .. [3] "Cross Wiring", arXiv:2411.01503.
"""

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.wiring.assignment.demand import Demand, Integers
from topoloom.synth.wiring.assignment.flow_assignment import incidence, most_rewarding_amounts


def balanced_directions(size: int, ends: list[tuple[int, int]]) -> list[bool]:
    """Return for every link whether it is turned, so that sums at nodes differ by one at most.

    O(size + links), by Euler circuits.

    >>> balanced_directions(3, [(0, 1), (0, 2), (1, 2)]).count(True) in (1, 2)
    True
    """
    at: list[list[tuple[int, int]]] = [[] for _ in range(size + 1)]
    for index, (u, v) in enumerate(ends):
        at[u].append((index, v))
        at[v].append((index, u))
    links = len(ends)
    for node in range(size):
        if len(at[node]) % 2:
            at[node].append((links, size))
            at[size].append((links, node))
            links += 1
    done = [False] * links
    turned = [False] * len(ends)
    for start in range(size + 1):
        node = start
        while at[node]:
            index, other = at[node].pop()
            if done[index]:
                continue
            done[index] = True
            if index < len(ends):
                turned[index] = ends[index][0] != node
            # Degrees are even: a walk that cannot continue is back at its start.
            node = other
    return turned


def sides(size: int, ends: list[tuple[int, int]]) -> list[bool] | None:
    """Return for every node its side, such that all links go across; None if that cannot be.

    >>> sides(4, [(0, 1), (1, 2)])
    [False, True, False, False]
    >>> sides(3, [(0, 1), (1, 2), (2, 0)]) is None
    True
    """
    near: dict[int, list[int]] = defaultdict(list)
    for u, v in ends:
        near[u].append(v)
        near[v].append(u)
    side: list[bool | None] = [None] * size
    for start in range(size):
        if side[start] is not None:
            continue
        side[start], stack = False, [start]
        while stack:
            node = stack.pop()
            for other in near[node]:
                if side[other] is None:
                    side[other] = not side[node]
                    stack.append(other)
                elif side[other] == side[node]:
                    return None
    return [bool(value) for value in side]


def turned_to_fit(
    demand: Demand, sending: Integers, receiving: Integers
) -> NDArray[np.bool_] | None:
    """Return for every link whether it is turned, so that every node finds room for both.

    Of all ways the one that leaves most links as they are joined today.  ``sending`` and
    ``receiving`` are the room of every node, all channels together; None if there is no way.
    """
    today: Counter[tuple[int, int]] = sum(demand.joined, Counter())
    if not today:
        turned = np.array(balanced_directions(demand.size, demand.links), np.bool_)
        if _within(demand, turned, sending, receiving):
            return turned
    counted = sorted(Counter(demand.links).items())
    u, v = np.array([key for key, _ in counted], np.int64).reshape(-1, 2).T
    count = np.array([number for _, number in counted], np.int64)
    ahead = np.minimum(count, [today[key] for key, _ in counted])
    back = np.minimum(count, [today[key[1], key[0]] for key, _ in counted])
    # Of x links of a pair that are not turned, u sends x and receives count - x; v the other way.
    change = incidence(demand.size, u) - incidence(demand.size, v)
    degree_u, degree_v = incidence(demand.size, u) @ count, incidence(demand.size, v) @ count
    amounts = most_rewarding_amounts(
        count, (ahead, back), change, degree_u - receiving, sending - degree_v
    )
    if amounts is None:
        return None
    straight = {key: amount for (key, _), amount in zip(counted, amounts.tolist(), strict=True)}
    turned = np.zeros(len(demand.sources), np.bool_)
    for index, ends in enumerate(demand.links):
        turned[index] = straight[ends] == 0
        straight[ends] -= int(not turned[index])
    return turned if _within(demand, turned, sending, receiving) else None


def _within(
    demand: Demand, turned: NDArray[np.bool_], sending: Integers, receiving: Integers
) -> bool:
    first = np.where(turned, demand.targets, demand.sources)
    second = np.where(turned, demand.sources, demand.targets)
    out = np.bincount(first, minlength=demand.size)
    into = np.bincount(second, minlength=demand.size)
    return bool((out <= sending).all() and (into <= receiving).all())
