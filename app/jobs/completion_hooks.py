"""Follow-up work of an ended job: queue the jobs that waited for it, cancel unneeded parts."""

from collections.abc import Iterable

from sqlalchemy import Engine

from topoloom.app.jobs import transitions
from topoloom.app.jobs.dbos_queue import Carrier
from topoloom.app.jobs.transitions import Ending


def follow(engine: Engine, carrier: Carrier, endings: Iterable[Ending]) -> None:
    """Queue the jobs that may begin, dequeue the cancelled ones, cancel parts of failed jobs.

    If the process dies midway, the reconciler does the rest.
    """
    found = list(endings)
    carrier.put(due for ending in found for due in ending.ready)
    for ending in found:
        for parent in ending.broken:
            found.extend(transitions.cancel_parts(engine, parent))
    carrier.take_out(ending.out for ending in found if ending.out is not None)
