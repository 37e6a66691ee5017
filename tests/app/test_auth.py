"""Who is let in: keys, scopes, expiry, and that asking for them costs nothing."""

import asyncio
import hashlib
import hmac
import sqlite3
import time
from contextlib import contextmanager
from datetime import timedelta
from functools import cache

import anyio
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, text, update

from tests.cases import for_every
from topoloom.app.api.main import create_app
from topoloom.app.auth import api_keys
from topoloom.app.auth.errors import InvalidKey
from topoloom.app.auth.key_cache import IDS_SECONDS, MOST, KnownKeys
from topoloom.app.auth.scopes import MEANINGS, is_open, reach, scope_of
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.config import Settings
from topoloom.app.store.database import migrate, open_database, open_engine
from topoloom.app.store.tables import ApiKeyRow

APP = create_app(Settings(database_url="sqlite://"))
OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in service_openapi()["paths"].items()
    for method, operation in operations.items()
]
UNKNOWN = "tl_00000000_" + "0" * 48
WITH_SCOPE = [(m, p, o) for m, p, o in OPERATIONS if not is_open(p)]


def found(engine, text):
    """Return the key of a text, as a request finds it."""
    identity = api_keys.id_of(text)
    key = identity and api_keys.with_ids(engine, [identity]).get(identity)
    return key if key and api_keys.opens(text, key) else None


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service that asks for keys, and a function that returns the header of a key."""
    url = f"sqlite:///{tmp_path_factory.mktemp('guarded') / 't.db'}"
    chosen = Settings(
        database_url=url, auth="keys", rate_burst=100_000, auth_failures_per_minute=100_000
    )
    with TestClient(create_app(chosen), base_url="http://localhost") as client:

        @cache
        def bearer(*scopes, days=None):
            made = api_keys.create(client.app.state.engine, "test", scopes, days)[1]
            return {"Authorization": f"Bearer {made}"}

        yield client, bearer


def ask(client, method, path, **given):
    return client.request(method, path.replace("{id}", "0" * 64), **given)


def least(scope):
    """Return the scopes that, alone, do not reach so far."""
    return [other for other in MEANINGS if scope not in reach(frozenset({other}))]


@for_every(("method", "path", "operation"), WITH_SCOPE)
def test_every_route_states_one_scope_and_describes_it(method, path, operation):
    assert operation.get("security"), (
        f"{method} {path} states no scope: name one of READ, DESIGN, PLAN, ADMIN of "
        "topoloom.app.auth.scopes in the dependencies of its decorator"
    )
    [[scope]] = [needed["key"] for needed in operation["security"] if needed]
    assert scope in MEANINGS
    assert {"401", "403", "429"} <= operation["responses"].keys()
    if method in ("POST", "PUT", "PATCH", "DELETE"):
        assert scope != "read", f"{method} {path} changes or computes something"


def test_no_route_states_two_scopes():
    for route in APP.state.routes:
        assert is_open(route.path) == (scope_of(route) is None), route.path


@pytest.mark.slow
@for_every(("method", "path", "operation"), WITH_SCOPE)
def test_every_route_is_closed_to_strangers_and_to_keys_of_less(guarded, method, path, operation):
    client, bearer = guarded
    stranger = ask(client, method, path, content=b"{" * 100)
    assert stranger.status_code == 401
    assert stranger.headers["WWW-Authenticate"] == 'Bearer realm="topoloom"'
    assert stranger.json()["type"] == "/problems/unauthorized"
    [[scope]] = [needed["key"] for needed in operation["security"] if needed]
    for weaker in least(scope):
        refused = ask(client, method, path, json={}, headers=bearer(weaker))
        assert refused.status_code == 403
        assert refused.json()["detail"] == f"Authorization: the key must have the scope {scope}"
        assert f'scope="{scope}"' in refused.headers["WWW-Authenticate"]
    for stronger in {scope, "admin"}:
        let_in = ask(client, method, path, json={}, headers=bearer(stronger))
        assert let_in.status_code not in (401, 403)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/version", "/openapi.json", "/docs"])
def test_probes_and_documentation_are_open(guarded, path):
    client, _ = guarded
    assert client.get(path).status_code == 200


def test_paths_that_do_not_exist_tell_strangers_nothing(guarded):
    client, bearer = guarded
    assert client.get("/v1/none").status_code == 401
    assert client.get("/healthz/").status_code == 401
    assert client.get("/v1/none", headers=bearer("read")).status_code == 404


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic dXNlcjp4", "Bearer tl_00000000_" + "0" * 48,
     "Bearer " + "x" * 10_000, "Bearer tl_' OR 1=1 --_", "bearer \udcff"],
)  # fmt: skip
def test_what_is_no_key_opens_nothing(guarded, header):
    client, bearer = guarded
    bearer("admin")
    answer = client.get("/v1/designs", headers={"Authorization": header.encode(errors="replace")})
    assert answer.status_code == 401


def test_a_key_that_differs_in_one_digit_is_another(guarded):
    client, bearer = guarded
    header = bearer("read")["Authorization"]
    assert client.get("/v1/designs", headers={"Authorization": header}).status_code == 200
    for place in (len("Bearer tl_"), len(header) - 1):
        other = "0" if header[place] != "0" else "1"
        changed = header[:place] + other + header[place + 1 :]
        assert client.get("/v1/designs", headers={"Authorization": changed}).status_code == 401


def test_the_scheme_is_written_in_any_case(guarded):
    client, bearer = guarded
    header = bearer("read")["Authorization"].replace("Bearer", "bEARER")
    assert client.get("/v1/designs", headers={"Authorization": header}).status_code == 200


def test_answers_for_key_holders_are_not_kept_by_caches_for_all(guarded):
    client, bearer = guarded
    made = client.post("/v1/topologies", json={"recipe": "UniRing(5)"}, headers=bearer("design"))
    read = client.get(made.headers["Location"], headers=bearer("design"))
    assert read.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert made.headers["Cache-Control"] == "no-store"


def test_a_key_is_not_in_the_database_but_its_digest_is(engine):
    key, text_ = api_keys.create(engine, "ci", ["read"])
    secret = text_.rpartition("_")[2]
    with engine.connect() as connection:
        [row] = connection.execute(text("SELECT * FROM api_keys")).all()
    assert secret not in repr(row) and secret not in repr(key)
    assert row.secret_hash == hashlib.sha256(secret.encode()).hexdigest()


def test_digests_are_compared_in_constant_time(engine, monkeypatch):
    compared = []
    true = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(1) or true(a, b))
    found(engine, api_keys.create(engine, "ci", ["read"])[1])
    assert compared


def test_keys_expire_and_are_revoked(engine):
    lasting, text_ = api_keys.create(engine, "a", ["plan", "read"])
    short, other = api_keys.create(engine, "b", ["admin"], days=1)
    assert found(engine, text_) == lasting
    assert lasting.is_valid(api_keys.now() + timedelta(days=10_000))
    assert short.is_valid(api_keys.now())
    assert short.state(api_keys.now() + timedelta(days=1)) == "expired"
    assert api_keys.valid(engine) == 2
    assert api_keys.revoke(engine, lasting.id).state(api_keys.now()) == "revoked"
    first = api_keys.revoke(engine, lasting.id)
    assert api_keys.revoke(engine, lasting.id) == first
    assert api_keys.valid(engine) == 1
    assert [key.name for key in api_keys.all_keys(engine)] == ["b", "a"]
    assert found(engine, other).scopes == ("admin",)
    with pytest.raises(InvalidKey, match="ID: must be the id of a key"):
        api_keys.revoke(engine, "none")


@pytest.mark.parametrize(
    ("name", "scopes", "message"),
    [("", ["read"], "name"), ("x" * 81, ["read"], "name"), ("a\nb", ["read"], "name"),
     ("a\x9bb", ["read"], "name"), ("a\u202eb", ["read"], "name"),
     ("a", [], "scope"), ("a", ["read", "write"], "scope")],
)  # fmt: skip
def test_a_key_that_cannot_be_is_refused(engine, name, scopes, message):
    with pytest.raises(InvalidKey, match=f"^{message}: must be"):
        api_keys.create(engine, name, scopes)
    assert api_keys.all_keys(engine) == []


def test_the_last_use_is_written_at_most_once_a_minute(engine):
    key, text_ = api_keys.create(engine, "a", ["read"])
    moment = api_keys.now().replace(microsecond=0)
    writes = []
    event.listen(
        engine, "before_cursor_execute",
        lambda *said: writes.append(said[2]) if said[2].startswith("UPDATE") else None,
    )  # fmt: skip
    for seconds in (0, 1, 59, 60, 61, 119, 120):
        api_keys.touch(engine, found(engine, text_), moment + timedelta(seconds=seconds))
    assert len(writes) == 3
    assert found(engine, text_).used_at == moment + timedelta(seconds=120)
    assert key.used_at is None


@contextmanager
def statements(engine):
    seen = []

    def note(connection, cursor, statement, *_):
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


def test_a_key_costs_one_look_up_in_some_seconds_right_or_wrong(engine):
    text_ = api_keys.create(engine, "a", ["read"])[1]
    wrong = text_[:-1] + ("0" if text_[-1] != "0" else "1")
    now = 0.0

    async def ask():
        nonlocal now
        known = KnownKeys(engine, seconds=5, clock=lambda: now)
        for asked, queries in ((text_, 1), (wrong, 0), (UNKNOWN, 1)):
            with statements(engine) as seen:
                for _ in range(3):
                    assert (await known.access(asked) is not None) == (asked == text_)
            assert len([one for one in seen if one.startswith("SELECT")]) == queries
        now = 5.0
        with statements(engine) as seen:
            assert await known.access(text_) is not None
        assert any(one.startswith("SELECT") for one in seen)

    anyio.run(ask)


def test_the_entry_of_a_key_in_use_is_renewed_and_no_request_waits_for_the_query(engine):
    key, text_ = api_keys.create(engine, "a", ["read"])
    now = 0.0

    async def ask():
        nonlocal now
        known = KnownKeys(engine, seconds=5, clock=lambda: now)
        assert await known.access(text_)
        api_keys.revoke(engine, key.id)
        now = 4.0
        # The answer is that of the entry; the query begins, and finds that the key is revoked.
        assert await known.access(text_)
        async with asyncio.timeout(60):
            while await known.access(text_):
                await asyncio.sleep(0.01)

    anyio.run(ask)


def test_a_flood_of_guesses_shares_its_queries_with_the_valid_key_in_it(engine):
    text_ = api_keys.create(engine, "a", ["read"])[1]
    asked = [f"tl_{number:08x}_{'0' * 48}" for number in range(500)] + [text_]

    async def ask():
        known = KnownKeys(engine)
        return await asyncio.gather(*(known.access(one) for one in asked))

    with statements(engine) as seen:
        *guesses, access = anyio.run(ask)
    assert access is not None and not any(guesses)
    assert len([one for one in seen if one.startswith("SELECT")]) <= 2


def test_a_flood_of_guesses_has_one_query_a_second(engine):
    text_, now = api_keys.create(engine, "a", ["read"])[1], 0.0
    asked = [f"tl_{number:08x}_{'0' * 48}" for number in range(500)] + [text_]

    async def ask():
        nonlocal now
        known = KnownKeys(engine, clock=lambda: now)
        for _ in range(2):
            *guesses, listed = [await known.is_listed(one) for one in asked]
            assert listed and not any(guesses)
        new = api_keys.create(engine, "b", ["read"])[1]
        assert not await known.is_listed(new)
        now = IDS_SECONDS
        assert await known.is_listed(new)

    with statements(engine) as seen:
        anyio.run(ask)
    assert len([one for one in seen if one.startswith("SELECT")]) == 2


def test_what_is_remembered_costs_less_than_a_tenth_of_a_millisecond(engine):
    text_ = api_keys.create(engine, "a", ["read"])[1]

    async def ask():
        known = KnownKeys(engine)
        await known.access(text_)
        return [await timed(known, text_) for _ in range(5)]

    assert min(anyio.run(ask)) < 1e-4


async def timed(known, text_):
    start = time.thread_time()
    for _ in range(1_000):
        assert await known.access(text_)
    return (time.thread_time() - start) / 1_000


def test_an_expired_key_is_not_remembered_beyond_its_end(engine):
    day, now = 86_400.0, 0.0
    key, text_ = api_keys.create(engine, "a", ["read"], days=1)

    async def ask():
        nonlocal now
        known = KnownKeys(engine, seconds=10 * day, clock=lambda: now)
        assert (await known.access(text_)).caller == f"key:{key.id}"
        with engine.begin() as connection:
            connection.execute(update(ApiKeyRow).values(expires_at=api_keys.now()))
        assert await known.access(text_) is not None
        now = day
        assert await known.access(text_) is None

    anyio.run(ask)


def test_who_writes_to_the_database_keeps_nobody_from_being_told_apart(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 't.db'}")
    text_ = api_keys.create(engine, "a", ["read"])[1]
    writer = sqlite3.connect(tmp_path / "t.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")

    async def ask():
        known = KnownKeys(engine)
        assert await known.access(text_) is not None
        assert known._touching, "the look-up waited until its use was written"
        writer.execute("COMMIT")
        while known._touching:
            await anyio.sleep(0.01)

    anyio.run(ask)
    assert found(engine, text_).used_at is not None
    writer.close()
    engine.dispose()


@pytest.mark.slow
def test_guesses_do_not_fill_the_memory():
    engine = open_engine("sqlite://")
    migrate(engine)
    known = KnownKeys(engine)

    async def guess():
        for number in range(MOST + 50):
            await known.access(f"tl_{number:08x}_{'0' * 48}")

    anyio.run(guess)
    assert len(known._entries) == MOST
    engine.dispose()


def test_the_owner_of_a_request_is_the_key_or_the_address(tmp_path):
    seen = []
    for auth in ("open", "keys"):
        url = f"sqlite:///{tmp_path / auth}.db"
        app = create_app(Settings(database_url=url, auth=auth))

        @app.get("/owner")
        async def owner(request: __import__("fastapi").Request):
            seen.append(request.state.owner)

        with TestClient(app, base_url="http://localhost", client=("203.0.113.9", 5)) as client:
            key, text_ = api_keys.create(app.state.engine, "a", ["read"])
            client.get("/owner", headers={"Authorization": f"Bearer {text_}"})
    assert seen == ["address:203.0.113.9", f"key:{key.id}"]


def test_a_database_that_is_gone_is_said_and_opens_nothing(guarded):
    client, _ = guarded
    engine = client.app.state.engine
    # A key of its own: one that another test has just used is remembered for a while.
    header = {"Authorization": f"Bearer {api_keys.create(engine, 'new', ['admin'])[1]}"}
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE api_keys RENAME TO gone"))
    answer = client.get("/v1/designs", headers=header)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE gone RENAME TO api_keys"))
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/database-not-ready")


@given(st.text(max_size=80))
def test_no_text_but_a_key_is_one(guess):
    engine = open_engine("sqlite://")
    try:
        # Not even asked of the database, which has no tables here.
        assert found(engine, guess) is None
    finally:
        engine.dispose()
