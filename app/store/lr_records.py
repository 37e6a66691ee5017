"""Sessions, observations and replies as values, and as rows of their tables."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from topoloom.app.store.owners import EVERYONE
from topoloom.learning_rate import Action, State
from topoloom.learning_rate.state_machine.json_codec import decode, encode

EXTEND = "extend"  # what the action of a log entry does whose ``steps`` are a new length


@dataclass(frozen=True, slots=True)
class Session:
    """A training job; see `app.store.tables.LrSessionRow`."""

    id: str
    name: str
    status: str
    state: State
    sequence: int
    entries: int
    version: int
    lease: str
    lease_before: str
    seen_at: datetime
    created_at: datetime
    owner: str = EVERYONE
    size: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One observation and its answer; see `app.store.tables.LrObservationRow`."""

    entry: int
    sequence: int
    unasked: bool
    losses: tuple[float, ...]
    action: Action
    stage: int
    trial: int | None
    start: int
    answer: Action
    status: str
    step: int
    spent: int
    created_at: datetime

    @property
    def report(self) -> tuple[str, int | None]:
        """The trainer's report, comparable: NaN is not equal to itself, but its text is."""
        length = self.action.steps if self.action.do == EXTEND else None
        return repr((self.losses, self.unasked)), length


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an observation; a repeated observation gets the same answer."""

    id: str
    status: str
    sequence: int
    action: Action
    step: int
    spent: int


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """An entry of a history: ``kept`` tells whether its steps count.

    ``lr`` is their rate, and ``scales`` are the factors on the rates of groups.
    """

    entry: Entry
    lr: float | None
    kept: bool
    scales: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """The report of a trainer: ``losses`` of the requested action, or of ``unasked`` steps.

    With ``length`` the report is the new length of the run; 0 begins the decay.
    """

    lease: str
    sequence: int
    losses: tuple[float, ...] = ()
    unasked: bool = False
    length: int | None = None

    @property
    def report(self) -> tuple[str, int | None]:
        """The report, comparable to `Entry.report`."""
        return repr((self.losses, self.unasked)), self.length


def session_row(session: Session) -> dict[str, Any]:
    """Return the columns of a session."""
    names = Session.__dataclass_fields__
    return {name: getattr(session, name) for name in names} | {"state": session.state.to_json()}


def entry_row(session: Session, entry: Entry) -> dict[str, Any]:
    """Return the columns of an entry, with the state of the session at the start of a stage."""
    facts = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
    begins = session.state.phase == "save_stage"
    texts = {name: _text(encode(facts[name])) for name in ("losses", "action", "answer")}
    state = session.state.to_json() if begins else None
    return facts | texts | {"session_id": session.id, "state": state}


def _text(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def entry_of(row: Any) -> Entry:
    """Return the entry of a row."""
    facts = {name: row[name] for name in Entry.__dataclass_fields__}
    facts["losses"] = decode(tuple[float, ...], json.loads(row["losses"]))
    for name in ("action", "answer"):
        # Entries of before ratios between parameter groups lack scales.
        facts[name] = decode(Action, {"scales": []} | json.loads(row[name]))
    return Entry(**facts)
