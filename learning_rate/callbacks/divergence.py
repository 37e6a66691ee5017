"""The end of a run that has diverged: restore a sound checkpoint, and raise or warn."""

import warnings
from collections.abc import Sequence
from typing import Any

from topoloom.learning_rate.callbacks.checkpoints import Checkpoints
from topoloom.learning_rate.callbacks.ranks import Ranks, together
from topoloom.learning_rate.callbacks.start_checks import TuningWarning
from topoloom.learning_rate.errors import Diverged
from topoloom.learning_rate.tuner import Tuner

WAYS = ("raise", "warn")


def end(
    tuner: Tuner, checkpoints: Checkpoints, parameters: Sequence[Any], ranks: Ranks | None, way: str
) -> None:
    """Restore a sound checkpoint if the run ended with a diverged model.

    The safe checkpoint comes first, then the oldest one with finite parameters.  Then raise
    `Diverged`, or warn if ``way`` is "warn".
    """
    if tuner.action.reason != "diverged" and _are_finite(parameters, ranks):
        return
    safe, told = tuner.state_dict().get("safe_slot"), "no checkpoint is sound"
    for slot in sorted(checkpoints.slots(), key=lambda slot: slot != safe):
        checkpoints.restore(slot)
        if _are_finite(parameters, ranks):
            told = f"checkpoint {slot} is restored"
            break
    error = Diverged("/training", f"has diverged, {told}; begin with a smaller max_lr")
    if way == "raise":
        raise error
    warnings.warn(TuningWarning(str(error)), stacklevel=2)


def _are_finite(parameters: Sequence[Any], ranks: Ranks | None) -> bool:
    """Return whether all parameters are finite, on all ranks."""

    def look() -> bool:
        return all(bool(one.detach().isfinite().all()) for one in parameters)

    return all(together(ranks, look))
