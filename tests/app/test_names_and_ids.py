"""Stored documents are found by the beginning of their ids and topologies by their names."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.app.stored import get_or_compute
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import costs, topologies
from topoloom.app.services.open_context import open_context
from topoloom.app.store.artifacts import Computed
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.errors import Ambiguous, NotStored
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.recipes.topology_document import topology_from_document

RECIPE = "LineGraph(2, CompleteBipartite(2))"
KERNEL_4 = Path(__file__).parent / "data" / "kernel-4-rows.json.gz"
"""Rows as kernel 4 stored them: a frontier whose best recipe has 208 characters, and more."""


@pytest.fixture
def store(engine):
    return Store(engine)


def numbered(store, kind, count):
    """Store so many documents; return their ids in order."""
    answer = Computed.json({}, {"name": "x"})
    return sorted(get_or_compute(store, kind, {"n": n}, lambda _: answer).id for n in range(count))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("kind", ["topology", "schedule", "design"])
@pytest.mark.slow
def test_what_begins_so_is_exactly_what_is_found(store, kind):
    ids = numbered(store, kind, 300)
    prefixes = {identity[:length] for identity in ids for length in (1, 2, 3, 6, 64)}
    for prefix in [*sorted(prefixes)[::7], "f", "0", "ff", "00", ids[0] + "0"]:
        expected = [identity for identity in ids if identity.startswith(prefix)]
        assert [entry.id for entry in store.beginning(kind, prefix, 1000)] == expected
        assert [entry.id for entry in store.beginning(kind, prefix, 2)] == expected[:2]


def test_topologies_are_found_by_name_newest_first(store):
    for n in range(5):
        name = "odd" if n % 2 else "even"
        get_or_compute(
            store, "topology", {"n": n}, lambda _, s=name: Computed.json({}, {"name": s})
        )
    assert [entry.request["n"] for entry in store.named("even", 10)] == [4, 2, 0]
    assert [entry.request["n"] for entry in store.named("odd", 1)] == [3]
    assert store.named("od", 10) == []


def alike(context, count=7):
    """Store documents whose ids begin alike; return that beginning."""
    made = topologies.create(context, TopologySource(recipe="UniRing(3)"))
    with context.whole_store.keeping.engine.begin() as connection:
        for n in range(count):
            connection.execute(
                text(
                    "INSERT INTO topologies (id, kernel_version, request, summary, media_type, "
                    "document, digest, created_at, name) SELECT :id, kernel_version, request, "
                    "summary, media_type, document, digest, created_at, name FROM topologies "
                    "WHERE id = :old"
                ),
                {"id": "abc123" + f"{n:058x}", "old": made.id},
            )
    return "abc123"


def test_an_ambiguous_beginning_names_up_to_five_candidates(context):
    prefix = alike(context)
    with pytest.raises(Ambiguous) as caught:
        context.read("topology", prefix)
    shown = str(caught.value)
    assert shown.startswith("id: abc123 is the beginning of several: topology abc123000000 (uni")
    assert shown.count("(uniring-3x1-8385)") == 5
    assert shown.endswith(", and more")
    (whole,) = context.store.beginning("topology", prefix + "0" * 57 + "6", 2)
    assert whole.id.endswith("6")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("length", [6, 7, 20, 63, 64])
def test_every_route_takes_the_beginning_of_an_id(client, length):
    topology = client.post("/v1/topologies", json={"recipe": RECIPE}).json()["id"][:length]
    whole = client.get(f"/v1/topologies/{topology}").json()
    assert whole["id"].startswith(topology)
    assert client.get(f"/v1/topologies/{topology}/cost").json()["topology_id"] == whole["id"]
    assert client.get(f"/v1/topologies/{topology}/optimum").json()["topology_id"] == whole["id"]
    asked = {"topology": {"id": topology}, "collective": "allgather"}
    made = client.post("/v1/schedules", json=asked).json()
    assert made["topology_id"] == whole["id"]
    again = client.post("/v1/schedules", json={**asked, "topology": {"id": whole["id"]}})
    assert (again.status_code, again.json()["id"]) == (200, made["id"])
    schedule = made["id"][:length]
    read = client.get(f"/v1/schedules/{schedule}")
    assert read.json() == client.get(f"/v1/schedules/{made['id']}").json()
    simulated = client.post(f"/v1/schedules/{schedule}/simulation", json={"bytes": "1MB"})
    assert simulated.json()["schedule_id"] == made["id"]
    plan = client.post("/v1/patch-plans", json={"topology": {"id": topology}}).json()["id"]
    assert client.get(f"/v1/patch-plans/{plan[:length]}").json()["id"] == plan
    question = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
    design = client.post("/v1/designs", json=question).json()["id"]
    assert client.get(f"/v1/designs/{design[:length]}").json()["id"] == design


@pytest.mark.parametrize("wrong", ["abc12", "ABC123", "abc12g", "a" * 65, "uniring-3x1-8385"])
def test_what_is_no_beginning_of_an_id_is_refused_by_the_rule(client, wrong):
    for answer, pointer in (
        (client.get(f"/v1/topologies/{wrong}"), "/id"),
        (client.post("/v1/topologies", json={"id": wrong}), "/id"),
    ):
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["pointer"] == pointer
        assert "its first 6 or more" in error["detail"]


def test_a_beginning_of_nothing_and_of_several_are_problems(client):
    missing = client.get("/v1/topologies/abc123")
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/not-stored")
    prefix = alike(client.app.state.context)
    several = client.get(f"/v1/topologies/{prefix}")
    assert (several.status_code, several.json()["type"]) == (422, "/problems/ambiguous")
    assert "abc123000000 (uniring-3x1-8385)" in several.json()["detail"]


def test_a_stored_topology_is_named_by_its_short_name(client, topoloom):
    made = client.post("/v1/topologies", json={"recipe": RECIPE}).json()
    assert client.post("/v1/topologies", json={"name": made["name"]}).json() == made
    asked = {"topology": {"name": made["name"]}, "collective": "allgather"}
    assert client.post("/v1/schedules", json=asked).json()["topology_id"] == made["id"]
    for word in (made["name"], made["id"], made["id"][:6]):
        assert json.loads(topoloom("topology", word).out) == made
        for command in ("measure", "optimum"):
            found = json.loads(topoloom(command, word, "--json").out)
            assert found["topology_id"] == made["id"]


def test_an_unknown_name_is_an_error_with_the_command_that_lists_fabrics(client, topoloom):
    missing = client.post("/v1/topologies", json={"name": "lg2-ring-8x2-0000"})
    assert (missing.status_code, missing.json()["errors"][0]["pointer"]) == (404, "/name")
    asked = topoloom("measure", "lg2-ring-8x2-0000")
    assert (asked.code, asked.out) == (2, "")
    assert "`topoloom catalog fabrics` lists all" in asked.err
    assert asked.err.count("\n") == 1


def named(name, *links):
    nodes = sorted({end for link in links for end in link})
    return {
        "schema": "topology/1",
        "name": name,
        "nodes": [{"id": node} for node in nodes],
        "links": [{"source": a, "target": b} for a, b in links],
    }


def test_a_name_of_two_different_graphs_is_ambiguous_but_one_graph_stored_twice_is_not(client):
    pair, path = named("mine", "ab", "ba"), named("mine", "ab", "ba", "bc", "cb")
    first = client.post("/v1/topologies", json=pair).json()
    assert client.post("/v1/topologies", json={"name": "mine"}).json() == first
    second = client.post("/v1/topologies", json=path).json()
    several = client.post("/v1/topologies", json={"name": "mine"})
    assert (several.status_code, several.json()["type"]) == (422, "/problems/ambiguous")
    assert first["id"][:12] in several.json()["detail"]
    assert second["id"][:12] in several.json()["detail"]
    built = client.post("/v1/topologies", json={"recipe": RECIPE}).json()
    sent = {name: built[name] for name in built if name != "id"}
    again = client.post("/v1/topologies", json={"document": sent}).json()
    assert again["id"] != built["id"]
    assert client.post("/v1/topologies", json={"name": built["name"]}).json() == again


def test_a_fabrics_name_means_the_fabric_whatever_is_called_so(topoloom, tmp_path):
    file = tmp_path / "own.json"
    file.write_text(json.dumps(named("mi300x", "ab", "ba")))
    assert topoloom("topology", str(file)).code == 0
    assert len(json.loads(topoloom("topology", "mi300x").out)["nodes"]) == 8
    assert len(json.loads(topoloom("topology", "mi300x").out)["nodes"]) == 8


def test_the_recipe_travels_with_a_topology_that_is_sent_back(client):
    built = client.post("/v1/topologies", json={"recipe": RECIPE}).json()
    assert built["recipe"] == RECIPE
    sent = {name: built[name] for name in built if name != "id"}
    again = client.post("/v1/topologies", json=sent).json()
    assert (again["name"], again["recipe"]) == (built["name"], RECIPE)
    other = client.post("/v1/topologies", json=sent | {"recipe": "UniRing(8)"}).json()
    assert other["id"] != again["id"]
    asked = {"topology": {"id": again["id"]}, "collective": "allgather", "algorithm": "lifted"}
    assert client.post("/v1/schedules", json=asked).status_code == 201


# What kernel 4 stored: names were whole recipes.


def rows_of_before():
    stored = json.loads(gzip.decompress(KERNEL_4.read_bytes()))
    for rows in stored.values():
        for row in rows:
            row["document"] = base64.b64decode(row["document"])
    return stored


@pytest.fixture
def before(database_url):
    """Return the URL of a database as revision 0001 and kernel 4 left it."""
    engine = open_engine(database_url)
    migrate(engine, "0001")
    with engine.begin() as connection:
        for table, rows in rows_of_before().items():
            for row in rows:
                columns = ", ".join(row)
                values = ", ".join(f":{column}" for column in row)
                connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), row)
    migrate(engine)
    engine.dispose()
    return database_url


@pytest.fixture
def opened(settings, before):
    with open_context(settings.model_copy(update={"database_url": before})) as context:
        yield context


def test_the_rows_of_before_are_what_they_say():
    stored = rows_of_before()
    for rows in stored.values():
        for row in rows:
            assert hashlib.sha256(row["document"]).hexdigest() == row["digest"]
            assert row["kernel_version"] == "4"
    names = [json.loads(row["summary"])["name"] for row in stored["topologies"]]
    assert max(map(len, names)) > 200


def test_topologies_of_before_are_read_by_id_and_used(opened):
    for row in rows_of_before()["topologies"]:
        request = json.loads(row["request"])
        loaded = topologies.load(opened, TopologySource(id=row["id"][:8]))
        assert (loaded.id, loaded.topology.digest) == (
            row["id"],
            json.loads(row["summary"])["digest"],
        )
        assert len(loaded.topology.labels()["name"]) <= 80
        if "recipe" in request:
            recipe = parse(request["recipe"])
            assert (loaded.topology, loaded.topology.recipe) == (build(recipe), recipe)
            assert loaded.topology.name == build(recipe).name
            cost = costs.measure(opened, TopologySource(id=row["id"])).document()
            assert cost["name"] == loaded.topology.name
            assert cost["steps"] == measure_both(build(recipe))[0].steps


def test_topologies_of_before_are_listed_and_found_by_short_names(opened):
    stored = rows_of_before()["topologies"]
    listed, _ = opened.whole_store.page("topology", 100, None)
    assert {entry.id for entry in listed} == {row["id"] for row in stored}
    for entry in listed:
        name = entry.summary["name"]
        assert len(name) <= 80 and not name.endswith(")")
        assert name in [
            topologies.load(opened, TopologySource(id=entry.id)).topology.labels()["name"]
        ]
        if name == "dgx-a100-1":
            assert topologies.source_of_name(opened, name) == TopologySource(fabric=name)
        else:
            assert topologies.create(opened, TopologySource(name=name)).id == entry.id


def test_a_frontier_and_a_schedule_of_before_lead_to_their_topologies(opened):
    for row in rows_of_before()["frontiers"]:
        for entry in opened.read("frontier", row["id"]).document()["frontier"]:
            stored = opened.read("topology", entry["topology_id"])
            assert topology_from_document(stored.document()).recipe == parse(entry["recipe"])
    (schedule,) = rows_of_before()["schedules"]
    assert opened.read("schedule", schedule["id"]).summary["collective"] == "allgather"


def test_migrating_back_keeps_every_document(before):
    engine = open_engine(before)
    migrate(engine, "0001")
    with engine.connect() as connection:
        found = connection.execute(text("SELECT id, document FROM topologies")).all()
    expected = {row["id"]: row["document"] for row in rows_of_before()["topologies"]}
    assert {row.id: bytes(row.document) for row in found} == expected
    engine.dispose()


def test_nothing_is_found_by_no_name(context):
    topologies.create(context, TopologySource(document=named("", "ab", "ba")))
    with pytest.raises(NotStored):
        topologies.create(context, TopologySource(name="ab"))
