"""`State` and `Action` of the tuner, as values and as JSON."""

import json
from dataclasses import dataclass
from typing import Any

from topoloom.learning_rate.errors import InvalidOptions, InvalidState
from topoloom.learning_rate.options import Settings
from topoloom.learning_rate.state_machine.former_states import in_present_version
from topoloom.learning_rate.state_machine.json_codec import decode, encode

VERSION = 12
UNTRAINED = "safe-0"  # the name of the checkpoint before the first step of warm-up
FLAT_START, FLAT_END = "flat-start", "flat-end"  # those around steps that are compared
PHASES = (
    "warm_up",
    "save_stage",
    "restore_stage",
    "trial",
    "evaluate",
    "save_trial",  # of a search that version 11 or before has begun
    "restore_winner",
    "exploit",
    "save_safe",
    "restore_safe",
    "save_flat",
    "restore_flat",
    "done",
)


@dataclass(frozen=True, slots=True)
class Action:
    """The next action of the trainer, which it then reports.

    ``do`` is one of

    - ``set_lr``: set the rate to ``lr``, then run ``steps`` steps; report their losses, all at
      once or a few at a time;
    - ``go_on``: run ``steps`` more steps at the rate that is set; report likewise;
    - ``save``: keep a checkpoint of everything under the name ``slot``; report nothing;
    - ``restore``: go back to checkpoint ``slot``, which is kept; report nothing;
    - ``evaluate``: report one validation loss;
    - ``stop``: the run is over, ``reason`` is "finished" or "diverged".

    ``scales`` are the factors on the rates of the groups of `Options.group_ratios`, in their order,
    wherever there is a rate; empty where no group is named.
    ``keep`` names the checkpoints that may be restored later; others can be dropped.
    """

    do: str
    lr: float | None = None
    steps: int = 0
    slot: str | None = None
    keep: tuple[str, ...] = ()
    reason: str | None = None
    scales: tuple[float, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the action as JSON.

        >>> Action("set_lr", lr=0.1, steps=5).document()["lr"]
        0.1
        """
        return encode(self)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate: ``status`` is running, finished or diverged.

    ``losses`` are those of its training steps, ``evaluations`` its validation losses;
    ``forecast`` and ``deviation`` are known when it has ended; ``scales`` as in `Action`.
    """

    rate: float
    slot: str
    status: str = "running"
    steps: int = 0
    losses: tuple[float, ...] = ()
    evaluations: tuple[float, ...] = ()
    forecast: float | None = None
    deviation: float | None = None
    scales: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that was searched or passed over: what was tried, and what it ran at."""

    start: int
    tau: int
    rate: float
    attempts: tuple[Attempt, ...]
    scales: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class RateCheck:
    """The check of a rate at which the run went wrong (`learning_rate.state_machine.rate_checks`).

    steps : the steps from the safe checkpoint to the place where the run went wrong.
    exploded : the run exploded there; otherwise its loss rose.
    again : training begins again with the untrained model if the rate is the cause.
    rate, peak, ceiling : those in use there.
    loss : the mean of the last losses there.
    start : the step at which the check began.
    """

    steps: int
    exploded: bool
    again: bool
    rate: float
    peak: float | None
    ceiling: float | None
    loss: float
    start: int = 0


@dataclass(frozen=True, slots=True)
class FlatStart:
    """A comparison of the kept branch with another one.

    The other one is the untrained model, where the loss may never have fallen
    (`learning_rate.state_machine.flat_starts`), or has a lower rate, where a search has raised the
    rate far (`learning_rate.state_machine.raised_rates`).

    floor : the least level of up to some steps after warm-up; None before.
    start, end : between which the model runs that is compared; None before.
    steps : the steps of the comparison, of each of the two models.
    losses : the last ones of the model.
    rate, peak : those in use at the start.
    lower : the lower rate; None for the untrained model.
    """

    floor: float | None = None
    start: int | None = None
    end: int | None = None
    steps: int = 0
    losses: tuple[float, ...] = ()
    rate: float | None = None
    peak: float | None = None
    lower: float | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Everything the tuner knows; immutable.

    step : steps of the trainer's model since the start of the run; if the action is a restore,
        those after the restore.
    spent : steps run in all; ``spent - step`` of them were thrown away.
    stage, stage_start, tau : index, first step and length of the present stage.
    trial_steps, purse : how long its trials are, and how many steps all may take.
    until : the step at which the present trial, or the stage, ends.
    rate : what the stage before ran at, or this one runs at; a peak where there is an anchor.
    peak : the first stage's winner, around which later ones search.
    looking : the present trials decay to zero (`learning_rate.state_machine.decayed_trials`).
    attempts : candidates of the present stage, the last may be running.
    round : rates that were chosen together with the last candidate's and are tried next.
    round_start : index of the first candidate that was chosen together with the last one.
    history : the stages before; their attempts no longer hold their losses.
    first, recent : the run's first losses, and its latest.
    bad : how many losses in a row were not usable or had exploded.
    lr : the rate that the trainer has set; None where it must be set again.
    floor : the least level of the kept branch's losses (`divergence_detector`).
    warm_until : the step at which warm-up has ended early; None where it has not.
    ceiling : the rate at which warm-up had to end early, above which nothing is searched.
    safe_slot, safe_step : the checkpoint to go back to when training diverges.
    new_slot, new_step : the latest one, not known to be safe before some good losses follow.
    first_length : the steps that the run began with; None before its length changes.
    tested : the trials of the range test, without their losses.
    scales : the factors in use on the rates of the groups of `Options.group_ratios`.
    base : index of the attempt that trials of ratios are first compared with
        (`learning_rate.state_machine.ratio_trials`); None where no ratios are tried.
    untrained : the checkpoint `UNTRAINED` may be kept, to begin again from once.
    begun : the step at which training began, again after a rise early in the run.
    check : the running check of a rate at which the run went wrong.
    times_cleared : how often such a check found that it was the data.
    flat : the next comparison of the kept branch with another one; None where there is none.
    """

    version: int
    settings: Settings
    phase: str
    action: Action
    step: int = 0
    spent: int = 0
    stage: int = -1
    stage_start: int = 0
    tau: int = 0
    trial_steps: int = 0
    purse: int = 0
    until: int = 0
    rate: float | None = None
    peak: float | None = None
    looking: bool = False
    attempts: tuple[Attempt, ...] = ()
    round: tuple[float, ...] = ()
    round_start: int = 0
    history: tuple[Stage, ...] = ()
    first: tuple[float, ...] = ()
    recent: tuple[float, ...] = ()
    bad: int = 0
    lr: float | None = None
    floor: float | None = None
    warm_until: int | None = None
    ceiling: float | None = None
    safe_slot: str | None = None
    safe_step: int = 0
    new_slot: str | None = None
    new_step: int = 0
    first_length: int | None = None
    tested: tuple[Attempt, ...] = ()
    scales: tuple[float, ...] = ()
    base: int | None = None
    untrained: bool = False
    begun: int = 0
    check: RateCheck | None = None
    times_cleared: int = 0
    flat: FlatStart | None = None

    @property
    def runs_other(self) -> bool:
        """Whether the other branch of a comparison runs, or is about to."""
        return self.flat is not None and self.flat.end is not None

    @property
    def stage_slot(self) -> str:
        """The name of the checkpoint that the present stage's candidates start from."""
        return "range" if self.stage < 0 else f"stage-{self.stage}"

    @property
    def trial(self) -> int:
        """The number of the present trial in its stage, from 0."""
        return len(self.attempts) - 1

    @property
    def scales_in_use(self) -> tuple[float, ...]:
        """The factors on the rates of groups at the present step, those of a running trial."""
        return self.attempts[-1].scales if self.phase == "trial" else self.scales

    @property
    def discarded(self) -> int:
        """Steps that were run and thrown away, those of a running trial included."""
        trying = ("trial", "evaluate", "save_trial", "restore_stage")
        return self.spent - (self.stage_start if self.phase in trying else self.step)

    def document(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return encode(self)

    def to_json(self) -> str:
        """Return the state as one line of JSON, keys sorted, no NaN."""
        return json.dumps(self.document(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "State":
        """Return the state of a text; `InvalidState` names the field that is wrong."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidState("", "must be JSON") from None
        return cls.from_document(document)

    @classmethod
    def from_document(cls, document: Any) -> "State":
        """Return the state of a JSON document."""
        if not isinstance(document, dict):
            raise InvalidState("", "must be an object")
        document = in_present_version(document)
        if document.get("version") != VERSION:
            raise InvalidState("/version", f"must be 1 to {VERSION}")
        state = decode(cls, document)
        try:
            state.settings.check()
        except InvalidOptions as error:
            raise InvalidState(f"/settings{error.field}", error.rule) from None
        if state.phase not in PHASES:
            raise InvalidState("/phase", f"must be one of {', '.join(PHASES)}")
        if not 0 <= state.step <= state.spent or state.step > state.settings.total_steps:
            raise InvalidState("/step", "must be at most spent and settings/total_steps")
        if len(state.scales) != len(state.settings.group_ratios):
            raise InvalidState("/scales", "must be one for each of settings/group_ratios")
        return state
