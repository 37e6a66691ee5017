"""Lists of stored documents as one owner sees them: pages, id prefixes, names."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Select

from topoloom.app.store.artifacts import Listed
from topoloom.app.store.listing import Wanted, entries, page, rows_with_labels, total
from topoloom.app.store.owners import EVERYONE, search_conditions
from topoloom.app.store.row_mapping import NAMED
from topoloom.app.store.tables import TABLES, TopologyRow


class DocumentLists:
    """Lists of the documents that ``owner`` sees; see `app.store.owners`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.owner = EVERYONE

    def beginning(self, kind: str, prefix: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` entries whose ids begin with a prefix, by id.

        ``prefix`` has lower case hexadecimal characters.  The query is a range of the primary key.
        Documents of the owner come before shared documents (`app.store.owners.search_conditions`).
        """
        table = TABLES[kind]
        # The next character of an id is hexadecimal, thus below "g".
        within = (table.id >= prefix, table.id < prefix + "g")
        query = entries(table).where(*within).order_by(table.id).limit(limit)
        return self._searched(kind, query)

    def named(self, name: str, limit: int) -> list[Listed]:
        """Return up to ``limit`` topologies of this name, newest first: own, else shared ones."""
        table = TopologyRow
        query = entries(table).where(table.name == name)
        query = query.order_by(table.created_at.desc(), table.id).limit(limit)
        return self._searched(NAMED, query)

    def page(
        self, kind: str, limit: int, cursor: str | None, wanted: Wanted | None = None
    ) -> tuple[list[Listed], str | None]:
        """Return up to ``limit`` entries, and the cursor of the next page; see `app.store.listing`.

        Raises:
            InvalidCursor: The cursor is not from an earlier page of a list in the same order.
        """
        with self._engine.connect() as connection:
            return page(connection, kind, limit, cursor, wanted or Wanted(), self.owner)

    def total(self, kind: str, wanted: Wanted) -> int:
        """Return the number of entries over all pages of a list."""
        with self._engine.connect() as connection:
            return total(connection, kind, wanted, self.owner)

    def _searched(self, kind: str, query: Select[*tuple[Any, ...]]) -> list[Listed]:
        rows: Sequence[Any] = ()
        with self._engine.connect() as connection:
            for condition in search_conditions(self.owner, kind, TABLES[kind].id):
                narrowed = query if condition is None else query.where(condition)
                rows = rows or connection.execute(narrowed).all()
            return rows_with_labels(connection, kind, rows, self.owner)
