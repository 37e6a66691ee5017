"""A job keeps its attempts and its history."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("history", sa.Text(), nullable=False, server_default=""))
    # Earlier versions kept the times of these states, and not the worker.
    op.execute(
        "UPDATE jobs SET history = "
        f"{_line(repr('queued'), 'created_at')}"
        f" || CASE WHEN started_at IS NULL THEN '' ELSE {_line(repr('running'), 'started_at')} END"
        f" || CASE WHEN ended_at IS NULL THEN '' ELSE {_line('state', 'ended_at')} END"
    )


def downgrade() -> None:
    # A batch would replace the table, and rows of other tables refer to its rows.
    op.drop_column("jobs", "history")


def _line(state: str, moment: str) -> str:
    """Return the SQL of the line of a change of state."""
    return (
        f"""'{{"state": "' || {state} || '", "at": "' || CAST({moment} AS VARCHAR(40)) || '"}}\n'"""
    )
