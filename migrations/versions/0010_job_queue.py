"""Make the job tables the queue: indexes for the next job, lost workers; drop the old queue."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("losses", sa.Integer(), nullable=False, server_default="0"))
    op.create_index(op.f("ix_jobs_owner_started_at"), "jobs", ["owner", "started_at"])
    op.drop_index("ix_jobs_worker", "jobs")
    _index("ix_jobs_worker", ["worker"], "worker IS NOT NULL")
    due = "flight IS NOT NULL AND worker IS NULL AND parts_ended >= parts"
    _index("ix_jobs_due", ["owner", "priority", "created_at", "id"], due)
    _drop_old_queue(op.get_bind())


def downgrade() -> None:
    op.drop_index("ix_jobs_due", "jobs")
    op.drop_index("ix_jobs_worker", "jobs")
    op.create_index("ix_jobs_worker", "jobs", ["worker"])
    op.drop_index(op.f("ix_jobs_owner_started_at"), "jobs")
    # A batch would replace the table, and rows of other tables refer to its rows.
    op.drop_column("jobs", "losses")


def _index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "jobs", columns, sqlite_where=where, postgresql_where=where)


def _drop_old_queue(connection: sa.Connection) -> None:
    """Drop the separate queue of earlier versions, which they restore from the job tables."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("DROP SCHEMA IF EXISTS topoloom_jobs CASCADE"))
    elif file := connection.engine.url.database:
        for suffix in ("-jobs", "-jobs-wal", "-jobs-shm"):
            Path(file + suffix).unlink(missing_ok=True)
