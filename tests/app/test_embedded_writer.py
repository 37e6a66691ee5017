"""Frontiers stored without SQLAlchemy are stored as with it, and it takes over where needed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.stored import get_or_compute
from topoloom.app.config import Settings
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import frontiers, topologies
from topoloom.app.services.open_context import open_context, open_embedded
from topoloom.app.store import embedded_writer
from topoloom.app.store.artifacts import Computed, key

ASKED = [
    {"nodes": 12, "degree": 4},
    {"nodes": 21, "degree": 3},
    {"nodes": 24, "degree": 3, "links": "bidirectional", "schedule": "bfb"},
    {"nodes": 24, "degree": 3, "schedule": "bfb", "parallel_links": True},
]
WAYS = (open_context, open_embedded)


@pytest.fixture
def settings(tmp_path: Path):
    """An empty database that is there."""
    made = Settings(database_url=f"sqlite:///{tmp_path / 'embedded.db'}")
    with open_context(made):
        return made


def requests():
    return [FrontierRequest.model_validate(asked) for asked in ASKED]


def content_of(context, identity):
    """The stored frontier of an id."""
    found = context.store.get("frontier", identity)
    assert found is not None
    return found.content


def tables(settings):
    """All rows of all tables with the types of their values, but for the times."""
    with closing(sqlite3.connect(settings.database_url.removeprefix("sqlite:///"))) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = {}
        for (name,) in names:
            cursor = connection.execute(f"SELECT * FROM {name}")
            columns = [one[0] for one in cursor.description]
            rows = [dict(zip(columns, row, strict=True)) for row in cursor]
            for row in rows:
                for time in {"created_at", "used_at"} & row.keys():
                    assert len(row.pop(time)) == len("2026-01-01 00:00:00.000000")
            found[name] = sorted(repr(row) for row in rows)
    return found


def test_the_tables_are_the_same_row_by_row(tmp_path):
    found = []
    for number, way in enumerate(WAYS):
        settings = Settings(database_url=f"sqlite:///{tmp_path / f'{number}.db'}")
        with open_context(settings):
            pass
        with way(settings) as context:
            answers = [frontiers.frontier(context, request) for request in requests()]
            assert all(answer.fresh for answer in answers)
            again = frontiers.frontier(context, requests()[0])
            assert (again.id, again.content) == (answers[0].id, answers[0].content)
            assert not again.fresh
        with open_context(settings) as context:
            # A topology that is stored again is told what the frontier says that it costs.
            best = answers[1].document()["frontier"][0]
            assert context.whole_store.delete("frontier", answers[1].id)
            assert context.whole_store.delete("topology", best["topology_id"])
        with way(settings) as context:
            frontiers.frontier(context, requests()[1])
            topologies.create(context, TopologySource(recipe="Circulant(12, 2, 3)"))
        found.append(tables(settings))
    assert found[0] == found[1]
    assert {name for name, rows in found[0].items() if rows} >= {
        "frontiers",
        "topologies",
        "points",
        "families",
        "document_references",
    }


def test_a_topology_that_is_stored_after_its_costs_is_told_them(settings):
    (found,) = [one for one in requests() if one.nodes == 12]
    with open_embedded(settings) as context:
        answer = frontiers.frontier(context, found)
    identity = answer.document()["frontier"][0]["topology_id"]
    before = tables(settings)["topologies"]
    path = settings.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM topologies WHERE id = ?", (identity,))
    with open_embedded(settings) as context:
        topologies.create(context, TopologySource(recipe="Circulant(12, 2, 3)"))
    assert tables(settings)["topologies"] == before


def test_what_somebody_else_stored_in_the_meantime_is_the_answer(settings):
    request = requests()[0]
    with open_embedded(settings) as context:
        computed = []

        def compute(identity):
            with open_context(settings) as other:
                computed.append(frontiers.frontier(other, request))
            return Computed(computed[0].content, computed[0].media_type, computed[0].summary)

        stored = get_or_compute(context.store, "frontier", request.canonical(), compute)
    assert computed[0].fresh
    assert not stored.fresh
    assert stored.content == computed[0].content


def test_a_damaged_answer_is_mended(settings):
    request = requests()[0]
    with open_embedded(settings) as context:
        right = frontiers.frontier(context, request)
    path = settings.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE frontiers SET document = ?", (b"spoilt",))
    with open_embedded(settings) as context:
        assert frontiers.frontier(context, request).content == right.content
    with open_context(settings) as context:
        assert content_of(context, right.id) == right.content


def test_the_whole_store_takes_over_where_nothing_can_be_written(settings, monkeypatch):
    def fails(*_):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(embedded_writer, "_insert", fails)
    request = requests()[0]
    with open_embedded(settings) as context:
        answer = frontiers.frontier(context, request)
        assert answer.fresh
    with open_context(settings) as context:
        assert content_of(context, key("frontier", request.canonical())) == answer.content


def test_ids_and_names_are_looked_up_by_the_whole_store(settings):
    with open_embedded(settings) as context:
        made = topologies.create(context, TopologySource(recipe="Kautz(2, 2)"))
        assert topologies.create(context, TopologySource(id=made.id[:12])).id == made.id
        assert topologies.create(context, TopologySource(name=made.summary["name"])).id == made.id


def test_a_database_in_memory_or_without_tables_is_opened_whole(tmp_path):
    for url in ("sqlite://", f"sqlite:///{tmp_path / 'new.db'}"):
        with open_embedded(Settings(database_url=url)) as context:
            assert frontiers.frontier(context, requests()[0]).fresh
            assert context.whole_store.get("frontier", key("frontier", requests()[0].canonical()))
