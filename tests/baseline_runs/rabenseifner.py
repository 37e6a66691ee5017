"""Recursive doubling through a switch."""

from tests.baseline_runs.runs import BaselineRun, fastest_run
from tests.baseline_runs.window_sums import window_run
from topoloom.schedules.baselines import rabenseifner
from topoloom.schedules.baselines.operation import Operation


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return recursive doubling with a link per pair of partners, as wide as a host's ports."""
    if rabenseifner.time(nodes, degree, operation) is None:
        return None
    sums = window_run(nodes, degree, 1, operation)
    return fastest_run(lambda _: rabenseifner.doubling(nodes, degree), degree, operation, [sums])
