"""Documents, jobs, sessions and topologies have an owner."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

KINDS = {
    "design": "designs",
    "frontier": "frontiers",
    "topology": "topologies",
    "cost": "costs",
    "optimum": "optima",
    "schedule": "schedules",
    "patch-plan": "patch_plans",
    "export": "exports",
    "verification": "verifications",
    "simulation": "simulations",
    "comparison": "comparisons",
    "plot": "plots",
    "sweep": "sweeps",
}
EVERYONE = "''"
"""The owner of everything that is stored before this revision."""


def upgrade() -> None:
    _document_owners()
    _audit_log()
    _keys()
    op.add_column("lr_sessions", _owner(server_default=""))
    op.add_column("lr_sessions", sa.Column("size", sa.BigInteger(), nullable=False,
                                           server_default="0"))  # fmt: skip
    op.create_index(op.f("ix_lr_sessions_owner_size"), "lr_sessions", ["owner", "size"])
    op.add_column("jobs", sa.Column("size", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute("UPDATE jobs SET size = length(body)")
    op.create_index(op.f("ix_jobs_owner_size"), "jobs", ["owner", "size"])
    _replace("labels", _labels(_owner()), "kind, document_id, owner, label",
             f"kind, document_id, {EVERYONE}, label")  # fmt: skip
    _labels_index()
    kept = "site, version, seen, changed_at"
    _replace("patch_progress", _progress(_owner()), f"plan_id, owner, {kept}",
             f"plan_id, {EVERYONE}, {kept}")  # fmt: skip


def downgrade() -> None:
    # Of the observations of several owners, one remains.
    op.execute("DELETE FROM patch_progress WHERE EXISTS (SELECT 1 FROM patch_progress AS other "
               "WHERE other.plan_id = patch_progress.plan_id "
               "AND other.owner < patch_progress.owner)")  # fmt: skip
    names = "plan_id, site, version, seen, changed_at"
    _replace("patch_progress", _progress(), names, names)
    names = "kind, document_id, label"
    _replace("labels", _labels(), names, f"DISTINCT {names}")
    _labels_index()
    op.drop_index(op.f("ix_lr_sessions_owner_size"), "lr_sessions")
    op.drop_index(op.f("ix_jobs_owner_size"), "jobs")
    for table, columns in (
        ("lr_sessions", ("size", "owner")),
        ("api_keys", ("owner",)),
        ("jobs", ("size",)),
    ):
        # A batch would replace the table, and rows of other tables refer to its rows.
        for column in columns:
            op.drop_column(table, column)
    op.drop_table("audit_log")
    op.drop_table("document_owners")


def _owner(**more: object) -> sa.Column[str]:
    return sa.Column("owner", sa.String(128), nullable=False, **more)


def _document_owners() -> None:
    op.create_table(
        "document_owners",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        _owner(),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "document_id", "owner", name=op.f("pk_document_owners")),
    )
    for kind, table in KINDS.items():
        op.execute(f"INSERT INTO document_owners (kind, document_id, owner, size) "
                   f"SELECT '{kind}', id, {EVERYONE}, size FROM {table}")  # fmt: skip
    names = ["owner", "kind", "size"]
    op.create_index(op.f("ix_document_owners_owner_kind_size"), "document_owners", names)


def _audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        _owner(),
        sa.Column("key", sa.String(8), nullable=False),
        sa.Column("action", sa.String(80), nullable=False),
        sa.Column("target", sa.String(500), nullable=False),
        sa.Column("request_id", sa.String(128), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_at_id"), "audit_log", ["at", "id"])


def _keys() -> None:
    """A key owns what it makes; all keys with the scope admin are one owner."""
    op.add_column("api_keys", sa.Column("owner", sa.String(128), nullable=True))
    op.execute("UPDATE api_keys SET owner = CASE WHEN scopes LIKE '%admin%' THEN 'admin' "
               "ELSE 'key:' || id END")  # fmt: skip
    with op.batch_alter_table("api_keys") as batch:
        batch.alter_column("owner", existing_type=sa.String(128), nullable=False)


def _replace(table: str, columns: list[object], names: str, values: str) -> None:
    """Make a table again with other columns, and copy its rows: SQLite alters no primary key."""
    op.execute(f"CREATE TABLE {table}_before AS SELECT * FROM {table}")
    op.drop_table(table)
    op.create_table(table, *columns)
    op.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM {table}_before")
    op.drop_table(f"{table}_before")


def _labels(*owner: sa.Column[str]) -> list[object]:
    key = ("kind", "document_id", *(column.name for column in owner), "label")
    return [
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("document_id", sa.String(64), nullable=False),
        *owner,
        sa.Column("label", sa.String(100), nullable=False),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_labels")),
    ]


def _labels_index() -> None:
    names = ["kind", "label", "document_id"]
    op.create_index(op.f("ix_labels_kind_label_document_id"), "labels", names)


def _progress(*owner: sa.Column[str]) -> list[object]:
    key = ("plan_id", *(column.name for column in owner))
    return [
        sa.Column("plan_id", sa.String(64), nullable=False),
        *owner,
        sa.Column("site", sa.String(64), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_patch_progress")),
        sa.UniqueConstraint("site", name=op.f("uq_patch_progress_site")),
    ]
