"""Slow but obvious: a schedule as the values of its document."""

from typing import Any

from topoloom.schedules.formats.schedule.program import OPS
from topoloom.schedules.formats.schedule.write import _head
from topoloom.schedules.model.schedule import (
    NO_LINK,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)


def to_document(schedule: Schedule) -> dict[str, Any]:
    """Return the document that `write` encodes, as JSON types.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> to_document(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, trees))["trees"]
    [{'root': 0, 'weight': 1, 'edges': [[0, 1]]}, {'root': 1, 'weight': 1, 'edges': [[1, 0]]}]
    """
    head = _head(schedule)
    if isinstance(schedule, SequenceSchedule):
        return head | {"parts": [to_document(part) for part in schedule.parts]}
    if isinstance(schedule, TreeSchedule):
        return head | {
            "trees": [
                {
                    "root": tree.root,
                    "weight": tree.weight,
                    "edges": [list(edge) for edge in tree.edges],
                }
                for tree in schedule.trees
            ]
        }
    if isinstance(schedule, RouteSchedule):
        return head | {
            "routes": [
                {"path": list(route.path), "weight": route.weight} for route in schedule.routes
            ]
        }
    return head | {"steps": [_send_documents(schedule, step) for step in schedule.steps]}


def _send_documents(schedule: StepSchedule, step: Any) -> list[dict[str, Any]]:
    ranks = schedule.ranks
    sends = []
    for source, target, shard, first, count, link, op in step.tolist():
        send = {
            "source": ranks[source],
            "target": ranks[target],
            "shard": ranks[shard],
            "first": first,
            "count": count,
            "op": OPS[op],
        }
        if link != NO_LINK:
            send["link"] = link
        sends.append(send)
    return sends
