"""Heavy work in processes of its own: limits of time and memory, cancelling, one for all."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event

import pytest
from fastapi.exceptions import RequestValidationError

from tests.app.jobs.work import until
from tests.cases import for_every
from tests.patience import slowdown
from topoloom.app.jobs.worker_pool import pool
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.error_pickling import pack_error, unpack_error
from topoloom.app.jobs.worker_pool.errors import Cancelled, WorkDied
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.app.jobs.worker_pool.store_proxy import Call
from topoloom.app.jobs.worker_pool.task import Task, parse_request
from topoloom.app.services.operations import DESIGN, OPERATIONS, SCHEDULE
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.database import open_database
from topoloom.app.store.document_store import Store
from topoloom.schedules.errors import TookTooLong, TooLarge

QUESTION = {"degree": 32, "collective": "allreduce", "bytes": "1GB"}
QUICK = Task.of("topology", b'{"recipe":"BiRing(5)"}')
HEAVY = Task.of("frontier", b'{"nodes":16384,"degree":32}')
"""Some twenty seconds of a search that says nothing for many of them."""
ENDED = 8.0
"""Seconds in which a core must be free again on an idle machine: the work takes over 20."""


@pytest.fixture
def engine(settings):
    engine = open_database(settings.database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def pool_of(engine, settings):
    """Return who makes a pool with changed settings, or with other workers."""
    claims = Claims(engine)

    def make(work=None, **changes):
        chosen = settings.model_copy(update=changes)
        more = {} if work is None else {"work": work}
        return WorkerPool(Store(engine), claims, chosen, **more)

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


def test_an_answer_is_stored_by_who_had_it_computed(pool_of, engine):
    done = pool_of().run(QUICK, Event())
    assert isinstance(done.answer, Artefact) and done.answer.fresh
    stored = Store(engine).get("topology", done.answer.id)
    assert stored is not None and stored.content == done.answer.content
    again = pool_of().run(QUICK, Event()).answer
    assert isinstance(again, Artefact) and not again.fresh and again.content == stored.content


def test_work_that_takes_too_long_ends_in_time(pool_of):
    start, before = time.monotonic(), workers_of(os.getpid())
    with pytest.raises(TookTooLong, match=r"must be done within 1 seconds"):
        pool_of(max_seconds=1).run(HEAVY, Event())
    assert time.monotonic() - start < 1 + ENDED * slowdown()
    until(lambda: workers_of(os.getpid()) <= before, ENDED * slowdown())


@pytest.mark.slow
def test_the_limit_says_where_the_work_was(pool_of):
    asked = {"topology": {"recipe": "GeneralizedKautz(4, 1900)"}, "collective": "allgather"}
    long = Task.of("schedule", json.dumps({**asked, "algorithm": "forestcoll"}).encode())
    with pytest.raises(TookTooLong, match=r"; was [a-z ]+, [0-9]+ of [0-9]+ done"):
        # A worker that starts on a busy machine says nothing for five seconds; all take a minute.
        pool_of(max_seconds=15).run(long, Event())


@pytest.mark.slow
def test_work_that_nobody_waits_for_ends_at_once(pool_of):
    cancelled = Event()
    threading.Timer(0.7, cancelled.set).start()
    start, before = time.monotonic(), workers_of(os.getpid())
    with pytest.raises(Cancelled):
        pool_of().run(HEAVY, cancelled)
    assert time.monotonic() - start < 0.7 + ENDED * slowdown()
    until(lambda: workers_of(os.getpid()) <= before, ENDED * slowdown())


def test_work_that_needs_too_much_memory_says_so(pool_of):
    with pytest.raises(TooLarge, match=r"needs more than 1000000 bytes of memory"):
        pool_of(work=wasteful).run(QUICK, Event())


def wasteful(connection, settings, task):
    from topoloom.app.jobs.worker_pool import worker_process as child
    from topoloom.app.services.operations import TOPOLOGY

    def waste(context, body):
        return len(bytearray(2**34))

    object.__setattr__(TOPOLOGY, "answer", waste)
    limited = settings.model_copy(update={"max_work_bytes": 10**6})
    child.work(connection, limited, task)


def test_a_worker_that_dies_is_named_with_its_signal(pool_of):
    with pytest.raises(WorkDied, match=r"the computation \(topology\) was ended by signal 9"):
        pool_of(work=suicidal).run(QUICK, Event())


def suicidal(connection, settings, task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_that_yields_has_the_lowest_priority(pool_of):
    pool_of(work=waiting_to_be_nice).run(QUICK, Event(), short_seconds=0)


def waiting_to_be_nice(connection, settings, task):
    from topoloom.app.jobs.worker_pool import worker_process as child

    while os.getpriority(os.PRIO_PROCESS, 0) < pool.LONG_NICENESS:
        time.sleep(0.01)
    child.work(connection, settings, task)


def test_a_worker_may_ask_for_nothing_but_documents(pool_of):
    with pytest.raises(ValueError, match="a worker may not ask for close"):
        pool_of(work=nosy).run(QUICK, Event())


def nosy(connection, settings, task):
    connection.send(Call("close", ()))
    connection.recv()


def test_errors_of_a_worker_are_those_of_the_service(pool_of):
    with pytest.raises(Exception) as caught:
        pool_of().run(Task.of("topology", b'{"recipe":"Kautz(0, 0)"}'), Event())
    assert (type(caught.value).__name__, getattr(caught.value, "field", None)) == (
        "OutOfDomain",
        "/recipe",
    )


@for_every("operation", OPERATIONS.values())
def test_a_body_that_is_not_json_is_refused_by_every_operation(operation):
    for body in (b"{", b"\xff", b"[" * 100_000, b"9" * 10_000):
        with pytest.raises(Exception) as caught:
            parse_request(operation.body, body)
        assert caught.value.errors()[0]["type"] == "json_invalid"


@pytest.mark.slow
def test_of_a_million_unknown_members_a_hundred_are_named_at_once():
    body = json.dumps({f"k{n}": 0 for n in range(1_000_000)}).encode()
    start = time.process_time()
    with pytest.raises(RequestValidationError) as caught:
        parse_request(DESIGN.body, body)
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
    task = Task.of("schedule", body)
    again = Task.of("schedule", parse_request(SCHEDULE.body, task.text().encode()))
    assert again == task == pickle.loads(pickle.dumps(task))
    assert again.request.canonical() == body.canonical()


def test_every_error_of_ours_travels(pool_of):
    from topoloom.app.api.problem_types import PROBLEMS

    made = 0
    for kind in PROBLEMS:
        for arguments in (("/a", "must be"), ("design", "0" * 64), ("a",)):
            try:
                error = kind(*arguments)
            except (TypeError, AttributeError):
                continue
            again = unpack_error(pack_error(error))
            assert type(again) is kind and str(again) == str(error)
            assert again.__dict__ == error.__dict__
            made += 1
    assert made >= len(PROBLEMS)


@pytest.mark.parametrize("operation", [DESIGN], ids=["design"])
def test_what_an_operation_is_asked_tells_it_from_others(operation):
    one, other = (
        Task.of(operation.name, operation.body.model_validate(QUESTION | {"nodes": nodes}))
        for nodes in (8, 9)
    )
    assert one.identity != other.identity


@pytest.mark.slow
def test_a_first_start_says_what_it_compiles(tmp_path):
    command = [sys.executable, "-c", "import topoloom.app.jobs.worker_pool.preload"]
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
    assert "topoloom compiles its kernels for this machine, once" in said[0]
    assert said[1] == ""
