"""Observation of database statements through SQLAlchemy events."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, event


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
    """
    key = object()

    def begun(connection: Connection, *_: Any) -> None:
        connection.info[key] = perf_counter()

    def ended(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        observed(Statement(statement, perf_counter() - connection.info[key], None))

    def failed(context: Any) -> None:
        begun = context.connection.info.get(key) if context.connection is not None else None
        seconds = 0.0 if begun is None else perf_counter() - begun
        error = context.sqlalchemy_exception or context.original_exception
        observed(Statement(context.statement or "", seconds, error))

    event.listen(engine, "before_cursor_execute", begun)
    event.listen(engine, "after_cursor_execute", ended)
    event.listen(engine, "handle_error", failed)
