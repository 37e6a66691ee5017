"""Checks what a trainer reports against the action it was given."""

import math
import numbers
from collections.abc import Sequence

from topoloom.learning_rate.errors import InvalidObservation
from topoloom.learning_rate.state_machine.state import Action


def checked_losses(action: Action, losses: Sequence[float]) -> tuple[float, ...]:
    """Return the losses as floats; `InvalidObservation` where they do not answer the action.

    >>> checked_losses(Action("set_lr", lr=0.1, steps=2), [1, math.inf])
    (1.0, inf)
    """
    if action.do == "stop":
        raise InvalidObservation("/losses", "the run has ended")
    if isinstance(losses, str | bytes) or not hasattr(losses, "__len__"):
        raise InvalidObservation("/losses", "must be a list of numbers")
    for place, loss in enumerate(losses):
        if not isinstance(loss, numbers.Real) or isinstance(loss, bool):
            raise InvalidObservation(f"/losses/{place}", "must be a number")
    if action.do in ("save", "restore") and len(losses):
        raise InvalidObservation("/losses", f"must be empty after {action.do}")
    if action.do == "evaluate" and len(losses) != 1:
        raise InvalidObservation("/losses", "must hold one validation loss after evaluate")
    if action.do in ("set_lr", "go_on") and not 1 <= len(losses) <= action.steps:
        raise InvalidObservation("/losses", f"must hold 1 to {action.steps} losses")
    return tuple(_as_float(loss) for loss in losses)


def _as_float(loss: float) -> float:
    try:
        return float(loss)
    except OverflowError:  # a whole number beyond floats
        return math.inf
