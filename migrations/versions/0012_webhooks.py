"""Webhooks have a delivery each, with its attempts."""

import secrets
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from topoloom.app.jobs.webhooks.targets import host_and_port

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

RENAMED = {"sent": "delivered", "given up": "failed"}
"""State before -> state since."""

BEFORE = {new: old for old, new in RENAMED.items()} | {"sending": "waiting"}


def upgrade() -> None:
    rows = _taken_out()
    table = _made(
        *_kept(),
        *_new(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_webhooks")),
        sa.UniqueConstraint("job_id", "url", name=op.f("uq_job_webhooks_job_id_url")),
    )
    op.create_index(op.f("ix_job_webhooks_state"), "job_webhooks", ["state"])
    op.bulk_insert(table, [_delivery(row) for row in rows])


def downgrade() -> None:
    rows = _taken_out()
    table = _made(
        *_kept(),
        sa.PrimaryKeyConstraint("job_id", "url", name=op.f("pk_job_webhooks")),
    )
    op.create_index(op.f("ix_job_webhooks_state_due"), "job_webhooks", ["state", "due"])
    names = [column.name for column in _kept()]
    op.bulk_insert(
        table, [{name: row[name] for name in names} | _state(BEFORE, row) for row in rows]
    )


def _kept() -> list[sa.Column[Any]]:
    return [
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("url", sa.String(2_000), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
    ]


def _new() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("host", sa.String(300), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("log", sa.JSON(), nullable=False),
    ]


def _taken_out() -> list[Mapping[str, Any]]:
    """Drop the table; return its rows."""
    query = sa.select(sa.text("*")).select_from(sa.table("job_webhooks"))
    rows = op.get_bind().execute(query).mappings().all()
    op.drop_table("job_webhooks")
    return list(rows)


def _made(*parts: Any) -> sa.Table:
    key = op.f("fk_job_webhooks_job_id_jobs")
    return op.create_table(
        "job_webhooks", *parts, sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=key)
    )


def _delivery(row: Mapping[str, Any]) -> dict[str, Any]:
    new = {"id": secrets.token_hex(16), "host": host_and_port(row["url"]), "turn": 0, "log": []}
    return {**row, **new, **_state(RENAMED, row)}


def _state(names: Mapping[str, str], row: Mapping[str, Any]) -> dict[str, str]:
    return {"state": names.get(row["state"], row["state"])}
