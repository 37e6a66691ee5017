"""Make the tables of jobs, of the workers that carry them out, and of sweeps."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _jobs()
    _beside_jobs()
    op.create_table(
        "sweeps",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kernel_version", sa.String(32), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(64), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweeps")),
    )
    op.create_index(op.f("ix_sweeps_created_at_id"), "sweeps", ["created_at", "id"])


def downgrade() -> None:
    for table in ("sweeps", "job_webhooks", "workers", "job_parts", "jobs"):
        op.drop_table(table)


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("operation", sa.String(40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("flight", sa.String(64), nullable=True),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(64), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("phase", sa.String(200), nullable=False),
        sa.Column("cancel_asked", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(128), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("parent", sa.String(32), nullable=True),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.Column("parts_ended", sa.Integer(), nullable=False),
        sa.Column("estimate_seconds", sa.Float(), nullable=True),
        sa.Column("made", sa.String(64), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=True),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("flight", name=op.f("uq_jobs_flight")),
    )
    for columns in (
        ["created_at", "id"],
        ["state", "owner"],
        ["operation", "ended_at"],
        ["worker"],
        ["parent"],
    ):
        op.create_index(op.f(f"ix_jobs_{'_'.join(columns)}"), "jobs", columns)


def _beside_jobs() -> None:
    op.create_table(
        "job_parts",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("part_id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "part_id", name=op.f("pk_job_parts")),
        *(
            sa.ForeignKeyConstraint([name], ["jobs.id"], name=op.f(f"fk_job_parts_{name}_jobs"))
            for name in ("job_id", "part_id")
        ),
    )
    op.create_index(op.f("ix_job_parts_part_id"), "job_parts", ["part_id"])
    op.create_table(
        "workers",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("place", sa.String(200), nullable=False),
        sa.Column("process", sa.String(64), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
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
