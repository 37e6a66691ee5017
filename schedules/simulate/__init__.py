"""The time of a schedule in the alpha-beta model: closed forms and a simulation.

`estimate` returns closed forms in floats, `lockstep` the exact closed form of trees.
`simulate` sends every message over every link on an exact integer clock, with or without
synchronous steps.  `Judge` is the judge of all comparisons on a fabric.
"""

from topoloom.schedules.simulate.clock import Network
from topoloom.schedules.simulate.closed_form import (
    MAX_PIPELINE_CHUNKS,
    Estimate,
    estimate,
    tree_depth,
)
from topoloom.schedules.simulate.engine import simulate
from topoloom.schedules.simulate.judge import Judge, JudgedBy, JudgedTime
from topoloom.schedules.simulate.lockstep import Lockstep, lockstep
from topoloom.schedules.simulate.run_messages import MAX_MESSAGES, Simulation

__all__ = [
    "MAX_MESSAGES",
    "MAX_PIPELINE_CHUNKS",
    "Estimate",
    "Judge",
    "JudgedBy",
    "JudgedTime",
    "Lockstep",
    "Network",
    "Simulation",
    "estimate",
    "lockstep",
    "simulate",
    "tree_depth",
]
