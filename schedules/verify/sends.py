"""The sends of a step schedule as one array, and the link of each send."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.schedule import NO_LINK, SEND, StepSchedule
from topoloom.synth.topology.topology import Topology


def flat_sends(schedule: StepSchedule) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all sends as one array of dtype `SEND`, and where each step starts.

    ``starts`` has one entry more than there are steps.
    """
    starts = np.zeros(len(schedule.steps) + 1, dtype=np.int64)
    np.cumsum([len(step) for step in schedule.steps], out=starts[1:])
    empty = np.zeros(0, dtype=SEND)
    return np.concatenate([empty, *schedule.steps]), starts


def pair_keys(topology: Topology) -> NDArray[np.int64]:
    """Return rank of source * N + rank of target for each link; -1 at a switch's link."""
    rank = np.full(topology.node_count, -1, dtype=np.int64)
    for index, node in enumerate(topology.compute_nodes):
        rank[topology.position[node]] = index
    source, target = rank[topology.sources], rank[topology.targets]
    keys = source * len(topology.compute_nodes) + target
    keys[(source < 0) | (target < 0)] = -1
    return keys


def sends_off_links(
    topology: Topology, sends: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """Return the sends without a valid link, and the link of each send.

    Between two ranks joined by one link, ``link`` is 0 or NO_LINK.  Between ranks joined by
    parallel links ``link`` must be an index, since loads are counted link by link.

    Returns:
        unjoined: No link joins source and target.
        unchosen: ``link`` is not the index of a link between the two.
        links: Index in ``topology.links``; undefined for unjoined and unchosen sends.
    """
    keys = pair_keys(topology)
    order = np.argsort(keys, kind="stable")
    # Ends beyond the ranks would alias other pairs; -2 is no valid key.
    count = len(topology.compute_nodes)
    source, target = sends["source"].astype(np.int64), sends["target"].astype(np.int64)
    inside = (0 <= source) & (source < count) & (0 <= target) & (target < count)
    wanted = np.where(inside, source * count + target, -2)
    low = np.searchsorted(keys[order], wanted, side="left")
    joined = np.searchsorted(keys[order], wanted, side="right") - low
    chosen = sends["link"].astype(np.int64)
    chosen[(chosen == NO_LINK) & (joined == 1)] = 0
    unjoined = joined == 0
    unchosen = ~unjoined & ((chosen < 0) | (chosen >= joined))
    links = np.zeros(len(sends), dtype=np.int64)
    fine = ~(unjoined | unchosen)
    links[fine] = order[(low + chosen)[fine]]
    return unjoined, unchosen, links
