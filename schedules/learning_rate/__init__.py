"""Learning rates tuned while training: forecast, search, and a tuner as a pure state machine.

AutoLRS (arXiv 2105.10762) and what makes it cheap and less greedy.  Begin with `Options`
and `machine`; `callbacks` is the trainer's side.  This package imports nothing else of ours.
"""

from schedules.learning_rate.errors import LearningRateError
from schedules.learning_rate.machine import observe, start
from schedules.learning_rate.options import Options
from schedules.learning_rate.overrun import overrun
from schedules.learning_rate.state import Action, State
from schedules.learning_rate.tuner import InProcess, Tuner

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
