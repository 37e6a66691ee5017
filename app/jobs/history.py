"""History of a job: every change of its state, one JSON object a line, in a text that grows.

The update that changes the state also appends the line, so that no change lacks its entry.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from topoloom.app.jobs.model import State

HANDED_BACK, LOST = "handed-back", "lost"
"""Outcomes of an attempt after which the job returns to the queue."""


def change(state: State, *, worker: str | None = None, outcome: str | None = None) -> str:
    """Return the line of a change of state, now.

    ``worker`` begins an attempt; ``outcome`` says how an attempt ended, if the state does not.
    """
    facts = {"state": state.value, "at": datetime.now(UTC).replace(tzinfo=None).isoformat()}
    more = {"worker": worker, "outcome": outcome}
    return json.dumps(facts | {name: value for name, value in more.items() if value}) + "\n"


def read(history: str) -> list[dict[str, Any]]:
    """Return the changes of a history, oldest first.

    >>> [one["state"] for one in read(change(State.QUEUED) + change(State.RUNNING, worker="w"))]
    ['queued', 'running']
    """
    changes = [json.loads(line) for line in history.splitlines()]
    return [one | {"at": datetime.fromisoformat(one["at"])} for one in changes]


def attempts(changes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attempts: worker, start, end, outcome; None of the last two while it runs.

    >>> lines = (change(State.RUNNING, worker="a"), change(State.QUEUED, outcome=LOST),
    ...          change(State.RUNNING, worker="b"))
    >>> [(one["worker"], one["outcome"]) for one in attempts(read("".join(lines)))]
    [('a', 'lost'), ('b', None)]
    """
    found = []
    for begun, *rest in (changes[at : at + 2] for at in range(len(changes))):
        if "worker" in begun:
            end = rest[0] if rest else None
            found.append(
                {
                    "worker": begun["worker"],
                    "started_at": begun["at"],
                    "ended_at": end and end["at"],
                    "outcome": end and end.get("outcome", end["state"]),
                }
            )
    return found
