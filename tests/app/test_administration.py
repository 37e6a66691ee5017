"""API keys by API, the audit log, and the limit of the whole store."""

import json
import time

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from topoloom.app.api.main import create_app
from topoloom.app.auth import api_keys
from topoloom.app.config import Settings
from topoloom.app.store import audit_log
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.eviction import usage
from topoloom.app.store.housekeeping import Housekeeper

PATIENCE_SECONDS = 120.0


@pytest.fixture
def admin(ready_url):
    """Return a client with an admin key, of a service that asks for keys."""
    app = create_app(Settings(database_url=ready_url, auth="keys", run_worker=False))
    with TestClient(app, base_url="http://localhost") as client:
        key = api_keys.create(app.state.engine, "root", ["admin"])[1]
        client.headers["Authorization"] = f"Bearer {key}"
        yield client


def bearer(made):
    return {"Authorization": f"Bearer {made['key']}"}


@pytest.mark.one_in(2)
def test_a_key_is_created_used_and_revoked_by_the_api(admin):
    asked = {"name": "ci", "scopes": ["plan", "design"], "owner": "physics", "days": 9}
    answer = admin.post("/v1/keys", json=asked)
    assert answer.status_code == 201, answer.text
    made, place = answer.json(), answer.headers["Location"]
    assert (made["owner"], made["scopes"], made["state"]) == (
        "physics",
        ["design", "plan"],
        "valid",
    )
    assert admin.get("/v1/designs", headers=bearer(made)).status_code == 200
    listed = admin.get("/v1/keys").json()["items"]
    assert [one["name"] for one in listed] == ["ci", "root"]
    assert made["key"] not in json.dumps(listed) + admin.get(place).text
    assert admin.delete(place).json()["state"] == "revoked"
    assert admin.get(place).json()["revoked_at"] is not None
    assert [admin.get("/v1/keys/00000000").status_code, admin.delete("/v1/keys/1").status_code] == [
        404,
        422,
    ]


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["root"]}, "/scopes/0"),
        ({"name": "a\x07"}, "/name"),
        ({"days": 0}, "/days"),
        ({"owner": "key:0a1b2c3d"}, "/owner"),
        ({"owner": "admin"}, "/owner"),
        ({"scopes": ["admin"], "owner": "physics"}, "/owner"),
    ],
)
def test_a_key_that_breaks_a_rule_is_refused(admin, wrong, pointer):
    refused = admin.post("/v1/keys", json={"name": "ci", "scopes": ["read"]} | wrong)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


@pytest.mark.one_in(2)
def test_nobody_makes_a_key_where_none_is_asked_for(ready_url):
    with TestClient(create_app(Settings(database_url=ready_url)), base_url="http://localhost") as c:
        refused = c.post("/v1/keys", json={"name": "mine", "scopes": ["admin"]})
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/forbidden")
        assert api_keys.all_keys(c.app.state.engine) == []


@pytest.mark.one_in(2)
def test_the_audit_log_tells_who_changed_what_or_was_refused(admin):
    ann = admin.post("/v1/keys", json={"name": "ann", "scopes": ["design"]}).json()
    ring = admin.post("/v1/topologies", json={"recipe": "BiRing(5)"}, headers=bearer(ann))
    place = ring.headers["Location"]
    admin.put(f"{place}/pin")
    refused = admin.delete(place, headers=bearer(ann))
    assert refused.status_code == 409
    assert admin.delete("/v1/keys/" + ann["id"], headers=bearer(ann)).status_code == 403
    admin.delete(f"{place}/pin")
    admin.delete(place, headers=bearer(ann))
    entries = admin.get("/v1/audit-log").json()["items"]
    told = [(one["action"], one["target"], one["owner"], one["status"]) for one in entries]
    mine = f"key:{ann['id']}"
    assert told == [
        ("deleteTopology", place, mine, 204),
        ("unpinTopology", f"{place}/pin", "admin", 200),
        ("revokeKey", f"/v1/keys/{ann['id']}", mine, 403),
        ("deleteTopology", place, mine, 409),
        ("pinTopology", f"{place}/pin", "admin", 200),
        ("createKey", f"/v1/keys/{ann['id']}", "admin", 201),
    ]
    assert entries[3]["request_id"] == refused.headers["X-Request-ID"]
    assert entries[3]["key"] == ann["id"]
    mine_only = admin.get("/v1/audit-log", params={"owner": mine, "limit": 2}).json()
    rest = admin.get("/v1/audit-log",
                     params={"owner": mine, "cursor": mine_only["next_cursor"]}).json()  # fmt: skip
    assert mine_only["items"] + rest["items"] == [one for one in entries if one["owner"] == mine]
    assert admin.get("/v1/audit-log", params={"until": "2020-01-01"}).json()["items"] == []
    for unused in ("cancelJob", "cache evict"):
        assert admin.get("/v1/audit-log", params={"action": unused}).json()["items"] == []
    unknown = admin.get("/v1/audit-log", params={"action": "createKeys"})
    assert unknown.status_code == 422
    assert [error["pointer"] for error in unknown.json()["errors"]] == ["/action"]
    assert unknown.json()["detail"].endswith("not 'createKeys'; did you mean createKey?")
    assert admin.get("/v1/audit-log", headers=bearer(ann)).status_code == 403


def test_commands_are_in_the_audit_log(topoloom):
    made = json.loads(topoloom("keys", "create", "--name", "a", "--scope", "read",
                               "--owner", "physics", "--json").out)  # fmt: skip
    assert made["owner"] == "physics"
    topoloom("keys", "revoke", made["id"])
    listed = json.loads(topoloom("keys", "audit-log", "--json").out)["items"]
    assert [(one["action"], one["owner"]) for one in listed] == [
        ("keys revoke", "command"),
        ("keys create", "command"),
    ]
    assert "keys revoke" in topoloom("keys", "audit-log", "--action", "keys revoke").out
    assert topoloom("keys", "audit-log", "--action", "key revoke").err == (
        "note: no entry has the action 'key revoke'; did you mean keys revoke?; "
        "the log has keys create, keys revoke\n"
    )
    refused = topoloom("keys", "create", "--name", "a", "--scope", "read", "--owner", "a b")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


@pytest.mark.one_in(2)
def test_old_entries_of_the_audit_log_are_deleted(engine, monkeypatch):
    for number in range(3):
        audit_log.record(engine, "act", str(number))
    with engine.begin() as connection:
        connection.execute(text("UPDATE audit_log SET at = '2020-01-01' WHERE target = '0'"))
    store = Store(engine)
    Housekeeper(engine, store.uses, 0, keep_audit_days=365).round()
    assert {one.target for one in audit_log.page(engine, 10)[0]} == {"1", "2"}
    monkeypatch.setattr(audit_log, "MAX_ROWS", 1)
    audit_log.expire(engine, 365)
    assert [one.target for one in audit_log.page(engine, 10)[0]] == ["2"]


def stored_bytes(client):
    return sum(one.bytes for one in usage(client.app.state.engine).values())


def wait_until(condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.02)


@pytest.mark.slow
def test_the_store_is_evicted_soon_after_a_write_beyond_its_limit(ready_url):
    app = create_app(Settings(database_url=ready_url, cache_bytes=3_000))
    with TestClient(app, base_url="http://localhost") as client:
        for nodes in range(5, 20):
            body = {"recipe": f"BiRing({nodes})"}
            assert client.post("/v1/topologies", json=body).status_code == 201
            wait_until(lambda: stored_bytes(client) <= 3_000)


@pytest.mark.one_in(2)
def test_a_store_full_of_what_may_not_be_evicted_takes_nothing_new(ready_url):
    app = create_app(Settings(database_url=ready_url, cache_bytes=1))
    with TestClient(app, base_url="http://localhost") as client:
        text_ = "a b 1\nb a 1\n"
        mine = client.post("/v1/topologies", json={"text": text_, "format": "edgelist"})
        assert mine.status_code == 201
        wait_until(lambda: app.state.store.growth.full is not None)
        full = client.post("/v1/topologies", json={"recipe": "BiRing(5)"})
        assert (full.status_code, full.json()["type"]) == (507, "/problems/store-full")
        assert client.get(mine.headers["Location"]).status_code == 200
        assert client.delete(mine.headers["Location"]).status_code == 204
        app.state.store.growth.grown.set()
        wait_until(lambda: app.state.store.growth.full is None)
        assert client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).status_code == 201


@pytest.mark.one_in(2)
def test_what_was_stored_before_owners_is_shared(database_url):
    engine = open_engine(database_url)
    migrate(engine, "0010")
    row = {"id": "a" * 64, "now": "2026-01-01 00:00:00"}
    statements = (
        "INSERT INTO designs (id, kernel_version, request, summary, media_type, document, digest, "
        "created_at, pinned, size) VALUES (:id, '1', '{}', '{}', 'x', '', 'x', :now, false, 7)",
        "INSERT INTO labels (kind, document_id, label) VALUES ('design', :id, 'good')",
        "INSERT INTO patch_progress (plan_id, site, version, seen, changed_at) "
        "VALUES (:id, :id, 3, '{}', :now)",
        "INSERT INTO lr_sessions (id, name, status, state, sequence, entries, version, lease, "
        "lease_before, seen_at, created_at) "
        "VALUES (:id, '', 'running', '{}', 0, 0, 1, '', '', :now, :now)",
        "INSERT INTO api_keys (id, name, secret_hash, scopes, created_at) "
        "VALUES ('0a1b2c3d', 'a', 'x', 'read design', :now), ('1a1b2c3d', 'b', 'x', 'admin', :now)",
    )
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement), row)

    def rows(query):
        with engine.connect() as connection:
            return [tuple(one) for one in connection.execute(text(query))]

    for _ in range(2):
        migrate(engine)
        owners = rows("SELECT kind, document_id, owner, size FROM document_owners")
        assert owners == [("design", "a" * 64, "", 7)]
        assert rows("SELECT owner, label FROM labels") == [("", "good")]
        assert rows("SELECT owner, version FROM patch_progress") == [("", 3)]
        assert rows("SELECT owner, size FROM lr_sessions") == [("", 0)]
        keys = rows("SELECT owner FROM api_keys ORDER BY id")
        assert keys == [("key:0a1b2c3d",), ("admin",)]
        migrate(engine, "0010")
        assert rows("SELECT label FROM labels") == [("good",)]
        assert rows("SELECT version FROM patch_progress") == [(3,)]
    engine.dispose()
