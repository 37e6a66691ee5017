"""Data model of jobs: task, state, and the interface of the function that runs a task."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from topoloom.app.store.artifacts import canonical
from topoloom.app.store.owners import EVERYONE, owner_of

JobId: TypeAlias = str
"""32 hexadecimal characters; they say nothing of the job."""

DEFAULT_PRIORITY = 100
"""Of jobs that somebody waits for; the parts of a sweep come after them."""

MAX_PRIORITY = 1_000
"""Largest number, of what may wait longest; 1 goes first."""


class State(StrEnum):
    """Where a job stands; only ``queued`` and ``running`` can still change.

    >>> [state.value for state in State if not state.ended]
    ['queued', 'running']
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether it stays so for ever."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class Task:
    """An operation of the services, and its request in canonical JSON.

    Two tasks of one ``identity`` are the same work and make the same document.  The identity is
    the id of the document where the id is known beforehand.  ``owner`` is the owner of the job: the
    work reads what this owner sees.

    >>> Task.of("design", {"nodes": 12, "degree": 4}).body
    '{"degree":4,"nodes":12}'
    """

    operation: str
    body: str
    identity: str
    owner: str = ""

    def of_owner(self, owner: str) -> "Task":
        """Return the task for the job of an owner: owners share no jobs, as names differ.

        >>> task = Task.of("design", {})
        >>> task.of_owner("address:127.0.0.1").identity == task.identity
        True
        >>> task.of_owner("key:0a1b2c3d").identity == task.identity
        False
        """
        if owner_of(owner) == EVERYONE:
            return replace(self, owner=owner)
        digest = hashlib.sha256(f"{owner}\n{self.identity}".encode()).hexdigest()
        return replace(self, owner=owner, identity=digest)

    @classmethod
    def of(cls, operation: str, request: Mapping[str, Any], identity: str | None = None) -> "Task":
        """Return the task of a request; without an id it is known by its own digest."""
        body = canonical(request)
        digest = hashlib.sha256(f"{operation}\n{body}".encode()).hexdigest()
        return cls(operation, body, identity or digest)


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands.

    ``progress`` is from 0 to 1 where it is known; ``estimate_seconds`` the median of past
    runs of the operation.  ``made`` is the id of the answer of a job that is done, ``problem``
    the problem+json document of one that failed.  ``revision`` grows with every change;
    ``history`` holds the changes of the state, in the form of `app.jobs.history`.
    """

    id: JobId
    task: Task
    state: State
    owner: str
    priority: int
    revision: int
    progress: float | None
    phase: str
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    estimate_seconds: float | None = None
    made: str | None = None
    problem: Mapping[str, Any] | None = None
    parent: JobId | None = None
    parts: int = 0
    parts_ended: int = 0
    history: str = ""


class Reporting(Protocol):
    """Interface of a running task to its worker: progress and cancellation."""

    @property
    def is_resumed(self) -> bool:
        """Whether a stop interrupted an earlier run of the job."""
        ...

    def progress(self, done: float, phase: str) -> None:
        """Say how much is done, from 0 to 1, and what is being done; cheap, at any rate."""

    def cancelled(self) -> bool:
        """Whether the work shall end now: it is not wanted any more, or the worker stops."""
        ...


Perform: TypeAlias = Callable[[Task, Reporting], str | None]
"""Carries out a task, and leaves the answer in the store.

Returns the id of the answer, None where it is the task's identity.  Raises `Cancelled` when it
ended early because `Reporting.cancelled` said so, and any error of the services otherwise.
A task may be carried out twice, also at the same time: the answer is the same.
"""


class Cancelled(Exception):
    """The work ended early because the job was cancelled or the worker stops."""


class Failed(Exception):
    """The work failed in another process; ``problem`` is its problem+json document."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.problem = problem
        super().__init__(str(problem.get("detail", "")))
