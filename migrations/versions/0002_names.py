"""Topologies have a name of their own, short enough to type, and are found by it."""

import json

import sqlalchemy as sa
from alembic import op

from topoloom.synth.errors import SynthError
from topoloom.synth.naming.short_names import short_name, shortened
from topoloom.synth.recipes.build import size
from topoloom.synth.recipes.recipe import parse

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BATCH = 500

topologies = sa.table(
    "topologies",
    sa.column("id", sa.String),
    sa.column("request", sa.Text),
    sa.column("summary", sa.Text),
    sa.column("name", sa.String),
)


def upgrade() -> None:
    column = sa.Column("name", sa.String(80), nullable=False, server_default="")
    op.add_column("topologies", column)
    _fill(op.get_bind())
    op.create_index(op.f("ix_topologies_name"), "topologies", ["name"])


def downgrade() -> None:
    op.drop_index(op.f("ix_topologies_name"), table_name="topologies")
    op.drop_column("topologies", "name")


def _fill(connection: sa.Connection) -> None:
    """Name every topology; lists show the name, too."""
    last = ""
    query = sa.select(topologies).order_by(topologies.c.id).limit(BATCH)
    while rows := connection.execute(query.where(topologies.c.id > last)).all():
        for row in rows:
            summary = json.loads(row.summary)
            summary["name"] = _name(json.loads(row.request), summary)
            connection.execute(
                sa.update(topologies)
                .where(topologies.c.id == row.id)
                .values(
                    name=summary["name"],
                    summary=json.dumps(summary, separators=(",", ":"), ensure_ascii=True),
                )
            )
        last = rows[-1].id


def _name(request: dict[str, object], summary: dict[str, object]) -> str:
    """Return the short name of what was built from a recipe, else the name it has.

    As `synth.recipes.topology_document.with_name_and_recipe` does when it reads the document.
    """
    name = str(summary.get("name", ""))
    try:
        recipe = parse(str(request.get("recipe", name)))
        nodes, degree = size(recipe)
    except SynthError:
        return shortened(name)
    fits = (nodes, degree) == (summary.get("nodes"), summary.get("degree"))
    return short_name(recipe, nodes, degree) if fits else shortened(name)
