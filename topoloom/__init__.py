"""Topoloom's Python API: topologies, schedules and their times, as values.

>>> import topoloom
>>> best = topoloom.frontier(nodes=12, degree=4).points[0]
>>> print(best.recipe, best.cost.steps, best.cost.bandwidth)
Circulant(12, 2, 3) 2 11/12
>>> gather = topoloom.schedule(best.recipe, "allgather")
>>> topoloom.verify(gather, best.recipe)
[]

Only the names in ``__all__`` are stable; the packages behind them may change.  A *source* is a
`Topology`, a recipe as text or as a value, or the name of a fabric such as ``"dgx-a100-2"``.  Sizes
are bytes or texts such as ``"1MiB"``; rates and latencies have their units in their names.
Functions return the exact values of the packages, never JSON.  Invalid input raises a
``ValueError`` that names the argument and the rule.

Importing this module loads nothing else: numpy, numba and the rest load at the first call.
"""

from typing import TYPE_CHECKING, Any

from topoloom.designs import design, design_boxes, files, runnable
from topoloom.execution import execute, schedule, simulate, verify
from topoloom.iterations import iteration, network_curves
from topoloom.topologies import (
    build,
    compare,
    from_networkx,
    frontier,
    link_values,
    measure,
    optimum,
    read,
    to_networkx,
    write,
)
from topoloom.wiring import plan_moves, plot

if TYPE_CHECKING:
    from topoloom.app.client import Client
    from topoloom.app.client.remote_tuner import RemoteTuner
    from topoloom.app.webhook_signatures import verify_webhook
    from topoloom.schedules.execute.runner import Runner
    from topoloom.synth.topology.topology import Topology

__all__ = [
    "Client",
    "RemoteTuner",
    "Runner",
    "Topology",
    "build",
    "compare",
    "design",
    "design_boxes",
    "execute",
    "files",
    "from_networkx",
    "frontier",
    "iteration",
    "link_values",
    "measure",
    "network_curves",
    "optimum",
    "plan_moves",
    "plot",
    "read",
    "runnable",
    "schedule",
    "simulate",
    "to_networkx",
    "verify",
    "verify_webhook",
    "write",
]

_CLASSES = {
    "Topology": "topoloom.synth.topology.topology",
    "Client": "topoloom.app.client",
    "RemoteTuner": "topoloom.app.client.remote_tuner",
    "Runner": "topoloom.schedules.execute.runner",
    "verify_webhook": "topoloom.app.webhook_signatures",
}


def __getattr__(name: str) -> Any:
    """Load a re-exported class or function on first access."""
    if name == "ways":
        from warnings import warn

        warn("topoloom.ways is now topoloom.compare", DeprecationWarning, stacklevel=2)
        return compare
    if name not in _CLASSES:
        raise AttributeError(f"module 'topoloom' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_CLASSES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
