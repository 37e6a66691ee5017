"""Moves of a plan if every host had one more port, on one more panel.

Where no port is spare, a new link moves other links: its ends have ports on different panels.  One
port more at every host lets almost all of them stay.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from topoloom.synth.wiring.assignment.assign_channels import choose
from topoloom.synth.wiring.assignment.demand import Demand


class SparePort(NamedTuple):
    """Moves with one more port at every host, and their lower bound, on the same hosts.

    ``moves`` are those of a plan that was made, so no more are needed.
    """

    moves: int
    lower_bound: int


def with_spare_port(demand: Demand) -> tuple[int, int] | None:
    """Return how many links stay with one more channel, and how many stay at most.

    None if a host has a port to spare, or if hosts have duplex ports of which only some can join
    any other.

    A second problem of one more channel: it mostly meets its bound without a walk.

    Two links exchange their targets, and each pair of targets is on a panel of its own.

    >>> links = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> joined = Counter({(0, 1): 1, (1, 1): 1}), Counter({(0, 0): 1, (1, 0): 1})
    >>> room = np.ones((2, 2), np.int64)
    >>> with_spare_port(Demand(2, *links, room, room, (False,) * 2, False, joined))
    (4, 4)
    """
    joinable = all(demand.shared) if demand.turnable else not any(demand.shared)
    if not joinable or not _is_full(demand):
        return None
    one = np.ones((1, demand.size), np.int64)
    roomier = Demand(
        demand.size, demand.sources, demand.targets,
        np.concatenate([demand.sending, one]), np.concatenate([demand.receiving, one]),
        (*demand.shared, demand.turnable), demand.turnable, (*demand.joined, Counter()),
    )  # fmt: skip
    found = choose(roomier)
    return None if found is None else (roomier.kept(found[0]), found[1])


def _is_full(demand: Demand) -> bool:
    """Whether every port of every host is in a link."""
    sources, targets = (
        np.bincount(ends, minlength=demand.size) for ends in (demand.sources, demand.targets)
    )
    if demand.turnable:
        return bool((sources + targets == demand.sending.sum(axis=0)).all())
    sending, receiving = demand.sending.sum(axis=0), demand.receiving.sum(axis=0)
    return bool((sources == sending).all() and (targets == receiving).all())
