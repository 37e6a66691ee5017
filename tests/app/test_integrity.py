"""Documents, their digests and their ids are held against each other at every read."""

import gzip
import hashlib
import json
import logging

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from tests.app.stored import get_or_compute
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import sweeps
from topoloom.app.store.artifacts import KINDS, Artefact, key
from topoloom.app.store.embedded_reader import open_embedded
from topoloom.app.store.errors import Damaged
from topoloom.app.store.row_mapping import StoredRow

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
QUESTIONS = {
    "design": ("/v1/designs", DESIGN, {**DESIGN, "bytes": "2MB"}),
    "topology": ("/v1/topologies", {"recipe": "BiRing(5)"}, {"fabric": "dgx-a100-2"}),
    "schedule": (
        "/v1/schedules",
        {"topology": {"recipe": "BiRing(5)"}, "collective": "allreduce", "algorithm": "bfb"},
        {"topology": {"recipe": "BiRing(5)"}, "collective": "allreduce", "algorithm": "slack"},
    ),
    "patch-plan": (
        "/v1/patch-plans",
        {"topology": {"recipe": "BiRing(5)"}},
        {"topology": {"recipe": "BiRing(5)"}, "present": [{"panel": 0, "a": 0, "b": 1}]},
    ),
    "iteration": (
        "/v1/iterations",
        {"preset": "vit-22b", "nodes": 8, "degree": 2, "topology": "BiRing(8)"},
        {"preset": "vit-22b", "nodes": 8, "degree": 2, "topology": "UniRing(8)"},
    ),
    "box-design": (
        "/v1/box-designs",
        {**DESIGN, "nodes": 2, "box": "mi300x", "degree": 4},
        {**DESIGN, "nodes": 2, "box": "mi300x", "degree": 8},
    ),
}
"""For each kind with routes of its own two questions."""

DAMAGES = {
    "document": ("document",),
    "document and digest": ("document", "digest"),
    "all that is answered": ("document", "digest", "summary", "media_type"),
    "summary": ("summary",),
    "digest": ("digest",),
    "everything but the id": (
        *("kernel_version", "request", "summary", "media_type", "document", "digest"),
    ),
}


@pytest.fixture
def client(ready_url):
    app = create_app(Settings(database_url=ready_url))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def swap(engine, table, one, other, columns):
    """Exchange these columns of two rows."""
    rows = {}
    with engine.begin() as connection:
        for identity in (one, other):
            query = text(f"SELECT {', '.join(columns)} FROM {table} WHERE id = :id")
            rows[identity] = connection.execute(query, {"id": identity}).one()._mapping
        for identity, values in ((one, rows[other]), (other, rows[one])):
            assignments = ", ".join(f"{column} = :{column}" for column in columns)
            change = text(f"UPDATE {table} SET {assignments} WHERE id = :id")
            connection.execute(change, {**values, "id": identity})


def rows(engine, table):
    """Return what is sealed of every row; what it is found by may be known better by now."""
    columns = ", ".join(StoredRow._fields)
    with engine.connect() as connection:
        found = connection.execute(text(f"SELECT {columns} FROM {table} ORDER BY id")).all()
    return [dict(row._mapping) for row in found]


def digest_again(engine, table):
    """Give every row the digest of its document alone, as rows had them before."""
    with engine.begin() as connection:
        for identity, document in connection.execute(text(f"SELECT id, document FROM {table}")):
            connection.execute(
                text(f"UPDATE {table} SET digest = :digest WHERE id = :id"),
                {"digest": hashlib.sha256(bytes(document)).hexdigest(), "id": identity},
            )


@pytest.mark.one_in(17)
@pytest.mark.parametrize(
    ("kind", "damage"),
    [(kind, "document and digest") for kind in QUESTIONS] + [("schedule", one) for one in DAMAGES],
)
def test_swapped_rows_are_never_served_but_mended_by_post(client, kind, damage, caplog):
    path, *questions = QUESTIONS[kind]
    first = [client.post(path, json=question) for question in questions]
    engine, table = client.app.state.engine, KINDS[kind]
    sound = rows(engine, table)
    swap(engine, table, *(answer.json()["id"] for answer in first), DAMAGES[damage])
    with caplog.at_level(logging.ERROR):
        mended = [client.post(path, json=question) for question in questions]
    assert [answer.status_code for answer in mended] == [201, 201]
    assert [answer.json() for answer in mended] == [answer.json() for answer in first]
    assert first[0].json()["id"] in caplog.text and "damaged" in caplog.text
    assert rows(engine, table) == sound
    again = [client.post(path, json=question).status_code for question in questions]
    assert again == [200, 200]


@pytest.mark.one_in(11)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_swapped_rows_are_mended_by_get(client, kind):
    path, *questions = QUESTIONS[kind]
    places = [client.post(path, json=question).headers["Location"] for question in questions]
    whole = [client.get(place).content for place in places]
    engine, table = client.app.state.engine, KINDS[kind]
    sound = rows(engine, table)
    ids = (place.partition("?")[0].split("/")[-1] for place in places)
    swap(engine, table, *ids, ("document", "digest"))
    assert [client.get(place).content for place in places] == whole
    assert rows(engine, table) == sound


@pytest.mark.one_in(11)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_digests_made_to_fit_the_swapped_documents_do_not_help(client, kind):
    path, *questions = QUESTIONS[kind]
    first = [client.post(path, json=question) for question in questions]
    whole = [client.get(answer.headers["Location"]).content for answer in first]
    engine, table = client.app.state.engine, KINDS[kind]
    swap(engine, table, *(answer.json()["id"] for answer in first), ("document", "summary"))
    digest_again(engine, table)
    assert [client.get(answer.headers["Location"]).content for answer in first] == whole


@pytest.mark.parametrize("kind", ["design", "topology", "patch-plan"])
@pytest.mark.one_in(3)
def test_rows_from_before_there_were_seals_are_served_as_they_are(client, kind):
    path, question, _ = QUESTIONS[kind]
    first = client.post(path, json=question)
    digest_again(client.app.state.engine, KINDS[kind])
    assert client.post(path, json=question).status_code == 200
    assert client.get(first.headers["Location"]).status_code == 200


@pytest.mark.one_in(5)
@pytest.mark.parametrize("content", [b"", b"no gzip", gzip.compress(b"{}", mtime=0), "a text"])
def test_garbage_in_a_row_is_computed_anew(client, content):
    first = client.post("/v1/designs", json=DESIGN)
    engine = client.app.state.engine
    if isinstance(content, str) and engine.dialect.name != "sqlite":
        pytest.skip("only SQLite takes a text for bytes")
    with engine.begin() as connection:
        connection.execute(text("UPDATE designs SET document = :garbage"), {"garbage": content})
    assert client.get(first.headers["Location"]).json() == first.json()


DEEP = [
    ("topology", {"recipe": "BiRing(5)"}),
    ("topology", {"fabric": "dgx-a100-2"}),
    ("topology", {"fabric": "dgx-a100-2", "changes": {"without_nodes": ["0.gpu3"]}}),
]
"""Topologies by each way that can be asked again."""


def everything(client):
    """Ask for answers of every kind."""
    for kind in QUESTIONS:
        path, *questions = QUESTIONS[kind]
        for question in questions:
            assert client.post(path, json=question).status_code in (200, 201)
    for _, source in DEEP:
        place = client.post("/v1/topologies", json=source).headers["Location"]
        for query in ("", "?collective=allreduce", "?trees_per_root=2"):
            assert client.get(f"{place}/optimum{query}").status_code == 200
    ring = client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).headers["Location"]
    assert client.get(f"{ring}/cost").status_code == 200
    assert client.get(f"{ring}/optimum?collective=all-to-all").status_code == 200
    forest = {"topology": DEEP[1][1], "collective": "broadcast", "root": "0.gpu0"}
    assert client.post("/v1/schedules", json=forest).status_code == 201
    for asked in (
        {"kind": "sizes", "nodes": [6], "degrees": [2]},
        {"kind": "fault-analysis", "topology": {"recipe": "BiRing(4)"}},
    ):
        sweeps.create(client.app.state.context, SweepRequest.model_validate(asked))
    about_answers(client)


def about_answers(client):
    """Ask for answers about stored answers."""
    designs, schedules = (
        [entry["id"] for entry in client.get(f"/v1/{kind}?limit=2").json()["items"]]
        for kind in ("designs", "schedules")
    )
    asked = [
        ("verify", {"schedule_id": schedules[0]}),
        ("simulations", {"schedule_id": schedules[0], "bytes": "1MB"}),
        ("comparisons", {"designs": designs}),
        ("comparisons", {"schedules": schedules, "bytes": "1MB"}),
    ]
    for path, body in asked:
        assert client.post(f"/v1/{path}", json=body).status_code == 201, path
    drawn = [
        "frontier?nodes=6&degree=2",
        "sizes?nodes=6&degree=2&collective=allreduce&from=1KB&to=1MB",
        f"load?schedule_id={schedules[0]}",
        f"tree?schedule_id={schedules[0]}&root=0.gpu0",
    ]
    for path in drawn:
        assert client.get(f"/v1/plots/{path}").status_code == 200, path


@pytest.mark.slow
def test_every_answer_can_be_computed_anew_from_its_row(client):
    everything(client)
    context, engine = client.app.state.context, client.app.state.engine
    for kind, table in KINDS.items():
        sound = rows(engine, table)
        assert sound, kind
        for row in sound:
            with engine.begin() as connection:
                change = text(f"UPDATE {table} SET document = :garbage WHERE id = :id")
                connection.execute(change, {"garbage": b"", "id": row["id"]})
            assert context.read(kind, row["id"]).content == bytes(row["document"])
        assert rows(engine, table) == sound


@pytest.mark.one_in(2)
def test_a_damaged_document_that_came_as_it_is_is_a_clear_problem(client):
    document = {
        "schema": "topology/1",
        "nodes": [{"id": "a"}, {"id": "b"}],
        "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}],
    }
    place = client.post("/v1/topologies", json=document).headers["Location"]
    with client.app.state.engine.begin() as connection:
        connection.execute(text("UPDATE topologies SET document = :none"), {"none": b""})
    refused = client.get(place)
    assert (refused.status_code, refused.json()["type"]) == (500, "/problems/damaged")
    assert "is damaged and cannot be computed again; send it again" in refused.json()["detail"]
    with pytest.raises(Damaged):
        client.app.state.context.read("topology", place.split("/")[-1])
    assert client.post("/v1/topologies", json=document).status_code == 201
    assert client.get(place).status_code == 200


@pytest.mark.slow
def test_the_command_line_serves_no_swapped_row_either(topoloom, context, settings):
    def asked(size):
        return ("design", "--nodes", "6", "--degree", "2", "--collective", "allgather",
                "--bytes", size, "--json")  # fmt: skip

    first = [json.loads(topoloom(*asked(size)).out) for size in ("1MB", "2MB")]
    engine, identities = context.whole_store.keeping.engine, [document["id"] for document in first]
    swap(engine, "designs", *identities, ("document", "digest"))
    with open_embedded(settings.database_url) as embedded:
        assert [embedded.get("design", identity) for identity in identities] == [None, None]
    assert [json.loads(topoloom(*asked(size)).out) for size in ("1MB", "2MB")] == first
    with open_embedded(settings.database_url) as embedded:
        found = [embedded.get("design", identity) for identity in identities]
    assert [document.document()["id"] for document in found] == identities


@pytest.mark.slow
def test_an_artefact_tells_its_content_by_its_digest(context):
    made = [
        get_or_compute(context.store, "cost", {"n": n}, lambda _: _computed()) for n in range(2)
    ]
    one, other = made
    assert one.content == other.content and one.digest != other.digest
    assert isinstance(one, Artefact) and one.id == key("cost", {"n": 0})


def _computed():
    from topoloom.app.store.artifacts import Computed

    return Computed.json({"same": True}, {})
