"""Owners: what one API key makes, no other key reads, lists, cancels, changes or deletes."""

from functools import partial

import pytest
from fastapi.testclient import TestClient

from tests.app.test_patch_progress import final, plant_of
from topoloom.app.api.main import create_app
from topoloom.app.auth import api_keys
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.config import Settings
from topoloom.app.store.artifacts import KINDS, Computed, key
from topoloom.app.store.tables import TABLES

RING = {"recipe": "BiRing(5)"}
ALLGATHER = {"topology": RING, "collective": "allgather"}
DESIGN = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
SESSION = {"min_lr": 0.1, "max_lr": 1.0, "total_steps": 100}
LABEL = "project-x"
ROUTES = [
    (method.upper(), path)
    for path, operations in service_openapi()["paths"].items()
    for method in operations
    if path.startswith("/v1/") and "{id}" in path and not path.startswith("/v1/keys")
]
LISTS = [
    path
    for path, operations in service_openapi()["paths"].items()
    if "get" in operations and "{" not in path and not path.startswith(("/v1/keys", "/v1/audit"))
]
BODIES = {
    "/v1/schedules/{id}/simulations": {"bytes": "1MB"},
    "/v1/schedules/{id}/simulation": {"bytes": "1MB"},
    "/v1/lr-sessions/{id}/observations": {"lease": "x", "sequence": 1, "losses": []},
    "/v1/lr-sessions/{id}/extend": {"lease": "x", "sequence": 1},
    "/v1/patch-plans/{id}/observations": {"panels": {}},
}
"""Bodies of POST routes; other routes take an empty body."""


def graph(name, *more):
    """Return a topology document: a ring of three nodes, with more links."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), *more]
    links = [{"source": one, "target": other} for one, other in pairs]
    nodes = [{"id": node} for node in "abc"]
    return {"document": {"schema": "topology/1", "name": name, "nodes": nodes, "links": links}}


class Service:
    """A service that asks for keys; `by` returns a function that sends requests with a key."""

    def __init__(self, client):
        self.client = client

        self.keys = {}

    def by(self, name, *scopes, team=None):
        engine = self.client.app.state.engine
        if name not in self.keys:
            scopes = scopes or ("design", "plan")
            self.keys[name] = api_keys.create(engine, name, scopes, None, team)
        header = {"Authorization": f"Bearer {self.keys[name][1]}"}

        def ask(method, path, **given):
            headers = header | given.pop("headers", {})
            return self.client.request(method, path, headers=headers, **given)

        return ask


@pytest.fixture
def serve(ready_url):
    """Return a function that starts a service on the database of the test."""
    running = []

    def start(**settings):
        chosen = {"database_url": ready_url, "auth": "keys", "run_worker": False} | settings
        client = TestClient(create_app(Settings(**chosen)), base_url="http://localhost")
        running.append(client.__enter__())
        return Service(client)

    yield start
    for client in running:
        client.__exit__(None, None, None)


def location(answer):
    assert answer.status_code in (200, 201, 202), answer.text
    return answer.headers["Location"].partition("?")[0]


def everything_of(service, name):
    """Make one document of every kind, a job and a session; return their paths by collection."""
    ask = service.by(name)
    store = service.client.app.state.store.on_behalf_of(service.keys[name][0].owner)
    found = {}
    for kind, plural in KINDS.items():
        asked = {"made_by": name, "kind": kind}
        identity = key(kind, asked)
        summary = {"name": "secret", "nodes": 2}
        store.keep(kind, asked, identity, Computed.json({"id": identity}, summary))
        found[plural.replace("_", "-")] = identity
    job = ask("POST", "/v1/designs", json=DESIGN, headers={"Prefer": "respond-async"})
    found["jobs"] = location(job).rpartition("/")[2]
    session = ask("POST", "/v1/lr-sessions", json=SESSION)
    found["lr-sessions"] = location(session).rpartition("/")[2]
    # Verifications have had another path.
    found["verify"] = found["verifications"]
    return found


def standing(ask, made):
    """Return what a key reads of the documents, the job and the session of `everything_of`."""
    found = {}
    for collection in made.keys() - {"exports", "verify"}:
        place = f"/v1/{collection}/{made[collection]}"
        own = place if collection in ("jobs", "lr-sessions") else f"{place}/labels"
        answer = ask("GET", own)
        assert answer.status_code == 200, answer.text
        found[collection] = answer.json()
    return found


@pytest.mark.slow
@pytest.mark.one_in(2)
def test_no_route_gives_a_key_what_another_key_made(serve):
    service = serve()
    made, stranger = everything_of(service, "ann"), service.by("bob")
    ann = service.by("ann")
    assert ann("PUT", f"/v1/designs/{made['designs']}/labels/{LABEL}").status_code == 200
    before, found = standing(ann, made), []
    for method, path in ROUTES:
        collection = path.split("/")[2]
        assert collection in made, f"make something under {path} in everything_of"
        prefix = made[collection][: 32 if collection == "jobs" else 12]
        for identity in {made[collection], prefix}:
            place = path.replace("{id}", identity).replace("{label}", "mine")
            more = {"json": BODIES.get(path, {})} if method == "POST" else {}
            place = place.replace("{delivery}", "0" * 32)
            answer = stranger(method, place, headers={"If-Match": '"0"'}, **more)
            if answer.status_code != 404 and not is_operators(path, answer):
                found.append((method, path, answer.status_code, answer.text))
    assert not found
    for path in LISTS:
        told = stranger("GET", path, params=QUERIES.get(path, {})).text
        shown = [one for one in made.values() if one in told]
        assert not shown and LABEL not in told, path
    assert standing(ann, made) == before
    assert standing(service.by("root", "admin"), made) == before


QUERIES = {"/v1/best": {"nodes": 2, "degree": 1}}
"""Queries of lists that need one."""


def is_operators(path, answer):
    """Return whether a route is for operators alone, and says so."""
    return path.endswith("/pin") and answer.status_code == 403 and "scope admin" in answer.text


@pytest.mark.one_in(2)
def test_a_request_names_no_document_of_another_owner(serve):
    service = serve()
    ann, bob = service.by("ann"), service.by("bob")
    topology = location(ann("POST", "/v1/topologies", json=graph("secret"))).rpartition("/")[2]
    schedule = location(ann("POST", "/v1/schedules", json=ALLGATHER)).rpartition("/")[2]
    for source in ({"id": topology}, {"id": topology[:8]}, {"name": "secret"}):
        for path, body in (
            ("/v1/topologies", source),
            ("/v1/costs", {"topology": source}),
            ("/v1/schedules", ALLGATHER | {"topology": source}),
        ):
            assert bob("POST", path, json=body).status_code == 404, (path, source)
    assert bob("GET", "/v1/plots/load", params={"schedule_id": schedule}).status_code == 404
    compared = bob("POST", "/v1/comparisons", json={"schedules": [schedule, schedule[:8]]})
    assert compared.status_code in (404, 422)
    assert service.by("root", "admin")("GET", f"/v1/topologies/{topology}").status_code == 200


@pytest.mark.one_in(2)
def test_the_answer_to_a_request_belongs_to_every_owner_who_sends_the_request(serve):
    service = serve()
    ann, bob = service.by("ann"), service.by("bob")
    place = location(ann("POST", "/v1/schedules", json=ALLGATHER))
    topology = location(ann("POST", "/v1/topologies", json=RING))
    assert [bob("GET", one).status_code for one in (place, topology)] == [404, 404]
    again = bob("POST", "/v1/schedules", json=ALLGATHER)
    assert (again.status_code, location(again)) == (200, place)
    # What an answer refers to comes with the answer.
    read = partial(bob, "GET", params={"fields": "id"})
    assert [bob("GET", one).status_code for one in (f"{place}/labels", topology)] == [200, 200]
    assert read(topology).json()["id"] == topology.rpartition("/")[2]
    ann("PUT", f"{place}/labels/{LABEL}")
    assert bob("GET", f"{place}/labels").json()["labels"] == []
    bob("PUT", f"{place}/labels/mine")
    assert bob("DELETE", f"{place}/labels/{LABEL}").status_code == 200
    assert ann("GET", f"{place}/labels").json()["labels"] == [LABEL]
    assert bob("DELETE", place).status_code == 204
    assert bob("GET", f"{place}/labels").status_code == 404
    assert ann("GET", f"{place}/labels").json()["labels"] == [LABEL]
    ann("DELETE", place)
    assert service.by("root", "admin")("GET", f"{place}/labels").status_code == 404


@pytest.mark.one_in(2)
def test_the_answers_of_a_sweep_come_with_the_sweep(serve):
    service = serve(run_worker=True, wait_seconds=60)
    sweep = {"kind": "sizes", "nodes": [6], "degrees": [2]}
    for name in ("ann", "bob"):
        made = service.by(name)("POST", "/v1/sweeps", json=sweep)
    assert made.status_code == 200, made.text
    [row] = made.json()["rows"]
    for place in (f"/v1/frontiers/{row['answer_id']}",
                  f"/v1/topologies/{row['points'][0]['topology_id']}"):  # fmt: skip
        assert service.by("bob")("GET", place).status_code == 200


@pytest.mark.one_in(2)
def test_owners_who_share_no_answers_compute_each_their_own(serve):
    service = serve(share_answers=False)
    ann, bob = service.by("ann"), service.by("bob")
    first, second = (ask("POST", "/v1/schedules", json=ALLGATHER) for ask in (ann, bob))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert bob("POST", "/v1/schedules", json=ALLGATHER).status_code == 200


@pytest.mark.one_in(2)
def test_keys_of_a_team_share_what_they_make(serve):
    service = serve()
    ann, bob = (service.by(name, team="physics") for name in ("ann", "bob"))
    place = location(ann("POST", "/v1/topologies", json=RING))
    session = location(bob("POST", "/v1/lr-sessions", json=SESSION))
    assert bob("GET", place).status_code == ann("GET", session).status_code == 200
    assert ann("DELETE", session).status_code == bob("DELETE", place).status_code == 204


@pytest.mark.one_in(2)
def test_a_name_means_the_topology_of_the_owner_first_and_then_a_shared_one(serve):
    service = serve()
    ann, bob, root = service.by("ann"), service.by("bob"), service.by("root", "admin")
    mine = location(ann("POST", "/v1/topologies", json=graph("fabric-1")))
    other = location(bob("POST", "/v1/topologies", json=graph("fabric-1", ("b", "a"))))
    third = location(root("POST", "/v1/topologies", json=graph("fabric-1", ("c", "b"))))
    assert root("PUT", f"{third}/share").json()["shared"] is True

    def named(ask):
        return location(ask("POST", "/v1/topologies", json={"name": "fabric-1"}))

    assert (named(ann), named(bob), named(service.by("eve"))) == (mine, other, third)


@pytest.mark.one_in(2)
def test_a_shared_document_is_read_by_all_and_changed_by_its_owner(serve):
    service = serve()
    ann, bob = service.by("ann"), service.by("bob")
    place = location(ann("POST", "/v1/schedules", json=ALLGATHER))
    topology = location(ann("POST", "/v1/topologies", json=RING))
    assert ann("PUT", f"{place}/share").json()["shared"] is True
    assert [bob("GET", one).status_code for one in (f"{place}/labels", topology)] == [200, 200]
    assert place.rpartition("/")[2] in bob("GET", "/v1/schedules").text
    for method, path in (("PUT", f"{place}/labels/x"), ("DELETE", f"{place}/share"),
                         ("DELETE", place), ("PUT", f"{place}/share")):  # fmt: skip
        refused = bob(method, path)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/forbidden")
        assert "has another owner" in refused.json()["detail"]
    assert ann("DELETE", f"{place}/share").json()["shared"] is False
    assert [bob("GET", one).status_code for one in (f"{place}/labels", topology)] == [404, 200]


@pytest.mark.one_in(2)
def test_a_setting_lets_every_key_read_what_keys_make(serve):
    service = serve(private_documents=False)
    ann, bob = service.by("ann"), service.by("bob")
    made = everything_of(service, "ann")
    for collection in ("designs", "jobs", "lr-sessions"):
        assert made[collection] in bob("GET", f"/v1/{collection}").text
    assert bob("POST", f"/v1/jobs/{made['jobs']}/cancel").status_code == 403
    assert bob("DELETE", f"/v1/lr-sessions/{made['lr-sessions']}").status_code == 403
    assert bob("DELETE", f"/v1/designs/{made['designs']}").status_code == 403
    assert ann("POST", f"/v1/jobs/{made['jobs']}/cancel").status_code in (200, 202)


@pytest.mark.one_in(2)
def test_owners_share_no_jobs(serve):
    service = serve()
    sweep = {"over": "sizes", "nodes": [6, 8], "degrees": [2]}
    for path, body in (("/v1/designs", DESIGN), ("/v1/sweeps", sweep)):
        send = {"json": body, "headers": {"Prefer": "respond-async"}}
        first, again, other = (
            location(service.by(name)("POST", path, **send)) for name in ("ann", "ann", "bob")
        )
        assert first == again != other
    parts = service.by("bob")("GET", "/v1/jobs", params={"parent": other.rpartition("/")[2]})
    assert len(parts.json()["items"]) == 2
    service.by("ann")("POST", f"{first}/cancel")
    assert service.by("bob")("GET", other).json()["state"] == "queued"


@pytest.mark.one_in(2)
def test_a_job_reads_what_its_owner_sees(serve):
    service = serve(run_worker=True)
    ann = service.by("ann")
    topology = location(ann("POST", "/v1/topologies", json=graph("secret"))).rpartition("/")[2]
    asynchronous = {"Prefer": "respond-async"}
    for ask, collective in ((ann, "allgather"), (service.by("root", "admin"), "allreduce")):
        body = {"topology": {"id": topology}, "collective": collective}
        job = location(ask("POST", "/v1/schedules", json=body, headers=asynchronous))
        # The stream of events ends with the job.
        assert "event: done" in ask("GET", f"{job}/events").text
    refused = service.by("bob")("POST", "/v1/schedules", json=body, headers=asynchronous)
    assert refused.status_code == 404


@pytest.mark.one_in(2)
def test_each_owner_follows_a_patch_plan_alone(serve):
    service = serve()
    ann, bob = service.by("ann"), service.by("bob")
    body = {"topology": RING, "plant": plant_of(5, 2)}
    plan = ann("POST", "/v1/patch-plans", json=body).json()
    place = location(bob("POST", "/v1/patch-plans", json=body))
    seen = {"json": {"panels": {"panel-0": final(plan)["panel-0"]}}}
    for ask in (ann, bob):
        told = ask("POST", f"{place}/observations", headers={"If-Match": '"0"'}, **seen)
        assert told.status_code == 200, told.text
    assert ann("DELETE", f"{place}/progress").status_code == 204
    progress = [ask("GET", f"{place}/progress").headers["ETag"] for ask in (ann, bob)]
    assert progress == ['"0"', '"1"']


@pytest.mark.one_in(2)
def test_an_owner_stores_as_many_bytes_as_the_quota_allows(serve):
    service = serve(max_stored_bytes_per_owner=1)
    ann, bob, eve = (service.by(name) for name in ("ann", "bob", "eve"))
    root = service.by("root", "admin")
    place = location(ann("POST", "/v1/topologies", json=RING))
    others = ({"recipe": "BiRing(6)"}, graph("mine"))
    for body in others:
        refused = ann("POST", "/v1/topologies", json=body)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/quota-exceeded")
        assert "may store 1;" in refused.json()["detail"]
    assert ann("POST", "/v1/lr-sessions", json=SESSION).status_code == 403
    promised = {"json": DESIGN, "headers": {"Prefer": "respond-async"}}
    assert ann("POST", "/v1/designs", **promised).status_code == 403
    assert bob("POST", "/v1/designs", **promised).status_code == 202
    assert bob("POST", "/v1/topologies", json=RING).status_code == 403
    assert ann("POST", "/v1/topologies", json=RING).status_code == 200
    assert ann("GET", "/v1/cache").json()["limit_bytes"] == 1
    assert eve("POST", "/v1/topologies", json=others[0]).status_code == 201
    assert root("POST", "/v1/topologies", json=others[1]).status_code == 201
    assert ann("DELETE", place).status_code == 204
    # What another owner has stored counts as well, once it is asked for.
    assert ann("POST", "/v1/topologies", json=others[0]).status_code == 200
    assert ann("POST", "/v1/topologies", json=RING).status_code == 403


@pytest.mark.one_in(2)
def test_a_service_without_keys_has_no_owners(serve):
    service = serve(auth="open", max_stored_bytes_per_owner=1)
    for number in (5, 6):
        body = {"recipe": f"BiRing({number})"}
        place = location(service.client.post("/v1/topologies", json=body))
        assert service.client.get(f"{place}/labels").json()["shared"] is True
    assert len(service.client.get("/v1/topologies").json()["items"]) == 2
    assert set(TABLES) == set(KINDS)
