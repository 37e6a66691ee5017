"""Deliveries as rows: claimed by one guarded update, recorded, listed, sent again."""

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, select, update

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import NotEnded
from topoloom.app.jobs.model import JobId
from topoloom.app.store.errors import NotStored
from topoloom.app.store.tables import WebhookRow

ATTEMPTS = 8
"""Limit of attempts; with the pauses of `pause`, they take 21 minutes."""

FIRST_PAUSE_SECONDS = 10.0
MAX_LOGGED = 50
MAX_READ_OF_HOST = 200


class DeliveryState(StrEnum):
    """State of a delivery; ``held`` until the job ends, ``failed`` after the last attempt.

    >>> [state.value for state in DeliveryState if state in UNSENT]
    ['waiting', 'sending']
    """

    HELD = "held"
    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"


UNSENT = (DeliveryState.WAITING, DeliveryState.SENDING)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt: seconds since 1970, and the status of the answer or an error."""

    at: float
    status: int | None = None
    error: str | None = None


class Unsent(NamedTuple):
    """A delivery that is not delivered yet, in this turn."""

    id: str
    job: JobId
    url: str
    host: str
    state: DeliveryState
    turn: int
    attempts: int
    due: float


class Claimed(NamedTuple):
    """A delivery that this process sends now, with the log of earlier attempts."""

    id: str
    job: JobId
    url: str
    host: str
    turn: int
    attempts: int
    log: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery as clients see it; ``due`` is set while an attempt is planned."""

    id: str
    job: JobId
    url: str
    state: DeliveryState
    attempts: tuple[Attempt, ...]
    due: float | None


def pause(attempts: int) -> float:
    """Return the seconds from the failure of an attempt to the next attempt.

    >>> [pause(attempts) for attempts in (0, 1, 2, 7)]
    [0.0, 10.0, 20.0, 640.0]
    """
    return FIRST_PAUSE_SECONDS * 2 ** (attempts - 1) if attempts else 0.0


def unsent_deliveries(engine: Engine) -> list[Unsent]:
    """Return the deliveries that wait or are sent now; of each host the least tried ones."""
    place = func.row_number().over(
        partition_by=WebhookRow.host, order_by=(WebhookRow.attempts, WebhookRow.id)
    )
    ranked = (
        select(
            WebhookRow.id,
            WebhookRow.job_id,
            WebhookRow.url,
            WebhookRow.host,
            WebhookRow.state,
            WebhookRow.turn,
            WebhookRow.attempts,
            WebhookRow.due,
            place.label("place"),
        )
        .where(WebhookRow.state.in_(UNSENT))
        .subquery()
    )
    with engine.connect() as connection:
        rows = connection.execute(select(ranked).where(ranked.c.place <= MAX_READ_OF_HOST)).all()
    return [
        Unsent(
            id=row.id,
            job=row.job_id,
            url=row.url,
            host=row.host,
            state=DeliveryState(row.state),
            turn=row.turn,
            attempts=row.attempts,
            due=row.due,
        )
        for row in rows
    ]


def claim(engine: Engine, found: Unsent) -> Claimed | None:
    """Claim a delivery for an attempt; None if the turn is over.

    A process that dies during an attempt leaves no trace of it, so the next claim logs it.
    """
    with engine.begin() as connection:
        row = connection.execute(
            update(WebhookRow)
            .where(WebhookRow.id == found.id, WebhookRow.turn == found.turn)
            .where(WebhookRow.state.in_(UNSENT))
            .values(
                state=DeliveryState.SENDING,
                turn=found.turn + 1,
                attempts=found.attempts + 1,
                due=time.time(),
            )
            .returning(WebhookRow.log)
        ).one_or_none()
    if row is None:
        return None
    lost = Attempt(found.due, error="the sender ended before it knew the answer")
    log = [*row.log, asdict(lost)] if found.state is DeliveryState.SENDING else row.log
    return Claimed(*found[:4], found.turn + 1, found.attempts + 1, log)


def record(engine: Engine, claimed: Claimed, attempt: Attempt) -> DeliveryState:
    """Record an attempt, unless the turn is over; return the state after it."""
    if attempt.error is None:
        state = DeliveryState.DELIVERED
    elif claimed.attempts < ATTEMPTS:
        state = DeliveryState.WAITING
    else:
        state = DeliveryState.FAILED
    with engine.begin() as connection:
        connection.execute(
            update(WebhookRow)
            .where(WebhookRow.id == claimed.id, WebhookRow.turn == claimed.turn)
            .values(
                state=state,
                turn=claimed.turn + 1,
                due=time.time() + pause(claimed.attempts),
                log=[*claimed.log, asdict(attempt)][-MAX_LOGGED:],
            )
        )
    return state


def of_job(engine: Engine, job: JobId) -> list[Delivery]:
    """Return the deliveries of a job, in the order of their URLs."""
    query = select(*WebhookRow.__table__.columns).where(WebhookRow.job_id == job)
    with engine.connect() as connection:
        rows = connection.execute(query.order_by(WebhookRow.url)).all()
    return [
        Delivery(
            row.id,
            row.job_id,
            row.url,
            DeliveryState(row.state),
            tuple(Attempt(**entry) for entry in row.log),
            row.due if row.state == DeliveryState.WAITING else None,
        )
        for row in rows
    ]


def resend(engine: Engine, job: JobId, delivery: str) -> Delivery:
    """Plan new attempts of a delivery, under the same id; a running attempt stays.

    Raises:
        NotStored: The job has no such delivery.
        NotEnded: The job has not ended.
    """
    open_ = (DeliveryState.WAITING, DeliveryState.DELIVERED, DeliveryState.FAILED)
    with engine.begin() as connection:
        connection.execute(
            update(WebhookRow)
            .where(WebhookRow.id == delivery, WebhookRow.job_id == job)
            .where(WebhookRow.state.in_(open_))
            .values(
                state=DeliveryState.WAITING, turn=WebhookRow.turn + 1, attempts=0, due=time.time()
            )
        )
    found = next((one for one in of_job(engine, job) if one.id == delivery), None)
    if found is None:
        raise NotStored("delivery", delivery, "delivery")
    if found.state is DeliveryState.HELD:
        raise NotEnded(queries.read(engine, job).state)
    return found
