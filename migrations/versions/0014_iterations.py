"""Training iterations and designs of boxes are stored."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

NEW = ("iterations", "box_designs")
ORDERS = ("nodes", "degree", "steps", "bandwidth", "pinned")


def upgrade() -> None:
    for table in NEW:
        _make(table)


def downgrade() -> None:
    for table in NEW:
        op.drop_table(table)


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
        sa.Column("nodes", sa.Integer(), nullable=True),
        sa.Column("degree", sa.Integer(), nullable=True),
        sa.Column("links", sa.String(16), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=True),
        sa.Column("bandwidth", sa.String(56), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("size", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("used_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    )
    orders = [(column, "created_at", "id") for column in ORDERS]
    for columns in [("created_at", "id"), *orders, ("used_at", "id"), ("size",)]:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))
