"""Insert the facts of documents into the index tables.

The statements are SQL of SQLite and of PostgreSQL with parameters by name.  SQLAlchemy runs them in
`app.store.document_store`, and the standard library alone in `app.store.embedded_store`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from topoloom.app.store.artifacts import KINDS
from topoloom.app.store.index_metadata import Facts, sortable

if TYPE_CHECKING:
    from sqlalchemy import Connection, TextClause

Rows: TypeAlias = Sequence[Mapping[str, Any]]


class Result(Protocol):
    """The rows that a statement returns."""

    def fetchone(self) -> Sequence[Any] | None:
        """Return the next row, or None."""
        ...


Run: TypeAlias = Callable[[str, Rows], Result]
"""Runs a statement in a transaction, once for each row of parameters."""

_FORMER = tuple(
    f"DELETE FROM {table} WHERE kind = :kind AND document_id = :document_id"
    for table in ("families", "document_references", "points")
)
_INHERIT = """
UPDATE {table} SET
    nodes = coalesce({table}.nodes, topologies.nodes),
    degree = coalesce({table}.degree, topologies.degree),
    links = coalesce({table}.links, topologies.links)
FROM topologies WHERE {table}.id = :document_id AND topologies.id = :topology_id
"""
_INHERIT_FAMILIES = """
INSERT INTO families (kind, document_id, family)
SELECT :kind, :document_id, family FROM families
WHERE kind = 'topology' AND document_id = :topology_id
"""
_MEASURED = """
UPDATE topologies SET links = :links, steps = :steps, bandwidth = :bandwidth
WHERE id = :topology_id AND (steps IS NULL OR links = 'unidirectional')
"""
_KNOWN = "SELECT links, steps, bandwidth FROM points WHERE topology_id = :topology_id LIMIT 1"


def note(run: Run, kind: str, identity: str, facts: Facts) -> None:
    """Insert the facts of a new document in the transaction that inserts the document.

    Replaces earlier facts under this id, except owners and labels.
    """
    head = {"kind": kind, "document_id": identity}
    for delete in _FORMER:
        run(delete, [head])
    insert(run, "families", [head | {"family": name} for name in facts.families])
    references = [head | {"to_kind": to, "to_id": one} for to, one in facts.refers_to]
    insert(run, "document_references", references)
    points = [
        head | {"position": position} | {name: getattr(one, name) for name in one.__slots__}
        for position, one in enumerate(facts.points)
    ]
    insert(run, "points", points)
    if facts.topology_id is not None:
        inherited = head | {"topology_id": facts.topology_id}
        run(_INHERIT.format(table=KINDS[kind]), [inherited])
        run(_INHERIT_FAMILIES, [inherited])
    for one in facts.points:
        _measured(run, one.topology_id, one.links, one.steps, one.bandwidth)
    if kind == "topology":
        # Stored again: other documents may state its cost.
        known = run(_KNOWN, [{"topology_id": identity}]).fetchone()
        if known is not None:
            _measured(run, identity, *known)


def note_owners(run: Run, kind: str, identity: str, owners: Iterable[str], size: int) -> None:
    """Insert the owners of a new document in the transaction that inserts the document."""
    head = {"kind": kind, "document_id": identity, "size": size}
    insert(run, "document_owners", [head | {"owner": owner} for owner in sorted(owners)])


def insert(run: Run, table: str, rows: Rows) -> None:
    """Insert rows, all of the same columns."""
    if rows:
        names = ", ".join(rows[0])
        places = ", ".join(f":{name}" for name in rows[0])
        run(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)


def run_on(connection: "Connection") -> Run:
    """Return the function that runs statements on a connection of SQLAlchemy."""

    def run(statement: str, rows: Rows) -> Result:
        return connection.execute(_parsed(statement), rows if len(rows) > 1 else rows[0])

    return run


@cache
def _parsed(statement: str) -> "TextClause":
    # The command line uses this module without SQLAlchemy.
    from sqlalchemy import text

    return text(statement)


def _measured(run: Run, topology_id: str, links: str, steps: int, bandwidth: str) -> None:
    """Store the measured cost of a topology in its row, for lists."""
    cost = {"links": links, "steps": steps, "bandwidth": sortable(Fraction(bandwidth))}
    run(_MEASURED, [cost | {"topology_id": topology_id}])
