"""Documents are found by size, cost, family and label, and are kept or let go by use."""

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from alembic import op

from topoloom.app.store.index_metadata import Facts, facts_of, sortable

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BATCH = 100
KINDS = {
    "topology": "topologies",
    "frontier": "frontiers",
    "design": "designs",
    "cost": "costs",
    "optimum": "optima",
    "schedule": "schedules",
    "patch-plan": "patch_plans",
    "export": "exports",
    "sweep": "sweeps",
}
"""Topologies first: what is about them has facts from them."""
NEW = ("verifications", "simulations", "comparisons", "plots")
ORDERS = ("nodes", "degree", "steps", "bandwidth", "pinned")
HEAD = (
    ("kind", sa.String(16)),
    ("document_id", sa.String(64)),
)


def upgrade() -> None:
    for table in NEW:
        _make(table)
    for table in KINDS.values():
        for column in _columns():
            op.add_column(table, column)
    _make_about("labels", ("label", sa.String(100)))
    _make_about("families", ("family", sa.String(64)))
    _make_about("document_references", ("to_kind", sa.String(16)), ("to_id", sa.String(64)))
    _make_points()
    for kind, table in KINDS.items():
        _fill(op.get_bind(), kind, table)
    for table in (*KINDS.values(), *NEW):
        for column in ORDERS:
            name = op.f(f"ix_{table}_{column}_created_at_id")
            op.create_index(name, table, [column, "created_at", "id"])
        op.create_index(op.f(f"ix_{table}_used_at_id"), table, ["used_at", "id"])
        op.create_index(op.f(f"ix_{table}_size"), table, ["size"])
    _index("labels", "kind", "label", "document_id")
    _index("families", "kind", "family", "document_id")
    _index("document_references", "to_kind", "to_id")
    _index("points", "nodes", "degree", "links")
    _index("points", "topology_id")


def downgrade() -> None:
    for table in ("points", "document_references", "families", "labels", *NEW):
        op.drop_table(table)
    for table in KINDS.values():
        for column in ORDERS:
            op.drop_index(op.f(f"ix_{table}_{column}_created_at_id"), table_name=table)
        op.drop_index(op.f(f"ix_{table}_used_at_id"), table_name=table)
        op.drop_index(op.f(f"ix_{table}_size"), table_name=table)
        with op.batch_alter_table(table) as batch:
            for column in _columns():
                batch.drop_column(column.name)


def _columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("nodes", sa.Integer(), nullable=True),
        sa.Column("degree", sa.Integer(), nullable=True),
        sa.Column("links", sa.String(16), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=True),
        sa.Column("bandwidth", sa.String(56), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("size", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("used_at", sa.DateTime(), nullable=True),
    ]


def _make(table: str) -> None:
    op.create_table(
        table,
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kernel_version", sa.String(32), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(64), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        *_columns(),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    )
    _index(table, "created_at", "id")


def _make_about(table: str, *more: tuple[str, sa.types.TypeEngine[Any]]) -> None:
    columns = (*HEAD, *more)
    op.create_table(
        table,
        *(sa.Column(name, type_, nullable=False) for name, type_ in columns),
        sa.PrimaryKeyConstraint(*(name for name, _ in columns), name=op.f(f"pk_{table}")),
    )


def _make_points() -> None:
    op.create_table(
        "points",
        *(sa.Column(name, type_, nullable=False) for name, type_ in HEAD),
        *_point_columns(),
        sa.PrimaryKeyConstraint("kind", "document_id", "position", name=op.f("pk_points")),
    )


def _point_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("position", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("kernel_version", sa.String(32), nullable=False),
        sa.Column("topology_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=True),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("degree", sa.Integer(), nullable=False),
        sa.Column("links", sa.String(16), nullable=False),
        sa.Column("parallel", sa.Boolean(), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("bandwidth", sa.Text(), nullable=False),
        sa.Column("transpose_steps", sa.Integer(), nullable=False),
        sa.Column("transpose_bandwidth", sa.Text(), nullable=False),
    ]


def _index(table: str, *columns: str) -> None:
    op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))


def _fill(connection: sa.Connection, kind: str, table: str) -> None:
    """Write what is known of every stored document, some at a time."""
    rows = sa.table(table, *(sa.column(name) for name in _ROW))
    # Schedules are large, and their summaries say enough.
    document = rows.c.document if kind in _UNPACKED else sa.literal(None)
    read = [rows.c[name] for name in _SAID]
    size = sa.func.length(rows.c.document).label("length")
    query = sa.select(*read, size, document.label("document")).order_by(rows.c.id).limit(BATCH)
    last = ""
    while found := connection.execute(query.where(rows.c.id > last)).all():
        for row in found:
            document = row.document if isinstance(row.document, bytes) else b""
            facts = facts_of(
                kind, row.kernel_version, row.request, row.summary, row.media_type, document
            )
            values = _values(connection, facts) | {
                "size": (row.length or 0) + len(row.request) + len(row.summary),
                "used_at": row.created_at,
            }
            connection.execute(sa.update(rows).where(rows.c.id == row.id).values(**values))
            _note(connection, kind, row.id, facts)
        last = found[-1].id


_UNPACKED = ("design", "frontier", "cost")
_SAID = ("id", "kernel_version", "request", "summary", "media_type", "created_at")
_ROW = (*_SAID, "document")
_ROW += ("nodes", "degree", "links", "steps", "bandwidth", "size", "used_at")
_INHERITED = ("nodes", "degree", "links")


def _values(connection: sa.Connection, facts: Facts) -> dict[str, Any]:
    values = {name: getattr(facts, name) for name in (*_INHERITED, "steps")}
    values["bandwidth"] = None if facts.bandwidth is None else sortable(facts.bandwidth)
    if facts.topology_id is not None:
        topologies = sa.table("topologies", sa.column("id"), *map(sa.column, _INHERITED))
        query = sa.select(topologies).where(topologies.c.id == facts.topology_id)
        found = connection.execute(query).one_or_none()
        for name in _INHERITED if found is not None else ():
            values[name] = getattr(found, name) if values[name] is None else values[name]
    return values


def _note(connection: sa.Connection, kind: str, identity: str, facts: Facts) -> None:
    head = {"kind": kind, "document_id": identity}
    families = facts.families
    if facts.topology_id is not None:
        query = sa.text(
            "SELECT family FROM families WHERE kind = 'topology' AND document_id = :topology"
        )
        families = connection.execute(query, {"topology": facts.topology_id}).scalars().all()
    _insert(connection, "families", [head | {"family": one} for one in families])
    named = [head | {"to_kind": to, "to_id": one} for to, one in facts.refers_to]
    _insert(connection, "document_references", named)
    # What later columns hold their migrations fill in.
    columns = {column.name for column in _point_columns()}
    points = [
        {name: value for name, value in asdict(point).items() if name in columns}
        for point in facts.points
    ]
    _insert(
        connection,
        "points",
        [head | {"position": place} | point for place, point in enumerate(points)],
    )
    measured = sa.text(
        "UPDATE topologies SET links = :links, steps = :steps, bandwidth = :bandwidth "
        "WHERE id = :topology"
    )
    for point in facts.points:
        values = {"links": point.links, "steps": point.steps, "topology": point.topology_id}
        values["bandwidth"] = sortable(Fraction(point.bandwidth))
        connection.execute(measured, values)


def _insert(connection: sa.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        into = sa.table(table, *map(sa.column, rows[0]))
        connection.execute(sa.insert(into), rows)
