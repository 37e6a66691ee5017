"""Make the table of how far patch plans are."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "patch_progress",
        sa.Column("plan_id", sa.String(64), nullable=False),
        sa.Column("site", sa.String(64), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("plan_id", name=op.f("pk_patch_progress")),
        sa.UniqueConstraint("site", name=op.f("uq_patch_progress_site")),
    )


def downgrade() -> None:
    op.drop_table("patch_progress")
