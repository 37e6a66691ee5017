"""Generate the statements that make the tables of an SQLite file.

``python -m topoloom.app.codegen.database_schema`` writes `app.store.embedded_reader.SCHEMA` from
the definitions in `app.store.tables`; a test fails if the file is stale.
"""

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from topoloom.app.store.embedded_reader import SCHEMA
from topoloom.app.store.tables import Base

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The version table of alembic, in the form that alembic creates."""


def schema_text() -> str:
    """Return the statements, each but the last with a semicolon at the end of its line."""
    made: list[CreateTable | CreateIndex] = []
    for table in (*Base.metadata.sorted_tables, _VERSION):
        made.append(CreateTable(table))
        made += map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name)))
    texts = (str(one.compile(dialect=sqlite.dialect())).strip() for one in made)
    lines = "\n".join(
        line.rstrip() for line in ";\n".join(texts).replace("\t", "    ").splitlines()
    )
    return lines + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), "utf-8")
