"""Limits on waits for locks of other processes.

A request waits up to `LOCK_SECONDS` for locks, connections and turns, all its threads together; so
does a job that stores a document.  Elsewhere each statement does.  After a wait that failed, the
waits of all requests are short for some time.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Engine, ExceptionContext, QueuePool, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

LOCK_SECONDS = 5.0
"""Longest wait for a lock that another process holds, or for a connection of the pool."""

LOCKED_SECONDS = 0.2
"""Longest wait for a lock within `LOCKED_FOR` seconds after a wait that failed."""

LOCKED_FOR = 10.0

SHORT_SECONDS = 0.05
"""Longest use of a connection that counts as no wait."""

LEAST_SECONDS = 0.001
"""Wait of a request that has waited `LOCK_SECONDS`; zero is no limit on PostgreSQL."""

LIMIT = "lock_seconds"
"""Name, in ``info`` of a connection, of the limit that the connection has."""

_TAKEN = "taken"
"""Name, in ``info`` of a connection, of the time at which a thread took the connection."""

_LOCK_NOT_AVAILABLE = "55P03"
"""Error code of PostgreSQL for a lock that is not free in time."""


_SETTINGS = {"sqlite": "PRAGMA busy_timeout = %d", "postgresql": "SET lock_timeout = %d"}
"""Statements that set the limit, in milliseconds, by the name of the dialect."""


class _Bound:
    """The seconds that a request may still wait."""

    def __init__(self) -> None:
        self.left = LOCK_SECONDS


_BOUND: ContextVar[_Bound | None] = ContextVar("bound", default=None)


def share_one_bound() -> None:
    """Let this task, and the threads and tasks that it starts, share one bound on waits."""
    _BOUND.set(_Bound())


@contextmanager
def one_bound() -> Iterator[None]:
    """Let all statements of this block share one bound: that of the request, if there is one."""
    if _BOUND.get() is not None:
        yield
        return
    before = _BOUND.set(_Bound())
    try:
        yield
    finally:
        _BOUND.reset(before)


class BoundedPool(QueuePool):
    """Connection pool in which waits for a connection count as waits of the request."""

    # SQLAlchemy names the logger of a pool after its module, and then states each new pool.
    __module__ = QueuePool.__module__

    @property
    def _timeout(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        bound = _BOUND.get()
        return LOCK_SECONDS if bound is None else max(LEAST_SECONDS, bound.left)

    @_timeout.setter
    def _timeout(self, seconds: float) -> None:
        """Ignore the fixed limit of SQLAlchemy."""

    def _do_get(self) -> ConnectionPoolEntry:
        start = time.monotonic()
        try:
            return super()._do_get()
        finally:
            count_wait(time.monotonic() - start)


def count_wait(seconds: float) -> None:
    """Count a wait, of a request, for its turn or a connection."""
    if seconds > SHORT_SECONDS and (bound := _BOUND.get()) is not None:
        bound.left -= seconds


def limit_lock_waits(engine: Engine) -> None:
    """Limit the waits of all connections of an engine."""
    setting, locked_until = _SETTINGS.get(engine.dialect.name), 0.0
    if setting is None:
        return

    def limit(connection: Any, record: Any, _proxy: Any) -> None:
        """Set the limit of a connection from the pool, unless the connection has this limit."""
        record.info[_TAKEN] = now = time.monotonic()
        seconds = LOCKED_SECONDS if now < locked_until else LOCK_SECONDS
        if (bound := _BOUND.get()) is not None:
            seconds = max(LEAST_SECONDS, min(seconds, bound.left))
        if record.info.get(LIMIT) == seconds:
            return
        try:
            connection.execute(setting % round(seconds * 1000))
            if engine.dialect.name != "sqlite":
                connection.commit()
        except Exception as error:
            raise DisconnectionError(str(error)) from error
        record.info[LIMIT] = seconds

    def count(_connection: Any, record: Any) -> None:
        """Count a long use of a connection as a wait of the request."""
        count_wait(time.monotonic() - record.info.pop(_TAKEN, float("inf")))

    def note(context: ExceptionContext) -> None:
        """Record a wait for a lock that failed."""
        nonlocal locked_until
        error = context.original_exception
        is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        if is_busy or getattr(error, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            locked_until = time.monotonic() + LOCKED_FOR

    event.listen(engine, "checkout", limit)
    event.listen(engine, "checkin", count)
    event.listen(engine, "handle_error", note)
