"""Webhooks have a delivery each, with its attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

RENAMED = {"sent": "delivered", "given up": "failed"}
"""State before -> state since."""

RANDOM_ID = {
    "sqlite": "lower(hex(randomblob(16)))",
    "postgresql": "replace(CAST(gen_random_uuid() AS text), '-', '')",
}


def upgrade() -> None:
    _set_aside()
    op.create_table(
        "job_webhooks",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("url", sa.String(2_000), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("log", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_webhooks")),
        sa.UniqueConstraint("job_id", "url", name=op.f("uq_job_webhooks_job_id_url")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_job_webhooks_job_id_jobs")),
    )
    op.create_index(op.f("ix_job_webhooks_state"), "job_webhooks", ["state"])
    fresh = RANDOM_ID[op.get_bind().dialect.name]
    _take_back(f"{fresh}, job_id, url, {_renamed(RENAMED)}, 0, attempts, due, '[]'")


def downgrade() -> None:
    _set_aside()
    op.create_table(
        "job_webhooks",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("url", sa.String(2_000), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "url", name=op.f("pk_job_webhooks")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_job_webhooks_job_id_jobs")),
    )
    op.create_index(op.f("ix_job_webhooks_state_due"), "job_webhooks", ["state", "due"])
    before = {new: old for old, new in RENAMED.items()}
    _take_back(f"job_id, url, {_renamed(before | {'sending': 'waiting'})}, attempts, due")


def _set_aside() -> None:
    """Move the rows to another table, so that constraints keep their names."""
    op.execute("CREATE TABLE job_webhooks_before AS SELECT * FROM job_webhooks")
    op.drop_table("job_webhooks")


def _take_back(columns: str) -> None:
    op.execute(f"INSERT INTO job_webhooks SELECT {columns} FROM job_webhooks_before")
    op.drop_table("job_webhooks_before")


def _renamed(names: dict[str, str]) -> str:
    cases = " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in names.items())
    return f"CASE state {cases} ELSE state END"
