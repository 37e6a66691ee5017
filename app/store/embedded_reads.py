"""Reads of rows of an SQLite file from the event loop."""

import sqlite3
from functools import cache
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, Select, event
from sqlalchemy.dialects import sqlite


class EmbeddedReads:
    """Reads of the rows of an SQLite file, on one connection that only reads.

    A read in a thread takes the interpreter again after every call of SQLite; beside threads that
    compute, each time takes up to some milliseconds.  The read itself takes a tenth of one.
    """

    def __init__(self, engine: Engine) -> None:
        url = engine.url
        is_plain = url.get_backend_name() == "sqlite" and not url.query
        self._path = url.database if is_plain and url.database != ":memory:" else None
        self._connection: sqlite3.Connection | None = None
        event.listen(engine, "engine_disposed", self._close)

    async def row(
        self, query: Select[*tuple[Any, ...]], given: dict[str, Any]
    ) -> tuple[Any, ...] | None:
        """Return the only row of a query; None without a row, and where the read must wait."""
        if not self._path:
            return None
        text, constants = _compiled(query)
        try:
            if self._connection is None:
                place = f"file:{quote(self._path)}?mode=ro"
                self._connection = sqlite3.connect(
                    place, timeout=0, isolation_level=None, check_same_thread=False, uri=True
                )
            rows = self._connection.execute(text, constants | given).fetchall()
        except sqlite3.Error:
            return None
        return rows[0] if rows else None

    def _close(self, _: Engine) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@cache
def _compiled(query: Select[*tuple[Any, ...]]) -> tuple[str, dict[str, Any]]:
    """Return the text of a query, one of a few, and its constants by name."""
    compiled = query.compile(dialect=sqlite.dialect(paramstyle="named"))
    return str(compiled), dict(compiled.params)
