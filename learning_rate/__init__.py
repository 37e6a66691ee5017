"""Learning rates tuned during training: forecasts, a search, and a pure state machine.

The tuner runs AutoLRS (arXiv 2105.10762) as published, or with cheaper and less greedy rules.
`tune` is for a plain PyTorch loop; `TuningCallback` takes a tuner, in process or of a service
(`RemoteTuner`); `callbacks` has adapters for ranks and for frameworks.  The names of ``__all__``
are stable.  This package imports nothing else of Topoloom before `RemoteTuner` is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom.learning_rate.callbacks.loop import TuningCallback
    from topoloom.learning_rate.errors import LearningRateError
    from topoloom.learning_rate.options import Options
    from topoloom.learning_rate.plain_loop import tune
    from topoloom.learning_rate.state_machine.offline_steps import overrun
    from topoloom.learning_rate.state_machine.state import Action, State
    from topoloom.learning_rate.state_machine.transitions import observe, start
    from topoloom.learning_rate.tuner import InProcess, Tuner

    RemoteTuner: Any

__all__ = [
    "Action",
    "InProcess",
    "LearningRateError",
    "Options",
    "RemoteTuner",
    "State",
    "Tuner",
    "TuningCallback",
    "observe",
    "overrun",
    "start",
    "tune",
]

_MODULES = {
    "Action": "learning_rate.state_machine.state",
    "InProcess": "learning_rate.tuner",
    "LearningRateError": "learning_rate.errors",
    "Options": "learning_rate.options",
    "RemoteTuner": "app.client.remote_tuner",
    "State": "learning_rate.state_machine.state",
    "Tuner": "learning_rate.tuner",
    "TuningCallback": "learning_rate.callbacks.loop",
    "observe": "learning_rate.state_machine.transitions",
    "overrun": "learning_rate.state_machine.offline_steps",
    "start": "learning_rate.state_machine.transitions",
    "tune": "learning_rate.plain_loop",
}


def __getattr__(name: str) -> Any:
    # Lazy: option names are needed long before numpy and scipy.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"topoloom.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("topoloom.app"):
            raise
        from topoloom.learning_rate.errors import MissingExtra

        raise MissingExtra(f"/{name}", "needs the client: pip install topoloom") from None
