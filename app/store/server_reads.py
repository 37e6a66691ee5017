"""Reads of rows on PostgreSQL from the event loop.

A read in a thread takes four round trips (a test of the connection, BEGIN, SELECT, ROLLBACK), and
waits for the interpreter after each.  Here a read is one round trip on one connection that the
event loop keeps: a fifth of the time, and a quarter of the processor time.
"""

import asyncio
import logging
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, Select, event

from topoloom.app.store.database import connect_arguments, first_line
from topoloom.app.store.lock_waits import count_wait

if TYPE_CHECKING:
    from psycopg import AsyncConnection

log = logging.getLogger(__name__)

READ_SECONDS = 1.0
"""Longest wait for a row; the caller then reads in a thread, which has limits of its own."""

REST_SECONDS = 1.0
"""Time between a failure and the next connection."""


class ServerReads:
    """Reads of rows on one connection to PostgreSQL that only reads.

    No row is found while the connection opens, after a failure, or after `READ_SECONDS`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._texts: dict[Select[*tuple[Any, ...]], tuple[bytes, dict[str, Any]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: AsyncConnection[tuple[Any, ...]] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._rests_until = 0.0
        self._is_away = False
        event.listen(engine, "engine_disposed", self._close)

    async def row(
        self, query: Select[*tuple[Any, ...]], given: dict[str, Any]
    ) -> tuple[Any, ...] | None:
        """Return the only row of a query; None without a row, and where the read must wait."""
        loop = asyncio.get_running_loop()
        connection = self._opened(loop)
        if connection is None:
            return None
        text, constants = self._compiled(query)
        start = time.monotonic()
        cut = loop.call_later(READ_SECONDS, _shut, connection)
        try:
            rows = await (await connection.execute(text, constants | given)).fetchall()
        except self._engine.dialect.loaded_dbapi.Error as error:
            count_wait(time.monotonic() - start)
            self._drop(connection, error)
            return None
        finally:
            cut.cancel()
        return rows[0] if rows else None

    def _compiled(self, query: Select[*tuple[Any, ...]]) -> tuple[bytes, dict[str, Any]]:
        """Return the text of a query, one of a few, and its constants by name."""
        if query not in self._texts:
            compiled = query.compile(dialect=self._engine.dialect)
            self._texts[query] = str(compiled).encode(), dict(compiled.params)
        return self._texts[query]

    def _opened(self, loop: asyncio.AbstractEventLoop) -> "AsyncConnection[tuple[Any, ...]] | None":
        """Return the connection of this loop; begin to open it if there is none."""
        if loop is not self._loop:
            self._close()
            self._loop = loop
        is_open = self._connection is not None
        if not is_open and self._opening is None and time.monotonic() >= self._rests_until:
            self._opening = loop.create_task(self._open())
        return self._connection

    async def _open(self) -> None:
        from psycopg import AsyncConnection, Error

        dialect, url = self._engine.dialect, self._engine.url
        positional, named = dialect.create_connect_args(url)
        try:
            self._connection = await AsyncConnection.connect(
                *positional, **(dict(named) | connect_arguments(url)), autocommit=True
            )
            if self._is_away:
                log.info("reads on the event loop continue")
            self._is_away = False
        except Error as error:
            if not self._is_away:
                log.warning("no connection for reads on the event loop: %s", first_line(error))
            self._is_away = True
            self._rests_until = time.monotonic() + REST_SECONDS
        self._opening = None

    def _drop(self, connection: "AsyncConnection[tuple[Any, ...]]", error: Exception) -> None:
        """Close a connection that failed, once for all that wait for it."""
        connection.pgconn.finish()
        if connection is self._connection:
            log.warning("a read on the event loop failed: %s", first_line(error))
            self._connection, self._rests_until = None, time.monotonic() + REST_SECONDS

    def _close(self, _: Engine | None = None) -> None:
        if self._opening is not None and self._loop is not None and not self._loop.is_closed():
            self._opening.cancel()
        if self._connection is not None:
            self._connection.pgconn.finish()
        self._opening = self._connection = self._loop = None


def _shut(connection: "AsyncConnection[tuple[Any, ...]]") -> None:
    """Let all reads that wait for a connection fail at once; `_drop` then closes it."""
    if not connection.closed:
        with socket.socket(fileno=os.dup(connection.fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)
