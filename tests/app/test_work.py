"""Heavy work in processes of its own: limits of time and memory, cancelling, one for all."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from fastapi.exceptions import RequestValidationError
from fastapi.testclient import TestClient
from sqlalchemy import create_engine

from app.artefacts import Artefact
from app.db import open_database
from app.facts import Facts
from app.main import create_app
from app.store import Store
from app.work.claims import LEASE, Claims
from app.work.crew import Crew
from app.work.distant import Call
from app.work.errors import Cancelled, WorkDied
from app.work.operations import DESIGN, OPERATIONS, SCHEDULE
from app.work.parcels import packed, unpacked
from app.work.served import Served
from app.work.task import Task
from schedules.errors import TookTooLong, TooLarge

QUICK = Task("topology", b'{"recipe":"BiRing(5)"}')
HEAVY = Task("frontier", b'{"nodes":16384,"degree":32}')
"""Some twenty seconds of a search that says nothing for many of them."""

ENDED = 2.0
"""Seconds in which a core must be free again."""


@pytest.fixture
def engine(settings):
    engine = open_database(settings.database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def crew_of(engine, settings):
    """Return who makes a crew with changed settings, or with other workers."""
    claims = Claims(engine)

    def make(work=None, **changes):
        chosen = settings.model_copy(update=changes)
        more = {} if work is None else {"work": work}
        return Crew(Store(engine), claims, chosen, **more)

    yield make
    claims.close()


def workers_of(pid):
    """Return the processes that work for a process: grandchildren, by way of the fork server."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int(
                    (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
                )
            except (OSError, IndexError):
                continue
    below = {child for child, parent in found.items() if parent == pid}
    return {child for child, parent in found.items() if parent in below}


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_answer_is_stored_by_who_had_it_computed(crew_of, engine):
    done = crew_of().run(QUICK, Event())
    assert isinstance(done.answer, Artefact) and done.answer.fresh
    stored = Store(engine).get("topology", done.answer.id)
    assert stored is not None and stored.content == done.answer.content
    again = crew_of().run(QUICK, Event()).answer
    assert isinstance(again, Artefact) and not again.fresh and again.content == stored.content


def test_work_that_takes_too_long_ends_in_time(crew_of):
    start = time.monotonic()
    with pytest.raises(TookTooLong, match=r"must be done within 1 seconds"):
        crew_of(max_seconds=1).run(HEAVY, Event())
    assert time.monotonic() - start < 1 + ENDED
    wait_until(lambda: not workers_of(os.getpid()), ENDED)


def test_the_limit_says_where_the_work_was(crew_of):
    asked = {"topology": {"recipe": "GeneralizedKautz(4, 1900)"}, "collective": "allgather"}
    long = Task("schedule", json.dumps({**asked, "algorithm": "forestcoll"}).encode())
    with pytest.raises(TookTooLong, match=r"; was [a-z ]+, [0-9]+ of [0-9]+ done"):
        crew_of(max_seconds=5).run(long, Event())


def test_work_that_nobody_waits_for_ends_at_once(crew_of):
    cancelled = Event()
    threading.Timer(0.7, cancelled.set).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        crew_of().run(HEAVY, cancelled)
    assert time.monotonic() - start < 0.7 + ENDED
    wait_until(lambda: not workers_of(os.getpid()), ENDED)


def test_work_that_needs_too_much_memory_says_so(crew_of):
    with pytest.raises(TooLarge, match=r"needs more than 1000000 bytes of memory"):
        crew_of(work=wasteful).run(QUICK, Event())


def wasteful(connection, settings, task):
    from app.work import child
    from app.work.operations import TOPOLOGY

    def waste(context, body):
        return len(bytearray(2**34))

    object.__setattr__(TOPOLOGY, "answer", waste)
    limited = settings.model_copy(update={"max_work_bytes": 10**6})
    child.work(connection, limited, task)


def test_a_worker_that_dies_is_named_with_its_signal(crew_of):
    with pytest.raises(WorkDied, match=r"the computation \(topology\) was ended by signal 9"):
        crew_of(work=suicidal).run(QUICK, Event())


def suicidal(connection, settings, task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_may_ask_for_nothing_but_documents(crew_of):
    with pytest.raises(ValueError, match="a worker may not ask for close"):
        crew_of(work=nosy).run(QUICK, Event())


def nosy(connection, settings, task):
    connection.send(Call("close", ()))
    connection.recv()


def test_errors_of_a_worker_are_those_of_the_service(crew_of):
    with pytest.raises(Exception) as caught:
        crew_of().run(Task("topology", b'{"recipe":"Kautz(0, 0)"}'), Event())
    assert (type(caught.value).__name__, getattr(caught.value, "field", None)) == (
        "OutOfDomain",
        "/recipe",
    )


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_body_that_is_not_json_is_refused_by_every_operation(operation):
    for body in (b"{", b"\xff", b"[" * 100_000, b"9" * 10_000):
        with pytest.raises(Exception) as caught:
            operation.parsed(body)
        assert caught.value.errors()[0]["type"] == "json_invalid"


def test_of_a_million_unknown_members_a_hundred_are_named_at_once():
    body = json.dumps({f"k{n}": 0 for n in range(1_000_000)}).encode()
    start = time.process_time()
    with pytest.raises(RequestValidationError) as caught:
        DESIGN.parsed(body)
    assert len(caught.value.errors()) == 100
    assert caught.value.errors()[-1]["msg"] == "breaks 1000000 rules in all"
    assert time.process_time() - start < 3


def test_a_request_is_the_same_after_its_way_to_a_worker():
    body = SCHEDULE.body.model_validate(
        {
            "topology": {"document": {"schema": "topology/1", "x": None}},
            "collective": "allgather",
            "shards": ["a=1", {"rank": 2, "size": 3}],
            "max_gap": "1/100",
        }
    )
    task = SCHEDULE.task(body)
    assert SCHEDULE.task(SCHEDULE.parsed(task.body)) == task
    assert SCHEDULE.parsed(task.body).canonical() == body.canonical()


def test_every_error_of_ours_travels(crew_of):
    from app.problems import PROBLEMS

    made = 0
    for kind in PROBLEMS:
        for arguments in (("/a", "must be"), ("design", "0" * 64), ("a",)):
            try:
                error = kind(*arguments)
            except (TypeError, AttributeError):
                continue
            again = unpacked(packed(error))
            assert type(again) is kind and str(again) == str(error)
            assert again.__dict__ == error.__dict__
            made += 1
    assert made >= len(PROBLEMS)


# Claims


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
    monkeypatch.setattr("app.work.claims.time.time", lambda: now + LEASE - 1)
    assert not heir.take("a", everywhere=True)
    monkeypatch.setattr("app.work.claims.time.time", lambda: now + LEASE + 1)
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
    first = Served(store, claims, lambda: None)
    second = Served(store, claims, lambda: waited.append(begun.set()))
    from app.artefacts import Computed, key

    asked = {"nodes": 1}
    identity = key("design", asked)
    assert first.begin("design", identity) is None
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(second.begin, "design", identity)
        assert begun.wait(10)
        first.keep("design", asked, identity, Computed.json({"id": identity}, {}), Facts())
        found = other.result(10)
    assert found is not None and found.document() == {"id": identity}
    claims.close()


# The service


def said(answer):
    """Return an answer; of a problem, without the id of its request."""
    if answer.status_code < 300:
        return answer.content
    return {**answer.json(), "request_id": None}


BIG = {"nodes": 16384, "degree": 32, "collective": "allreduce", "bytes": "1GB"}


def test_the_limit_of_the_service_is_kept_by_a_search_that_says_nothing(settings):
    hasty = settings.model_copy(update={"max_seconds": 1.0})
    with TestClient(create_app(hasty), base_url="http://localhost") as client:
        start = time.monotonic()
        answer = client.post("/v1/designs", json=BIG)
        assert answer.status_code == 422
        assert answer.json()["type"] == "/problems/took-too-long"
        assert time.monotonic() - start < 1 + ENDED


def test_the_same_question_is_refused_again_without_work(client, monkeypatch):
    topology = {"recipe": "BiRing(5)"}
    made = client.post(
        "/v1/schedules", json={"topology": topology, "collective": "broadcast", "root": 0}
    )
    place = made.headers["Location"] + "?format=msccl-xml"
    first = client.get(place)
    assert first.status_code == 422 and first.json()["type"] == "/problems/not-exportable"
    monkeypatch.setattr(Crew, "run", None)
    assert said(client.get(place)) == said(first)


def test_an_export_is_written_once(client, monkeypatch):
    made = client.post(
        "/v1/schedules", json={"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    )
    places = [
        made.headers["Location"] + query for query in ("", "?format=dot", "?format=msccl-xml")
    ]
    first = [client.get(place) for place in places]
    assert [answer.status_code for answer in first] == [200, 422, 200]
    monkeypatch.setattr(Crew, "run", None)
    for place, answer in zip(places, first, strict=True):
        again = client.get(place)
        assert again.status_code == answer.status_code
        assert said(again) == said(answer)


def test_a_large_body_is_read_by_a_worker_and_says_the_same(client):
    topology = client.post("/v1/topologies", json={"recipe": "Kautz(4, 4)"})
    document = topology.json()
    document.pop("id")
    text = json.dumps(document, indent=9)
    assert len(text) > 2 * 64 * 2**10
    headers = {"Content-Type": "application/json"}
    made = client.post("/v1/topologies", content=text, headers=headers)
    assert made.status_code == 201
    small = json.dumps({"name": made.json()["name"]})
    assert client.post("/v1/topologies", content=small, headers=headers).status_code in (200, 422)
    assert client.post("/v1/topologies", content=text, headers=headers).status_code == 200
    wrong = client.post("/v1/topologies", content=text)
    assert wrong.status_code == 415
    assert client.post("/v1/topologies?x=1", content=text, headers=headers).status_code == 422
    aside = headers | {"Prefer": "respond-async"}
    unreadable = client.post("/v1/topologies", content=text.encode("utf-16"), headers=aside)
    assert unreadable.status_code == 400
    broken = client.post("/v1/topologies", content=text[:-1], headers=headers)
    assert broken.status_code == 400 and broken.json()["type"] == "/problems/malformed-body"


def test_too_much_work_is_refused_with_when_to_come_back(settings, monkeypatch):
    few = settings.model_copy(update={"max_working": 1, "max_waiting": 1})
    release, begun = Event(), []

    def held(crew, task, cancelled):
        begun.append(task)
        release.wait(30)
        raise TooLarge("/nodes", "must be fewer")

    monkeypatch.setattr(Crew, "run", held)
    with (
        TestClient(create_app(few), base_url="http://localhost") as client,
        ThreadPoolExecutor(2) as pool,
    ):
        asked = []
        for n in (8, 9):
            asked.append(pool.submit(client.post, "/v1/designs", json={**BIG, "nodes": n}))
            wait_until(lambda: len(client.app.state.turns._flights) == len(asked), 10)
        answer = client.post("/v1/designs", json={**BIG, "nodes": 10})
        assert answer.status_code == 503 and answer.json()["type"] == "/problems/busy"
        assert int(answer.headers["Retry-After"]) > 0
        release.set()
        assert {one.result().status_code for one in asked} == {422}


@pytest.mark.parametrize("operation", [DESIGN], ids=["design"])
def test_what_an_operation_is_asked_tells_it_from_others(operation):
    one = operation.task(operation.body.model_validate({**BIG, "nodes": 8}))
    other = operation.task(operation.body.model_validate({**BIG, "nodes": 9}))
    assert one.identity != other.identity


def test_a_first_start_says_what_it_compiles(tmp_path):
    command = [sys.executable, "-c", "import app.work.preloaded"]
    said = []
    for folder in (tmp_path, None):
        variables = {} if folder is None else {"NUMBA_CACHE_DIR": str(folder)}
        process = subprocess.Popen(
            command, env=os.environ | variables, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        # Compiling takes a minute; what is said comes before it.
        said.append(process.stderr.readline() if folder else process.stderr.read())
        process.kill()
        process.wait()
        process.stderr.close()
    assert said[0].startswith("topoloom: compiles its kernels for this machine, once")
    assert said[1] == ""
