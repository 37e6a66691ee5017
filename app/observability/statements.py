"""Observation of database statements.

The dialect of an engine is wrapped, since SQLAlchemy's events before and after a statement take
16 us, half the time of a short statement.
"""

from collections.abc import Callable
from threading import local
from time import perf_counter
from typing import Any, NamedTuple

from sqlalchemy import Engine, event

_EXECUTES = ("do_execute", "do_executemany", "do_execute_no_params")


class Statement(NamedTuple):
    """An executed statement: its text, its seconds, and its error if any."""

    text: str
    seconds: float
    error: BaseException | None


def observe_statements(engine: Engine, observed: Callable[[Statement], None]) -> None:
    """Call ``observed`` after each statement of an engine, in the thread of the statement.

    A failure to connect is a statement without text.

    >>> from sqlalchemy import create_engine, text
    >>> engine, seen = create_engine("sqlite://"), []
    >>> observe_statements(engine, seen.append)
    >>> with engine.connect() as connection:
    ...     connection.execute(text("SELECT 1")).scalar()
    1
    >>> [(one.text, one.error) for one in seen]
    [('SELECT 1', None)]
    >>> engine.dispose()
    """
    running = local()

    def timed(execute: Callable[..., None]) -> Callable[..., None]:
        def run(cursor: Any, statement: str, *given: Any, **named: Any) -> None:
            running.begun = begun = perf_counter()
            execute(cursor, statement, *given, **named)
            observed(Statement(statement, perf_counter() - begun, None))

        return run

    def failed(context: Any) -> None:
        error = context.sqlalchemy_exception or context.original_exception
        now = perf_counter()
        seconds = now - getattr(running, "begun", now) if context.statement else 0.0
        observed(Statement(context.statement or "", seconds, error))

    for name in _EXECUTES:
        setattr(engine.dialect, name, timed(getattr(engine.dialect, name)))
    event.listen(engine, "handle_error", failed)
