"""Make the tables of tuned learning rates: sessions, and the log of their observations."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lr_sessions",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(64), nullable=False),
        sa.Column("lease_before", sa.String(64), nullable=False),
        sa.Column("seen_at", sa.DateTime(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lr_sessions")),
    )
    op.create_index(op.f("ix_lr_sessions_created_at_id"), "lr_sessions", ["created_at", "id"])
    op.create_table(
        "lr_observations",
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("entry", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("unasked", sa.Boolean(), nullable=False),
        sa.Column("losses", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=True),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("spent", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["lr_sessions.id"],
            name=op.f("fk_lr_observations_session_id_lr_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "entry", name=op.f("pk_lr_observations")),
    )
    op.create_index(
        op.f("ix_lr_observations_session_id_sequence_entry"),
        "lr_observations",
        ["session_id", "sequence", "entry"],
    )


def downgrade() -> None:
    op.drop_index(
        op.f("ix_lr_observations_session_id_sequence_entry"), table_name="lr_observations"
    )
    op.drop_table("lr_observations")
    op.drop_index(op.f("ix_lr_sessions_created_at_id"), table_name="lr_sessions")
    op.drop_table("lr_sessions")
