"""Learning-rate sessions: one trainer each, with all observations stored.

The state machine (`learning_rate`) decides; this module adds the identity, order and ownership of
sessions.  The version orders concurrent changes of a session: the later change reads the session
again, and is then a repetition, a gap, or the next observation.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from topoloom.app.config import Settings
from topoloom.app.extras import require_extra
from topoloom.app.store.errors import Ended, Leased, OutOfSequence
from topoloom.app.store.lr_records import (
    EXTEND,
    Entry,
    HistoryPoint,
    Observation,
    Reply,
    Session,
)
from topoloom.app.store.lr_sessions import LrStore
from topoloom.learning_rate import Options, State
from topoloom.learning_rate import observe as next_state
from topoloom.learning_rate import overrun as after_overrun
from topoloom.learning_rate import start as first_state
from topoloom.learning_rate.state_machine.extension import extend_run, shortest
from topoloom.learning_rate.state_machine.state import Action
from topoloom.schedules.errors import TooLarge

PAGE = 1000
"""Most observations in one answer as JSON."""
RUNNING, CANCELLED = "running", "cancelled"
SEARCHING = ("trial", "evaluate", "save_trial")  # phases after which a rate may be proposed


class MustSearch(Exception):
    """The answer may require the fit of a Gaussian process, which this call excludes."""


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Tuning:
    """The store of sessions, the settings, and the clock."""

    store: LrStore
    settings: Settings
    now: Callable[[], datetime] = _now

    def on_behalf_of(self, caller: str) -> "Tuning":
        """Return the same for the sessions that a caller sees."""
        return replace(self, store=self.store.on_behalf_of(caller))


def create(tuning: Tuning, name: str, options: Options) -> tuple[Session, str]:
    """Return a new session, and the lease of its trainer.

    Raises:
        InvalidOptions, TooLarge, MissingExtra: An option is outside its domain, the run exceeds a
            limit of this installation, or scikit-learn is missing.
    """
    require_extra("sklearn", "tune")
    state = first_state(options)
    _require_length(tuning, options.total_steps)
    lease, now = secrets.token_hex(20), tuning.now()
    session = Session(
        secrets.token_hex(32),
        name,
        RUNNING,
        state,
        0,
        0,
        1,
        _digest(lease),
        "",
        now,
        now,
        tuning.store.owner,
    )
    tuning.store.insert(session)
    return session, lease


def attach(
    tuning: Tuning, identity: str, lease: str | None = None, sequence: int | None = None
) -> tuple[Session, str]:
    """Give a session to a trainer; return the session and its new lease.

    Args:
        lease: The present lease, or the previous lease until the first use of the present lease.
            Without either, the session must have been silent for the time of the settings.
        sequence: The trainer continues after this observation; later observations become invalid.

    Raises:
        Leased, Ended, OutOfSequence: Another trainer holds the session, the session is cancelled,
            or the observation does not exist yet.
    """
    while True:
        session = tuning.store.for_change(identity)
        _require_not_cancelled(session)
        before = _lease_given_up(tuning, session, lease)
        if sequence is not None and sequence > session.sequence:
            raise OutOfSequence("/sequence", f"must be at most {session.sequence}, the last known")
        fresh = secrets.token_hex(20)
        after = replace(
            _gone_back(tuning, session, sequence),
            version=session.version + 1,
            lease=_digest(fresh),
            lease_before=before,
            seen_at=tuning.now(),
        )
        if tuning.store.replace(session, after):
            return after, fresh


def observe(
    tuning: Tuning, identity: str, observation: Observation, searching: bool = True
) -> Reply:
    """Store an observation and return the next action of the trainer.

    Raises:
        Ended, Leased, OutOfSequence, InvalidObservation: The session has ended, belongs to another
            trainer, or expects another number; or the losses do not answer its action.  The session
            stays unchanged.
        MustSearch: ``searching`` is false, and the answer may require the fit of a Gaussian
            process.
    """
    while True:
        session = tuning.store.for_change(identity)
        _require_not_cancelled(session)
        if _digest(observation.lease) != session.lease:
            raise Leased("/lease", "must be the session's present one: another trainer has it now")
        if observation.sequence <= session.sequence:
            return _repeated(tuning, session, observation)
        if observation.sequence != session.sequence + 1:
            known = f"{session.sequence} is the last known"
            raise OutOfSequence("/sequence", f"must be {session.sequence + 1}: {known}")
        if session.status != RUNNING and not observation.unasked:
            raise Ended("/id", f"the session has {session.status}")
        if not searching and session.state.phase in SEARCHING:
            raise MustSearch
        _require_length(tuning, observation.length or 0)
        after, entry = _observed(tuning, session, observation)
        if tuning.store.replace(session, after, entry):
            return _reply(session.id, entry)


def extend(tuning: Tuning, identity: str, observation: Observation) -> Session:
    """Give the run of a session another length; return the session.

    The log keeps the length as an observation, so later replays include the change.

    Raises:
        Ended, Leased, OutOfSequence: As in `observe`.
        InvalidOptions, TooLarge: The length cannot change to this value now, or exceeds the limit
            of this installation.
    """
    observe(tuning, identity, observation)
    return tuning.store.get(identity)


def cancel(tuning: Tuning, identity: str) -> Session:
    """End a session, which then accepts no observations.  A repeated call changes nothing.

    Raises:
        Ended: The session has ended otherwise.
    """
    while True:
        session = tuning.store.for_change(identity, ending=True)
        if session.status == CANCELLED:
            return session
        if session.status != RUNNING:
            raise Ended("/id", f"the session has {session.status}")
        after = replace(session, status=CANCELLED, version=session.version + 1)
        if tuning.store.replace(session, after):
            return after


def delete(tuning: Tuning, identity: str) -> None:
    """Delete a session and its log."""
    tuning.store.delete(tuning.store.for_change(identity, ending=True).id)


def _require_not_cancelled(session: Session) -> None:
    if session.status == CANCELLED:
        raise Ended("/id", "the session was cancelled")


def _require_length(tuning: Tuning, total_steps: int) -> None:
    most = tuning.settings.max_lr_steps
    if total_steps > most:
        raise TooLarge("/total_steps", f"must be at most {most} here")


def _digest(lease: str) -> str:
    return sha256(lease.encode()).hexdigest()


def _lease_given_up(tuning: Tuning, session: Session, lease: str | None) -> str:
    """Return the digest of the lease that a new lease replaces, or raise `Leased`.

    The previous lease stays valid until the first use of the present lease: the answer with the
    present lease may have been lost.
    """
    if lease is not None and _digest(lease) == session.lease:
        return session.lease
    if lease is not None and _digest(lease) == session.lease_before:
        return session.lease_before
    free = session.seen_at + timedelta(seconds=tuning.settings.lr_lease_seconds)
    left = (free - tuning.now()).total_seconds()
    if left > 0:
        raise Leased(
            "/lease", f"another trainer holds the session; without its lease wait {left:.0f} s"
        )
    return session.lease


def _repeated(tuning: Tuning, session: Session, observation: Observation) -> Reply:
    known = tuning.store.observed(session, observation.sequence) if observation.sequence else None
    if known is None or known.report != observation.report:
        rule = f"must be {session.sequence + 1}: another observation has this number"
        raise OutOfSequence("/sequence", rule)
    return _reply(session.id, known)


def _observed(tuning: Tuning, session: Session, observation: Observation) -> tuple[Session, Entry]:
    """Return the session after an observation, and its log entry."""
    before, now, action = session.state, tuning.now(), session.state.action
    if observation.length is not None:
        action = Action(EXTEND, steps=observation.length)
    state = _after(before, action, observation.losses, observation.unasked)
    status = state.action.reason or RUNNING
    trying = before.phase in ("restore_stage", *SEARCHING)
    entry = Entry(
        entry=session.entries + 1,
        sequence=observation.sequence,
        unasked=observation.unasked,
        losses=observation.losses,
        action=action,
        stage=before.stage,
        trial=before.trial if trying else None,
        start=before.step,
        answer=state.action,
        status=status,
        step=state.step,
        spent=state.spent,
        created_at=now,
    )
    after = replace(
        session,
        status=status,
        state=state,
        sequence=observation.sequence,
        entries=entry.entry,
        version=session.version + 1,
        lease_before="",
        seen_at=now,
    )
    return after, entry


def _after(state: State, action: Action, losses: tuple[float, ...], unasked: bool) -> State:
    if action.do == EXTEND:
        return extend_run(state, action.steps or shortest(state))
    return after_overrun(state, losses) if unasked else next_state(state, losses)


def _reply(identity: str, entry: Entry) -> Reply:
    return Reply(identity, entry.status, entry.sequence, entry.answer, entry.step, entry.spent)


def _gone_back(tuning: Tuning, session: Session, sequence: int | None) -> Session:
    """Return the session as it was after an observation, recomputed from the log."""
    if sequence is None or sequence == session.sequence:
        return session
    found = tuning.store.snapshot(session, sequence)
    reached, state = found or (0, _first(session.state))
    for entry in tuning.store.log(session, after=reached):
        if entry.sequence > sequence:
            break
        state = _after(state, entry.action, entry.losses, entry.unasked)
    status = state.action.reason or RUNNING
    return replace(session, status=status, state=state, sequence=sequence)


def _first(state: State) -> State:
    """Return the state that the run of a state began with."""
    length = state.first_length or state.settings.total_steps
    return first_state(replace(Options(**asdict(state.settings)), total_steps=length))


def history(tuning: Tuning, session: Session, after: int = 0) -> Iterator[HistoryPoint]:
    """Yield the observations with numbers above ``after``, oldest first.

    A replay of the actions of the trainer finds the kept entries: a checkpoint stores the entries
    before it as a linked list, and a restore drops the entries since.  Time and memory are
    O(entries), without the losses, which are read in batches.
    """
    head: tuple[int, tuple | None] | None = None  # (number, earlier entries)
    slots: dict[str, tuple | None] = {}
    rates: dict[int, tuple[float | None, tuple[float, ...]]] = {}
    lr: float | None = None
    scales: tuple[float, ...] = ()
    for entry in tuning.store.log(session, bare=True):
        action = entry.action
        if entry.unasked or action.do in ("set_lr", "go_on"):
            if not entry.unasked:
                lr, scales = action.lr, action.scales
            head, rates[entry.sequence] = (entry.sequence, head), (lr, scales)
        elif action.slot is not None and action.do == "save":
            slots[action.slot] = head
        elif action.slot is not None:
            head = slots.get(action.slot)
    kept = set()
    while head is not None:
        kept.add(head[0])
        head = head[1]
    for entry in tuning.store.log(session, after):
        lr, scales = rates.get(entry.sequence, (None, ()))
        yield HistoryPoint(entry, lr, entry.sequence in kept, scales)
