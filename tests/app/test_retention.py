"""Labels, pins, deletion; what may be let go, and what never is."""

from threading import Event, Thread

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, text

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.store.eviction import evict, usage, write_uses
from topoloom.app.store.housekeeping import Housekeeper
from topoloom.app.store.last_used import Uses
from topoloom.app.store.retention import MAX_LABELS, Pinned, TooManyLabels
from topoloom.app.store.tables import ABOUT, TABLES

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
MINE = {
    "schema": "topology/1",
    "nodes": [{"id": "a"}, {"id": "b"}],
    "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}],
}


@pytest.fixture
def client(ready_url):
    app = create_app(Settings(database_url=ready_url))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


@pytest.fixture
def engine(client):
    return client.app.state.engine


def ids(client, kind):
    return {entry["id"] for entry in client.get(f"/v1/{kind}?limit=100").json()["items"]}


def made(client, path, body):
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.headers["Location"].partition("?")[0]


@pytest.mark.one_in(2)
def test_a_label_is_put_found_and_taken_away(client):
    place = made(client, "designs", DESIGN)
    for _ in range(2):
        answer = client.put(f"{place[:-50]}/labels/good-1.0")
        assert answer.json()["labels"] == ["good-1.0"]
    assert client.get(f"{place}/labels").json() == answer.json()
    assert len(client.get("/v1/designs?label=good-1.0").json()["items"]) == 1
    assert client.get("/v1/designs?label=good").json()["items"] == []
    for _ in range(2):
        assert client.delete(f"{place}/labels/good-1.0").json()["labels"] == []
    assert client.get("/v1/designs?label=good-1.0").json()["items"] == []
    assert client.put(f"/v1/designs/{'0' * 64}/labels/x").status_code == 404
    assert client.put(f"{place}/labels/no%20label").status_code == 422


@pytest.mark.one_in(2)
def test_a_document_has_so_many_labels_at_most(client):
    place = made(client, "topologies", {"recipe": "BiRing(5)"})
    keeping, identity = client.app.state.context.whole_store.keeping, place.split("/")[-1]
    for number in range(MAX_LABELS):
        keeping.label("topology", identity, f"n{number}")
    assert keeping.label("topology", identity, "n0") is not None
    with pytest.raises(TooManyLabels):
        keeping.label("topology", identity, "one-more")
    assert client.put(f"{place}/labels/one-more").json()["errors"][0]["pointer"] == "/label"


@pytest.mark.one_in(2)
def test_a_pinned_document_is_not_deleted(client):
    place = made(client, "designs", DESIGN)
    assert client.put(f"{place}/pin").json()["pinned"] is True
    refused = client.delete(place)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/pinned")
    assert client.get(place).status_code == 200
    assert [entry["pinned"] for entry in client.get("/v1/designs?pinned=true").json()["items"]]
    assert client.delete(f"{place}/pin").json()["pinned"] is False
    assert client.delete(place).status_code == 204
    assert [client.get(place).status_code, client.delete(place).status_code] == [404, 404]
    with pytest.raises(Pinned):
        identity = made(client, "designs", DESIGN).split("/")[-1]
        keeping = client.app.state.context.whole_store.keeping
        keeping.pin("design", identity, True)
        keeping.delete("design", identity)


@pytest.mark.one_in(2)
def test_nothing_is_left_of_what_was_deleted(client, engine):
    place = made(client, "designs", DESIGN)
    client.put(f"{place}/labels/x")
    assert client.delete(place).status_code == 204
    with engine.connect() as connection:
        for table in ABOUT:
            mine = (table.kind == "design", table.document_id == place.split("/")[-1])
            query = select(func.count()).select_from(table).where(*mine)
            assert connection.execute(query).scalar() == 0
    assert client.post("/v1/designs", json=DESIGN).status_code == 201


@pytest.mark.one_in(2)
def test_marks_are_no_part_of_what_is_sealed(client):
    place = made(client, "designs", DESIGN)
    before = client.get(place)
    client.put(f"{place}/labels/x")
    client.put(f"{place}/pin")
    after = client.get(place)
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])


@pytest.mark.one_in(2)
def test_what_needs_a_deleted_topology_says_so_and_works_again_with_it(client):
    ring = {"recipe": "BiRing(5)"}
    topology = made(client, "topologies", ring)
    schedule = made(client, "schedules", {"topology": ring, "collective": "allgather"})
    assert client.delete(topology).status_code == 204
    gone = client.get(schedule, params={"format": "msccl-xml"})
    assert gone.status_code == 404
    assert gone.json()["errors"][0]["pointer"] == "/topology_id"
    assert "is not stored any more; send it again" in gone.json()["detail"]
    assert made(client, "topologies", ring) == topology
    assert client.get(schedule, params={"format": "msccl-xml"}).status_code == 200


def everything_recomputable(client):
    made(client, "designs", DESIGN)
    made(client, "costs", {"topology": {"recipe": "BiRing(5)"}})
    schedule = made(client, "schedules", {"topology": {"fabric": "dgx-a100-2"},
                                          "collective": "allgather"})  # fmt: skip
    made(client, "verifications", {"schedule_id": schedule.split("/")[-1]})


@pytest.mark.one_in(2)
@pytest.mark.slow
def test_all_that_can_be_computed_again_is_let_go_and_what_cannot_stays(client, engine):
    everything_recomputable(client)
    mine = made(client, "topologies", MINE)
    gone = evict(engine, 0)
    left = usage(engine)
    assert {kind: one.documents for kind, one in left.items() if one.documents} == {"topology": 1}
    assert gone.left_bytes == left["topology"].bytes > 0
    assert gone.documents > 6
    assert client.get(mine).status_code == 200
    with engine.connect() as connection:
        for table in ABOUT:
            others = table.document_id != mine.split("/")[-1]
            assert connection.execute(select(func.count()).where(others)).scalar() == 0
    everything_recomputable(client)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mark", ["pin", "labels/keep"])
def test_what_is_marked_stays_with_all_that_it_names(client, engine, mark):
    place = made(client, "designs", DESIGN)
    document = client.get(place).json()
    made(client, "designs", {**DESIGN, "bytes": "2MB"})
    client.put(f"{place}/{mark}")
    evict(engine, 0)
    assert ids(client, "designs") == {document["id"]}
    for point in document["frontier"]:
        assert client.get(f"/v1/topologies/{point['topology_id']}").status_code == 200
    assert client.get(f"/v1/schedules/{document['best']['schedule']['id']}").status_code == 200
    assert len(ids(client, "frontiers")) == 1
    client.delete(f"{place}/{mark}")
    assert evict(engine, 0).left_bytes == 0


@pytest.mark.one_in(2)
def test_the_least_lately_used_goes_first_and_no_more_than_must(client, engine):
    costs = [made(client, "costs", {"topology": {"recipe": f"BiRing({n})"}}) for n in range(3, 9)]
    with engine.begin() as connection:
        for kind in ("costs", "topologies"):
            connection.execute(text(f"UPDATE {kind} SET used_at = '2020-01-01 00:00:00'"))
    uses = client.app.state.context.store.uses
    uses.taken(1000)
    uses._written.clear()
    for place in costs[:2]:
        assert client.get(place).status_code == 200
    assert write_uses(engine, uses) >= 2
    before = sum(one.bytes for one in usage(engine).values())
    one = usage(engine)["cost"].bytes // 6
    gone = evict(engine, before - 2 * one)
    assert 2 <= gone.documents <= 4
    assert ids(client, "costs") >= {place.split("/")[-1] for place in costs[:2]}


@pytest.mark.slow
def test_reads_go_on_while_documents_are_let_go(client, engine, monkeypatch):
    monkeypatch.setattr("topoloom.app.store.eviction.BATCH", 1)
    monkeypatch.setattr("topoloom.app.store.eviction.PAUSE_SECONDS", 0.01)
    place = made(client, "designs", DESIGN)
    client.put(f"{place}/pin")
    for n in range(3, 12):
        made(client, "topologies", {"recipe": f"BiRing({n})"})
    done = Event()

    def let_go():
        evict(engine, 0)
        done.set()

    thread = Thread(target=let_go)
    thread.start()
    statuses = set()
    while not done.is_set():
        statuses.add(client.get(place).status_code)
        statuses.add(client.get("/v1/topologies").status_code)
    thread.join()
    assert statuses <= {200}


@pytest.mark.one_in(2)
def test_the_housekeeper_keeps_the_cache_within_its_size(client, engine, caplog):
    everything_recomputable(client)
    size = sum(one.bytes for one in usage(engine).values())
    Housekeeper(engine, Uses(), 0).round()
    Housekeeper(engine, Uses(), size).round()
    assert sum(one.bytes for one in usage(engine).values()) == size
    Housekeeper(engine, Uses(), size // 2).round()
    assert sum(one.bytes for one in usage(engine).values()) <= size // 2 * 9 // 10 + 1
    made(client, "topologies", MINE)
    Housekeeper(engine, Uses(), 1).round()
    assert "all that is left is pinned, labelled" in caplog.text


@pytest.mark.one_in(2)
def test_a_housekeeper_that_is_stopped_ends_between_two_batches(engine):
    keeper = Housekeeper(engine, Uses(), 1, interval=0.01)
    keeper.start()
    keeper.stop()
    assert not keeper._thread.is_alive()
    assert evict(engine, 0, stopped=lambda: True).documents == 0


@pytest.mark.one_in(2)
def test_the_cache_tells_its_size(client):
    everything_recomputable(client)
    client.put(f"{made(client, 'designs', DESIGN)}/pin")
    found = client.get("/v1/cache").json()
    assert found["kinds"].keys() == {
        table.__tablename__.replace("_", "-") for table in TABLES.values()
    }
    assert found["documents"] == sum(one["documents"] for one in found["kinds"].values())
    assert found["kinds"]["designs"] == {
        **found["kinds"]["designs"],
        "documents": 1,
        "pinned": 1,
        "labelled": 0,
    }
    assert found["bytes"] > 1000 and found["limit_bytes"] == 10 * 2**30


@pytest.mark.slow
def test_the_commands_label_pin_and_delete(topoloom):
    assert topoloom("measure", "BiRing(5)").code == 0
    cost = topoloom("list", "costs", "--csv").out.splitlines()[1].split(",")[0]
    assert topoloom("cache", "label", "costs", cost[:12], "ring").out == f"{cost}: ring\n"
    assert topoloom("cache", "pin", "costs", cost).out == f"{cost}: pinned\n"
    assert "pinned, ring" in topoloom("list", "costs", "--label", "ring", "--pinned").out
    refused = topoloom("cache", "delete", "costs", cost)
    assert (refused.code, refused.out) == (2, "") and "is pinned; unpin it first" in refused.err
    assert topoloom("cache", "unpin", "costs", cost).out == f"{cost}: not pinned\n"
    assert (
        topoloom("cache", "label", "costs", cost, "ring", "--remove").out == f"{cost}: no labels\n"
    )
    assert topoloom("cache", "delete", "costs", cost).out == f"{cost}: deleted\n"
    assert "no cost is stored under" in topoloom("cache", "delete", "costs", cost).err
    assert topoloom("cache", "pin", "costs", "xyz").code == 2
    assert topoloom("cache", "pin", "nothing", cost).code == 2
    assert topoloom("cache", "label", "costs", cost, "not one").code == 2


@pytest.mark.one_in(2)
def test_what_a_stored_frontier_names_is_made_anew_if_it_was_deleted(client):
    made(client, "designs", DESIGN)
    for topology in client.get("/v1/topologies").json()["items"]:
        assert client.delete(f"/v1/topologies/{topology['id']}").status_code == 204
    again = client.post("/v1/designs", json=DESIGN | {"bytes": "1kB"})
    assert again.status_code == 201, again.text
    named = again.json()["best"]["topology_id"]
    assert client.get(f"/v1/topologies/{named}").status_code == 200
