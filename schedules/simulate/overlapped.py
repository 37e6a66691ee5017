"""An allreduce whose trees send down again what their roots have summed up, piece by piece.

The trees of both parts belong together one by one: what tree i sums up, tree i of the second
part sends down.  So its root waits for the same piece only, not for the end of the first part.
"""

import numpy as np

from schedules.errors import InvalidSchedule
from schedules.model import SequenceSchedule, TreeSchedule
from schedules.simulate.messages import Messages, messages_of, tree_of_messages
from synth.topology import Topology

__all__ = ["overlapped_messages"]


def overlapped_messages(schedule: SequenceSchedule, topology: Topology) -> Messages:
    """Return the messages of both parts of an allreduce as those of one pipeline.

    Levels of the second part follow those of the first, so in lock step 2h + P - 1 rounds move P
    pieces over trees of depth h.

    Raises
    ------
    InvalidSchedule
        It is not made of a reduce-scatter and an allgather by trees of the same roots and
        weights, or as `messages_of`.
    """
    parts = [part for part in schedule.parts if isinstance(part, TreeSchedule)]
    if len(parts) != 2 or _division(parts[0]) != _division(parts[1]):
        rule = "must be two parts by trees of the same roots and weights, to overlap"
        raise InvalidSchedule("/parts", rule)
    up, down = (messages_of(part, topology) for part in parts)
    of_up, of_down = (tree_of_messages(part) for part in parts)
    count = len(up.units)
    at_root: dict[int, list[int]] = {tree: [] for tree in range(len(parts[0].trees))}
    needed = set(up.needs.tolist())
    for message, tree in enumerate(of_up):
        # Nothing of its own part waits for what has reached the root.
        if message not in needed:
            at_root[tree].append(message)
    needs = [up.needs[a:b].tolist() for a, b in _ranges(up.need_start)]
    for message, (first, past) in enumerate(_ranges(down.need_start)):
        before = (down.needs[first:past] + count).tolist()
        needs.append(before or at_root[of_down[message]])
    return up._replace(
        units=up.units + down.units,
        hop_start=np.concatenate([up.hop_start, down.hop_start[1:] + up.hop_start[-1]]),
        hops=np.concatenate([up.hops, down.hops]),
        starts=np.concatenate([up.starts, down.starts[1:] + count]),
        need_start=np.cumsum([0, *map(len, needs)]),
        needs=np.array([need for own in needs for need in own], np.int64),
        first_chunk=np.zeros(len(needs), np.int64),
        chunk_count=np.ones(len(needs), np.int64),
    )


def _division(part: TreeSchedule) -> tuple[object, ...]:
    return part.trees_per_root, part.sizes, [(tree.root, tree.weight) for tree in part.trees]


def _ranges(starts: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
