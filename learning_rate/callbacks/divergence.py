"""The end of a run that has diverged: restore a sound checkpoint, and raise or warn."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from topoloom.learning_rate.callbacks.checkpoints import Checkpoints
from topoloom.learning_rate.callbacks.ranks import Ranks
from topoloom.learning_rate.callbacks.start_checks import TuningWarning
from topoloom.learning_rate.errors import Diverged

WAYS = ("raise", "warn")


def all_finite(parameters: Sequence[Any], ranks: Ranks | None) -> bool:
    """Return whether all parameters are finite, on all ranks."""
    finite = all(bool(one.detach().isfinite().all()) for one in parameters)
    return finite if ranks is None else all(ranks.together(lambda: finite))


def restore_sound(
    checkpoints: Checkpoints, safe: str | None, is_finite: Callable[[], bool]
) -> str | None:
    """Restore the safe checkpoint, or the oldest one with finite parameters; return its name."""
    for slot in sorted(checkpoints.slots(), key=lambda slot: slot != safe):
        checkpoints.restore(slot)
        if is_finite():
            return slot
    return None


def say(restored: str | None, way: str) -> None:
    """Raise `Diverged`, or warn where ``way`` is "warn"."""
    told = "no checkpoint is sound" if restored is None else f"checkpoint {restored} is restored"
    error = Diverged("/training", f"has diverged, {told}; begin with a smaller max_lr")
    if way == "raise":
        raise error
    warnings.warn(TuningWarning(str(error)), stacklevel=2)
