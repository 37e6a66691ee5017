"""Limits on waits for locks of other processes.

A statement waits up to `LOCK_SECONDS` for a lock.  After a wait that failed, further waits are
short, so a request with many statements waits long only once.
"""

import sqlite3
import time
from typing import Any

from sqlalchemy import Engine, ExceptionContext, event
from sqlalchemy.exc import DisconnectionError

LOCK_SECONDS = 5.0
"""Longest wait for a lock that another process holds, or for a connection of the pool."""

LOCKED_SECONDS = 0.2
"""Longest wait for a lock within `LOCKED_FOR` seconds after a wait that failed."""

LOCKED_FOR = 10.0

LIMIT = "lock_seconds"
"""Name, in ``info`` of a connection, of the limit that the connection has."""

_LOCK_NOT_AVAILABLE = "55P03"
"""Error code of PostgreSQL for a lock that is not free in time."""


_SETTINGS = {"sqlite": "PRAGMA busy_timeout = %d", "postgresql": "SET lock_timeout = %d"}
"""Statements that set the limit, in milliseconds, by the name of the dialect."""


def limit_lock_waits(engine: Engine) -> None:
    """Limit the waits of all connections of an engine."""
    setting, locked_until = _SETTINGS.get(engine.dialect.name), 0.0
    if setting is None:
        return

    def limit(connection: Any, record: Any, _proxy: Any) -> None:
        """Set the limit of a connection from the pool, unless the connection has this limit."""
        seconds = LOCKED_SECONDS if time.monotonic() < locked_until else LOCK_SECONDS
        if record.info.get(LIMIT) == seconds:
            return
        try:
            connection.execute(setting % round(seconds * 1000))
            if engine.dialect.name != "sqlite":
                connection.commit()
        except Exception as error:
            raise DisconnectionError(str(error)) from error
        record.info[LIMIT] = seconds

    def note(context: ExceptionContext) -> None:
        """Record a wait for a lock that failed."""
        nonlocal locked_until
        error = context.original_exception
        is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        if is_busy or getattr(error, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            locked_until = time.monotonic() + LOCKED_FOR

    event.listen(engine, "checkout", limit)
    event.listen(engine, "handle_error", note)
