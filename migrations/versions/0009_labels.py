"""Known points say by labels within how many steps they cost what they do."""

import sqlalchemy as sa
from alembic import op

from topoloom.app.store.index_metadata import facts_of

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

BATCH = 100
KINDS = {"frontier": "frontiers", "design": "designs"}
"""What tells of labels."""
_POINT = ("kind", "document_id", "position", "within_steps")
_SAID = ("id", "kernel_version", "request", "summary", "media_type", "document")


def upgrade() -> None:
    op.add_column("points", sa.Column("within_steps", sa.Integer(), nullable=True))
    for kind, table in KINDS.items():
        _fill(op.get_bind(), kind, table)


def downgrade() -> None:
    with op.batch_alter_table("points") as batch:
        batch.drop_column("within_steps")


def _fill(connection: sa.Connection, kind: str, table: str) -> None:
    """Read from every stored document which of its points are by labels, some at a time."""
    rows = sa.table(table, *map(sa.column, _SAID))
    points = sa.table("points", *map(sa.column, _POINT))
    query = sa.select(*(rows.c[name] for name in _SAID)).order_by(rows.c.id).limit(BATCH)
    last = ""
    while found := connection.execute(query.where(rows.c.id > last)).all():
        for row in found:
            facts = facts_of(kind, *row[1:])
            for place, point in enumerate(facts.points):
                if point.within_steps is not None:
                    this = (points.c.kind == kind) & (points.c.document_id == row.id)
                    change = sa.update(points).where(this, points.c.position == place)
                    connection.execute(change.values(within_steps=point.within_steps))
        last = found[-1].id
