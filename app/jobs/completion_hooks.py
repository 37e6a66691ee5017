"""What comes after the end of a job: others begin, or are not wanted any more."""

from collections.abc import Iterable

from sqlalchemy import Engine

from topoloom.app.jobs import transitions
from topoloom.app.jobs.dbos_queue import Carrier
from topoloom.app.jobs.transitions import Ending


def follow(engine: Engine, carrier: Carrier, endings: Iterable[Ending]) -> None:
    """Put in the queue what may begin, take out what shall not, cancel parts of what failed.

    Whoever is killed on the way leaves the rest to the reconciler.
    """
    found = list(endings)
    carrier.put(due for ending in found for due in ending.ready)
    for ending in found:
        for parent in ending.broken:
            found.extend(transitions.cancel_parts(engine, parent))
    carrier.take_out(ending.out for ending in found if ending.out is not None)
