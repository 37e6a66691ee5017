"""Make one table for each kind of document."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = ("designs", "frontiers", "topologies", "costs", "optima", "schedules", "patch_plans")


def upgrade() -> None:
    for table in TABLES:
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
            sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        )
        op.create_index(op.f(f"ix_{table}_created_at_id"), table, ["created_at", "id"])


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_index(op.f(f"ix_{table}_created_at_id"), table_name=table)
        op.drop_table(table)
