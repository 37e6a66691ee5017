"""Breadth-first broadcast on a twisted torus."""

from math import isqrt

from tests.baseline_runs.runs import BaselineRun, fastest_run
from topoloom.schedules.baselines import twisted_torus
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps import bfb
from topoloom.synth.families.torus import TwistedTorus
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the torus and breadth-first broadcast on it."""
    if twisted_torus.time(nodes, degree, operation) is None:
        return None
    made = _broadcast(isqrt(nodes // 2))
    return fastest_run(lambda _: made, degree, operation)


def _broadcast(side: int) -> tuple[Topology, StepSchedule]:
    topology = build(TwistedTorus(2 * side, side, side))
    return topology, bfb.allgather(topology)
