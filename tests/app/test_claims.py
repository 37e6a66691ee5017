"""A document is computed by one process of all: who waits, and how claims of the dead end."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from sqlalchemy import create_engine

from topoloom.app.jobs.worker_pool.claims import LEASE, Claims
from topoloom.app.jobs.worker_pool.store_proxy import StoreServer
from topoloom.app.store.document_store import Store
from topoloom.app.store.index_metadata import Facts


def test_a_document_is_claimed_once_over_all_processes(engine):
    other = create_engine(engine.url)
    ours, theirs = Claims(engine), Claims(other)
    assert ours.take("a", everywhere=True)
    assert not ours.take("a", everywhere=True)
    assert not theirs.take("a", everywhere=True)
    assert theirs.take("b", everywhere=True)
    ours.release(["a"])
    assert theirs.take("a", everywhere=True)
    ours.release(["a"])  # not ours any more
    assert not ours.take("a", everywhere=True)
    theirs.close()
    assert ours.take("a", everywhere=True) and ours.take("b", everywhere=True)
    ours.close()
    engine.dispose()
    other.dispose()


def test_the_claim_of_a_dead_process_ends(engine, monkeypatch):
    dead, heir = Claims(engine), Claims(engine)
    assert dead.take("a", everywhere=True)
    now = time.time()
    monkeypatch.setattr("topoloom.app.jobs.worker_pool.claims.time.time", lambda: now + LEASE - 1)
    assert not heir.take("a", everywhere=True)
    monkeypatch.setattr("topoloom.app.jobs.worker_pool.claims.time.time", lambda: now + LEASE + 1)
    assert heir.take("a", everywhere=True)
    heir.close()
    dead.close()
    engine.dispose()


def test_claims_are_no_condition_for_an_answer(settings):
    """A database without the table of claims: every document is computed, unclaimed."""
    empty = create_engine("sqlite://")
    claims = Claims(empty)
    assert claims.take("a", everywhere=True)
    assert not claims.take("a", everywhere=True)
    claims.close()
    empty.dispose()


def test_who_finds_a_document_claimed_waits_for_it(engine):
    store, claims = Store(engine), Claims(engine)
    begun, waited = Event(), []
    first = StoreServer(store, claims, lambda: None)
    second = StoreServer(store, claims, lambda: waited.append(begun.set()))
    from topoloom.app.store.artifacts import Computed, key

    asked = {"nodes": 1}
    identity = key("design", asked)
    assert first.begin("design", identity) is None
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(second.begin, "design", identity)
        assert begun.wait(100)
        first.keep("design", asked, identity, Computed.json({"id": identity}, {}), Facts())
        found = other.result(100)
    assert found is not None and found.document() == {"id": identity}
    claims.close()
