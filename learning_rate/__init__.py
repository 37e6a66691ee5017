"""Learning rates tuned during training: forecasts, a search, and a pure state machine.

The tuner runs AutoLRS (arXiv 2105.10762) as published, or with cheaper and less greedy rules.
Start with `Options` and `tuner`; `callbacks` connects the tuner to a training loop.  This
package imports nothing else of Topoloom.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom.learning_rate.errors import LearningRateError
    from topoloom.learning_rate.options import Options
    from topoloom.learning_rate.state_machine.offline_steps import overrun
    from topoloom.learning_rate.state_machine.state import Action, State
    from topoloom.learning_rate.state_machine.transitions import observe, start
    from topoloom.learning_rate.tuner import InProcess, Tuner

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

_MODULES = {
    "Action": "state_machine.state",
    "InProcess": "tuner",
    "LearningRateError": "errors",
    "Options": "options",
    "State": "state_machine.state",
    "Tuner": "tuner",
    "observe": "state_machine.transitions",
    "overrun": "state_machine.offline_steps",
    "start": "state_machine.transitions",
}


def __getattr__(name: str) -> Any:
    # Lazy: option names are needed long before numpy and scipy.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
