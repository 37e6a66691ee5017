"""Checks before the first step: what a run of these options needs of the trainer."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.options import Options, Settings
from topoloom.learning_rate.state_machine.json_codec import encode
from topoloom.learning_rate.state_machine.ratio_trials import tries_ratios
from topoloom.learning_rate.state_machine.stage_plan import stage_length, validates
from topoloom.learning_rate.state_machine.state import State
from topoloom.learning_rate.state_machine.transitions import observe, start

ENOUGH = 1000  # discarded steps that pay for a search, whatever its options
MOST_REPORTS = 500  # more than a run has whose allowance is less than `ENOUGH`


class TuningWarning(UserWarning):
    """Training continues, but not as the options suggest."""


def settings_of(tuner: Any) -> Settings | None:
    """Return the settings of a tuner; None where the tuner does not state them."""
    return getattr(tuner, "settings", None)


def check_evaluate(settings: Settings, evaluate: Callable[[], float] | None) -> None:
    """Raise `InvalidOptions` where a stage is judged by validation loss, and none is given."""
    if evaluate is None and any(
        validates(settings, stage) for stage in range(len(stages(settings)))
    ):
        raise InvalidOptions(
            "/evaluate",
            "must be given: these options judge candidates by validation loss; "
            "validation='never' judges them by training loss",
        )


def check_room(settings: Settings, steps: float, field: str) -> None:
    """Raise `InvalidOptions` where a trainer makes fewer steps than the run may need.

    >>> from topoloom.learning_rate import Options
    >>> check_room(Options(1e-4, 1.0, 1000).settled(), 1000, "/max_steps")
    Traceback (most recent call last):
    ...
    topoloom.learning_rate.errors.InvalidOptions: /max_steps: must be at least 1100: 1000 steps \
of total_steps, and up to 100 that the search discards; is 1000
    """
    most = most_steps(settings)
    if steps < most:
        discarded = most - settings.total_steps
        raise InvalidOptions(
            field,
            f"must be at least {most}: {settings.total_steps} steps of total_steps, and up to "
            f"{discarded} that the search discards; is {steps:g}",
        )


def require_same_options(saved: Mapping[str, Any], settings: Settings | None) -> None:
    """Raise `InvalidOptions` for the first option that is another one than in the saved run.

    Options that others set by default come after these.
    """
    known = saved.get("settings") or saved["tuner"].get("settings") or {}
    if known:  # of a save of before ratios between groups
        known = {"group_ratios": [], **known}
    given = encode(settings) or {}
    for name in given:
        if known.get(name, given[name]) != given[name]:
            rule = f"must stay {known[name]}, as in the saved run; is {given[name]}"
            raise InvalidOptions(f"/{name}", rule)


def warn_without_search(settings: Settings) -> None:
    """Warn where the options leave too few steps for a search."""
    if has_search(settings):
        if settings.group_ratios and not has_search(settings, tries_ratios):
            warnings.warn(
                TuningWarning(
                    f"no ratio is searched: {settings.total_steps} steps with max_overhead "
                    f"{settings.max_overhead:g} leave too few for trials of group_ratios. Set a "
                    "larger total_steps or max_overhead"
                ),
                stacklevel=3,
            )
        return
    warnings.warn(
        TuningWarning(
            f"no rate is searched: {settings.total_steps} steps with max_overhead "
            f"{settings.max_overhead:g} leave too few for two trials; the run follows "
            f"anchor {settings.anchor!r} from warmup_lr {settings.warmup_lr:.3g}. Set a larger "
            "total_steps or max_overhead"
        ),
        stacklevel=3,
    )


def _tries_rates(state: State) -> bool:
    return state.phase == "trial"


def has_search(settings: Settings, tries: Callable[[State], bool] = _tries_rates) -> bool:
    """Return whether a run whose loss falls steadily tries a candidate.

    >>> from topoloom.learning_rate import Options
    >>> has_search(Options(1e-4, 1.0, 1000).settled())
    True
    >>> has_search(Options(1e-4, 1.0, 100).settled())
    False
    """
    if settings.allowance is None or settings.allowance >= ENOUGH:
        return True
    state = start(Options(**asdict(settings)))
    for _ in range(MOST_REPORTS):
        if tries(state) or state.action.do == "stop":
            return tries(state)
        runs = state.action.do in ("set_lr", "go_on")
        steps = range(state.spent, state.spent + state.action.steps)
        state = observe(state, [2.0 - step / settings.total_steps for step in steps if runs])
    return True


def most_steps(settings: Settings) -> int:
    """Return the steps that a run has at most, those thrown away included.

    >>> from topoloom.learning_rate import Options
    >>> most_steps(Options(1e-4, 1.0, 1000).settled())
    1100
    >>> most_steps(Options(1e-4, 1.0, 3000, method="paper").settled())
    6000
    """
    if settings.most_steps is not None:
        return settings.most_steps
    trials = (max(1, int(settings.trial_fraction * tau)) for tau in stages(settings))
    return settings.total_steps + settings.candidates * sum(trials)


def stages(settings: Settings) -> list[int]:
    """Return the length of each stage of an undisturbed run."""
    found, step = list[int](), settings.warmup_steps
    while step < settings.total_steps:
        found.append(stage_length(settings, len(found), step))
        step += found[-1]
    return found
