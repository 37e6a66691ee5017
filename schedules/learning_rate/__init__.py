"""Learning rates tuned while training: forecast, search, and a tuner as a pure state machine.

AutoLRS (arXiv 2105.10762) and what makes it cheap and less greedy.  Begin with `Options`
and `machine`; `callbacks` is the trainer's side.  This package imports nothing else of ours.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedules.learning_rate.errors import LearningRateError
    from schedules.learning_rate.machine import observe, start
    from schedules.learning_rate.options import Options
    from schedules.learning_rate.state import Action, State
    from schedules.learning_rate.tuner import InProcess, Tuner
    from schedules.learning_rate.unasked import overrun

__all__ = [
    "Action",
    "InProcess",
    "LearningRateError",
    "Options",
    "State",
    "Tuner",
    "observe",
    "overrun",
    "start",
]

_ROOMS = {
    "Action": "state",
    "InProcess": "tuner",
    "LearningRateError": "errors",
    "Options": "options",
    "State": "state",
    "Tuner": "tuner",
    "observe": "machine",
    "overrun": "unasked",
    "start": "machine",
}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the names of options are wanted long before numpy and scipy are.
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
