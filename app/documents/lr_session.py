"""lr-session/1 and lr-history/1: state and history of a learning-rate tuning session."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Identity, given_members, omitted, renamed_to
from topoloom.app.requests.lr_sessions import Loss
from topoloom.app.requests.options.lr_sessions import AnchorName, MethodName, ValidationName
from topoloom.app.store.lr_records import HistoryPoint, Reply, Session
from topoloom.learning_rate import Action
from topoloom.learning_rate.state_machine.json_codec import encode
from topoloom.learning_rate.state_machine.state import Attempt

StatusName = Literal["running", "finished", "diverged", "cancelled"]
CSV_HEAD = "run,step,lr,loss,stage,trial,kept,unasked\n"


class ActionDocument(Document):
    """The next action of the trainer."""

    type: Literal["set_lr", "continue", "save", "restore", "evaluate", "stop"] = Field(
        description="set_lr, continue: run steps; save, restore: a checkpoint; evaluate: report "
        "the validation loss; stop: end the run"
    )
    do: Literal["set_lr", "go_on", "save", "restore", "evaluate", "stop"] = renamed_to("type")
    lr: float = omitted("set_lr, continue: learning rate")
    steps: int = omitted("set_lr, continue: number of steps before the report", ge=1)
    slot: str = omitted("save, restore: checkpoint")
    scales: list[float] = omitted("set_lr, continue: factor on the rate of each of group_ratios")
    keep: list[str] = omitted("save, restore: checkpoints to keep for a later restore")
    reason: Literal["finished", "diverged"] = omitted("stop: reason")

    @classmethod
    def of(cls, action: Action) -> "ActionDocument":
        """Return the document of an action."""
        members = encode(action).items()
        known = {name: value for name, value in members if value not in (None, 0, [])}
        return cls(type=_type(action), **known)


def _type(action: Action) -> Any:
    return {"go_on": "continue"}.get(action.do, action.do)


class LrReply(Document):
    """The reply to an observation."""

    id: Identity = Field(description="id of the session")
    state: StatusName = Field(description="running until the run ends or is cancelled")
    sequence: int = Field(description="number of the observation", ge=0)
    step: int = Field(
        description="step of the run; if the action is restore, the step after the restore", ge=0
    )
    spent: int = Field(description="total steps, including discarded steps", ge=0)
    action: ActionDocument = Field(description="next action of the trainer")


class LrOptions(Document):
    """The options of the session, with defaults; after a range test, with the interval found."""

    min_lr: float = Field(description="smallest learning rate")
    max_lr: float = Field(description="largest learning rate")
    total_steps: int = Field(description="steps of the kept run")
    method: MethodName = Field(description="topoloom, or paper: AutoLRS as published")
    seed: int = Field(description="seed of the first candidates of the method paper")
    warmup_steps: int = Field(description="steps of linear warm-up")
    warmup_lr: float = Field(description="rate at the end of warm-up")
    tau_min: int = Field(description="length of the first stage, steps")
    tau_max: int = Field(description="length of the longest stage, steps")
    trial_fraction: float = Field(description="length of a trial as a share of its stage")
    side_by_side: int = Field(description="candidates per batch")
    candidates: int = Field(description="limit of rates tried in a stage")
    kappa: float = Field(description="weight of uncertainty in the search")
    validation: ValidationName = Field(description="whether long stages use validation loss")
    eps: float = Field(description="the largest rate within this share of the best gain is chosen")
    anchor: AnchorName = Field(description="shape of the base schedule")
    decay_share: float = Field(description="share of the steps in which wsd decays to zero")
    warm_start: bool = Field(description="whether a stage starts with the last stage's results")
    look_above: bool = Field(description="whether the search uses trials that decay to zero")
    stop_rises: bool = Field(description="whether a clear rise of the loss halves the rate")
    range_test: bool = Field(description="whether trials before the first step find the interval")
    group_ratios: list[str] = Field(
        description="parameter groups whose rates are searched relative to the others"
    )
    max_overhead: float | Literal["inf"] = Field(
        description="limit of discarded steps, as a share of all steps"
    )


class AttemptDocument(Document):
    """A tried rate."""

    rate: float = Field(description="rate; with an anchor, the peak rate")
    status: Literal["running", "finished", "hopeless", "diverged"] = Field(
        description="state of the trial"
    )
    scales: list[float] = omitted("factor on the rate of each of group_ratios")
    steps: int = Field(description="steps of the trial", ge=0)
    forecast: float = omitted("forecast of the loss at the end of the stage")
    deviation: float = omitted("standard deviation of the forecast's error", ge=0)

    @classmethod
    def of(cls, attempt: Attempt) -> "AttemptDocument":
        """Return the document of an attempt, without a forecast that is not finite."""
        numbers = {"forecast": attempt.forecast, "deviation": attempt.deviation}
        known = {n: v for n, v in numbers.items() if v is not None and math.isfinite(v)}
        known |= _scales(attempt.scales)
        return cls(rate=attempt.rate, status=attempt.status, steps=attempt.steps, **known)  # pyright: ignore[reportArgumentType]


class StageDocument(Document):
    """A stage: tried rates and the chosen rate."""

    start: int = Field(description="first step", ge=0)
    tau: int = Field(description="length, steps", ge=0)
    rate: float = omitted("chosen rate; with an anchor, the peak rate")
    scales: list[float] = omitted("chosen factor on the rate of each of group_ratios")
    attempts: list[AttemptDocument] = Field(description="tried rates, in order")


class LrSummary(LrReply):
    """A session in a list."""

    schema_: Literal["lr-session/1"] = Field(
        alias="schema", description="lr-session/1 or lr-history/1"
    )
    name: str = Field(description="name of the job")
    peak: float = omitted("chosen rate of the first stage, the center of later searches")
    options: LrOptions = Field(description="options of the session")
    created_at: datetime = Field(description="creation time, UTC")
    seen_at: datetime = Field(description="time of the last observation or attach, UTC")


class LrSession(LrSummary):
    """A session."""

    stages: list[StageDocument] = Field(description="stages; the last may be running")
    lease: str = omitted("lease for observations; returned by create and attach only")


class LrPage(Document):
    """A page of the list, newest first."""

    items: list[LrSummary] = Field(description="sessions of the page")
    next_cursor: str | None = Field(description="cursor of the next page; null on the last")
    total: int = omitted("number of entries over all pages, with `count=1`", ge=0)


class EntryDocument(Document):
    """One observation."""

    sequence: int = Field(description="number of the observation", ge=1)
    type: str = Field(description="action")
    do: str = renamed_to("type")
    slot: str = omitted("saved or restored checkpoint")
    lr: float = omitted("learning rate of the steps")
    scales: list[float] = omitted("factor on the rate of each of group_ratios")
    stage: int = Field(description="stage number from 0; -1 in the range test and in warm-up")
    trial: int = omitted("candidate number from 0; absent on the kept branch", ge=0)
    step: int = Field(description="step before the observation", ge=0)
    losses: list[Loss] = Field(description="reported losses")
    total_steps: int = omitted("extend: new number of steps; 0: the decay began", ge=0)
    unsolicited: bool = Field(description="whether the steps had no action")
    unasked: bool = renamed_to("unsolicited")
    kept: bool = Field(description="whether the steps belong to the kept run")


class LrHistory(Document):
    """lr-history/1: stages and observations of a session."""

    schema_: Literal["lr-history/1"] = Field(
        alias="schema", description="lr-session/1 or lr-history/1"
    )
    id: Identity = Field(description="id of the session")
    stages: list[StageDocument] = Field(description="stages; the last may be running")
    entries: list[EntryDocument] = Field(description="observations, oldest first")
    next_after: int | None = Field(
        description="value of `after` for the next page; null at the end"
    )


def reply_of(reply: Reply) -> dict[str, Any]:
    """Return the reply to an observation."""
    return LrReply(
        id=reply.id,
        state=reply.status,  # pyright: ignore[reportArgumentType]
        sequence=reply.sequence,
        step=reply.step,
        spent=reply.spent,
        action=ActionDocument.of(reply.action),
    ).given()


def session_of(session: Session, lease: str | None = None) -> dict[str, Any]:
    """Return lr-session/1, with a new lease if given."""
    more = given_members(lease=lease)
    return LrSession(**_summary(session), stages=_stages(session), **more).given()  # pyright: ignore[reportArgumentType]


def page_of(sessions: Sequence[Session], next_cursor: str | None) -> dict[str, Any]:
    """Return a page of the list."""
    items = [LrSummary(**_summary(session)) for session in sessions]
    return {"items": [item.given() for item in items], "next_cursor": next_cursor}


def _summary(session: Session) -> dict[str, Any]:
    state = session.state
    return given_members(peak=state.peak) | {
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
    """Return the completed stages, and the present stage if it has begun."""
    state = session.state
    found = [
        StageDocument(
            start=stage.start,
            tau=stage.tau,
            rate=stage.rate,
            attempts=[AttemptDocument.of(attempt) for attempt in stage.attempts],
            **_scales(stage.scales),  # pyright: ignore[reportArgumentType]
        )
        for stage in state.history
    ]
    if len(found) > state.stage:
        return found
    chosen = state.phase not in ("save_stage", "restore_stage", "trial", "evaluate", "save_trial")
    rate = {"rate": state.rate, **_scales(state.scales)} if chosen and state.rate else {}
    attempts = [AttemptDocument.of(attempt) for attempt in state.attempts]
    return [
        *found,
        StageDocument(start=state.stage_start, tau=state.tau, attempts=attempts, **rate),
    ]


def _scales(scales: Sequence[float]) -> dict[str, list[float]]:
    return {"scales": list(scales)} if scales else {}


def history_of(session: Session, points: Sequence[HistoryPoint], most: int) -> dict[str, Any]:
    """Return lr-history/1 with at most ``most`` observations, and the start of the next page."""
    shown = points[:most]
    return {
        "schema": "lr-history/1",
        "id": session.id,
        "stages": [stage.given() for stage in _stages(session)],
        "entries": [_entry(point) for point in shown],
        "next_after": shown[-1].entry.sequence if len(points) > most else None,
    }


def _entry(point: HistoryPoint) -> dict[str, Any]:
    entry = point.entry
    total = entry.report[1]
    return {
        "sequence": entry.sequence,
        "type": _type(entry.action),
        "do": entry.action.do,
        "stage": entry.stage,
        "step": entry.start,
        "losses": encode(entry.losses),
        "unsolicited": entry.unasked,
        "unasked": entry.unasked,
        "kept": point.kept,
        **_scales(point.scales),
    } | given_members(slot=entry.action.slot, lr=point.lr, trial=entry.trial, total_steps=total)


def csv_rows(session: Session, points: Iterator[HistoryPoint]) -> Iterator[str]:
    """Yield the lines of a history as CSV, one per step.

    ``run`` numbers all steps from 0; ``step`` numbers the steps of the branch.  A session with
    group_ratios has a column more for each of them, ``scale 0`` and so on.
    """
    groups = range(len(session.state.scales))
    yield CSV_HEAD.strip() + "".join(f",scale {group}" for group in groups) + "\n"
    run = 0
    for point in points:
        entry = point.entry
        if point.lr is None and not entry.unasked:
            continue
        trial = "" if entry.trial is None else entry.trial
        more = f"{entry.stage},{trial},{int(point.kept)},{int(entry.unasked)}"
        more += "".join(f",{scale!r}" for scale in point.scales or [""] * len(groups))
        lr = "" if point.lr is None else repr(point.lr)
        for place, loss in enumerate(entry.losses):
            yield f"{run + place},{entry.start + place},{lr},{loss!r},{more}\n"
        run += len(entry.losses)
