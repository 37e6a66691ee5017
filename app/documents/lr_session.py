"""lr-session/1 and lr-history/1: a tuned learning rate, what it knows and what came of it."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, omitted
from topoloom.app.requests.lr_sessions import Loss
from topoloom.app.requests.options.lr_sessions import AnchorName, MethodName, ValidationName
from topoloom.app.store.lr_sessions import Point, Reply, Session
from topoloom.learning_rate import Action
from topoloom.learning_rate.state_machine.json_codec import encode
from topoloom.learning_rate.state_machine.state import Attempt

StatusName = Literal["running", "finished", "diverged", "cancelled"]
CSV_HEAD = "run,step,lr,loss,stage,trial,kept,unasked\n"


class ActionDocument(Document):
    """What the trainer does next, and then reports."""

    do: Literal["set_lr", "go_on", "save", "restore", "evaluate", "stop"] = Field(
        description="set_lr, go_on: run steps; save, restore: a checkpoint; evaluate: tell the "
        "validation loss; stop: the run is over"
    )
    lr: float = omitted("of set_lr and go_on: the rate that is set")
    steps: int = omitted("of set_lr and go_on: how many steps are run before the report", ge=1)
    slot: str = omitted("of save and restore: the checkpoint")
    keep: list[str] = omitted("of save and restore: the checkpoints that may yet be restored")
    reason: Literal["finished", "diverged"] = omitted("of stop: why")

    @classmethod
    def of(cls, action: Action) -> "ActionDocument":
        """Return an action as it travels."""
        told = encode(action).items()
        return cls(**{name: value for name, value in told if value not in (None, 0, [])})


class LrReply(Document):
    """What a trainer is told after an observation."""

    id: Identity = Field(description="of the session")
    state: StatusName = Field(description="running until the run is over or was cancelled")
    sequence: int = Field(description="number of the observation that this answers", ge=0)
    step: int = Field(description="step that the trainer is at", ge=0)
    spent: int = Field(description="steps run in all, those thrown away included", ge=0)
    action: ActionDocument = Field(description="what the trainer does next")


class LrOptions(Document):
    """What was asked for, every default filled in."""

    min_lr: float = Field(description="least rate that is searched")
    max_lr: float = Field(description="largest rate that is searched")
    total_steps: int = Field(description="steps of the run that is kept")
    method: MethodName = Field(description="ours, or AutoLRS as published")
    seed: int = Field(description="of the paper's first candidates")
    warmup_steps: int = Field(description="steps of linear warm-up")
    warmup_lr: float = Field(description="rate at which warm-up ends")
    tau_min: int = Field(description="length of the first stage, steps")
    tau_max: int = Field(description="length of the longest stage, steps")
    trial_fraction: float = Field(description="length of a trial, as a share of its stage")
    side_by_side: int = Field(description="candidates that are chosen at once")
    candidates: int = Field(description="most rates tried in a stage")
    kappa: float = Field(description="weight of uncertainty in the search")
    validation: ValidationName = Field(description="whether long stages use validation loss")
    eps: float = Field(description="share of the best gain within which the largest rate wins")
    anchor: AnchorName = Field(description="the shape that rates are multiples of")
    decay_share: float = Field(description="share of the steps over which wsd goes to zero")
    continue_winner: bool = Field(description="whether the winner's trial goes on")
    stop_hopeless: bool = Field(description="whether candidates clearly behind are given up")
    warm_start: bool = Field(description="whether a stage begins with what is known")
    hold_rate: bool = Field(description="whether smaller rates must promise clearly more")
    look_above: bool = Field(description="whether a rate above warm-up's last is tried first")
    stop_rises: bool = Field(description="whether a loss that rises again halves the rate")
    max_overhead: float | Literal["inf"] = Field(
        description="steps that may be thrown away, as a share of all"
    )


class AttemptDocument(Document):
    """A rate that was tried."""

    rate: float = Field(description="the rate, of an anchor its peak")
    status: Literal["running", "finished", "hopeless", "diverged"] = Field(
        description="how the trial ended"
    )
    steps: int = Field(description="steps that it ran", ge=0)
    forecast: float = omitted("the loss forecast at the end of the stage")
    deviation: float = omitted("standard deviation of the forecast's error", ge=0)

    @classmethod
    def of(cls, attempt: Attempt) -> "AttemptDocument":
        """Return an attempt as it travels; a forecast that is no number is left out."""
        told = {"forecast": attempt.forecast, "deviation": attempt.deviation}
        known = {n: v for n, v in told.items() if v is not None and math.isfinite(v)}
        return cls(rate=attempt.rate, status=attempt.status, steps=attempt.steps, **known)  # pyright: ignore[reportArgumentType]


class StageDocument(Document):
    """A stage: what was tried in it, and the rate it runs at."""

    start: int = Field(description="its first step", ge=0)
    tau: int = Field(description="its length, steps", ge=0)
    rate: float = omitted("the rate that was chosen, of an anchor its peak")
    attempts: list[AttemptDocument] = Field(description="the rates tried, in their order")


class LrSummary(LrReply):
    """A session in a list."""

    schema_: Literal["lr-session/1"] = Field(alias="schema", description="what this document is")
    name: str = Field(description="what people call the job")
    peak: float = omitted("the first stage's winner, around which later ones search")
    options: LrOptions = Field(description="what was asked for")
    created_at: datetime = Field(description="when it was created, UTC")
    seen_at: datetime = Field(description="when its trainer last reported or attached, UTC")


class LrSession(LrSummary):
    """A session."""

    stages: list[StageDocument] = Field(description="the stages so far, the last may be running")
    lease: str = omitted("what the trainer shows with every observation; told once")


class LrPage(Document):
    """A page of the list, newest first."""

    items: list[LrSummary] = Field(description="the sessions of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")


class EntryDocument(Document):
    """One observation."""

    sequence: int = Field(description="its number", ge=1)
    do: str = Field(description="the action that was due")
    slot: str = omitted("the checkpoint that was saved or restored")
    lr: float = omitted("the rate that its steps ran at")
    stage: int = Field(description="the stage, from 0; -1 in warm-up")
    trial: int = omitted("the candidate of the stage, from 0; left out on the kept branch", ge=0)
    step: int = Field(description="the trainer's step before it", ge=0)
    losses: list[Loss] = Field(description="what was reported")
    unasked: bool = Field(description="whether nobody had asked for these steps")
    kept: bool = Field(description="whether these steps are of the run that is kept")


class LrHistory(Document):
    """What was tried, forecast, chosen and observed."""

    schema_: Literal["lr-history/1"] = Field(alias="schema", description="what this document is")
    id: Identity = Field(description="of the session")
    stages: list[StageDocument] = Field(description="the stages so far, the last may be running")
    entries: list[EntryDocument] = Field(description="observations, oldest first")
    next_after: int | None = Field(description="number to go on after; null at the end")


def reply_of(reply: Reply) -> dict[str, Any]:
    """Return the answer to an observation."""
    return LrReply(
        id=reply.id,
        state=reply.status,  # pyright: ignore[reportArgumentType]
        sequence=reply.sequence,
        step=reply.step,
        spent=reply.spent,
        action=ActionDocument.of(reply.action),
    ).given()


def session_of(session: Session, lease: str | None = None) -> dict[str, Any]:
    """Return lr-session/1; with the lease where it was given out just now."""
    more = {} if lease is None else {"lease": lease}
    return LrSession(**_summary(session), stages=_stages(session), **more).given()  # pyright: ignore[reportArgumentType]


def page_of(sessions: Sequence[Session], next_cursor: str | None) -> dict[str, Any]:
    """Return a page of the list."""
    items = [LrSummary(**_summary(session)) for session in sessions]
    return {"items": [item.given() for item in items], "next_cursor": next_cursor}


def _summary(session: Session) -> dict[str, Any]:
    state = session.state
    known = {} if state.peak is None else {"peak": state.peak}
    return known | {
        "schema": "lr-session/1",
        "id": session.id,
        "name": session.name,
        "state": session.status,
        "sequence": session.sequence,
        "step": state.step,
        "spent": state.spent,
        "action": ActionDocument.of(state.action),
        "options": LrOptions(**encode(state.settings)),
        "created_at": session.created_at.replace(tzinfo=UTC),
        "seen_at": session.seen_at.replace(tzinfo=UTC),
    }


def _stages(session: Session) -> list[StageDocument]:
    """Return the stages before, and the present one once it has begun."""
    state = session.state
    found = [
        StageDocument(
            start=stage.start,
            tau=stage.tau,
            rate=stage.rate,
            attempts=[AttemptDocument.of(attempt) for attempt in stage.attempts],
        )
        for stage in state.history
    ]
    if len(found) > state.stage:
        return found
    chosen = state.phase not in ("save_stage", "restore_stage", "trial", "evaluate", "save_trial")
    rate = {"rate": state.rate} if chosen and state.rate is not None else {}
    attempts = [AttemptDocument.of(attempt) for attempt in state.attempts]
    return [
        *found,
        StageDocument(start=state.stage_start, tau=state.tau, attempts=attempts, **rate),
    ]


def history_of(session: Session, points: Sequence[Point], most: int) -> dict[str, Any]:
    """Return lr-history/1 with at most so many observations; of more, where to go on."""
    shown = points[:most]
    return {
        "schema": "lr-history/1",
        "id": session.id,
        "stages": [stage.given() for stage in _stages(session)],
        "entries": [_entry(point) for point in shown],
        "next_after": shown[-1].entry.sequence if len(points) > most else None,
    }


def _entry(point: Point) -> dict[str, Any]:
    entry = point.entry
    told = {"slot": entry.action.slot, "lr": point.lr, "trial": entry.trial}
    return {
        "sequence": entry.sequence,
        "do": entry.action.do,
        "stage": entry.stage,
        "step": entry.start,
        "losses": encode(entry.losses),
        "unasked": entry.unasked,
        "kept": point.kept,
    } | {name: value for name, value in told.items() if value is not None}


def csv_rows(points: Iterator[Point]) -> Iterator[str]:
    """Yield the lines of a history as CSV: one for each step that was run.

    ``run`` counts all steps that were run, from 0; ``step`` those of the branch.
    """
    yield CSV_HEAD
    run = 0
    for point in points:
        entry = point.entry
        if point.lr is None and not entry.unasked:
            continue
        trial = "" if entry.trial is None else entry.trial
        more = f"{entry.stage},{trial},{int(point.kept)},{int(entry.unasked)}"
        lr = "" if point.lr is None else repr(point.lr)
        for place, loss in enumerate(entry.losses):
            yield f"{run + place},{entry.start + place},{lr},{loss!r},{more}\n"
        run += len(entry.losses)
