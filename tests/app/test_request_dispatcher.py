"""One computation for the same question, and stored answers that wait for none."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest

from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.schedules.errors import TooLarge

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}


def design(size):
    return {**DESIGN, "bytes": size}


PLACES = 2


@pytest.fixture
def settings(settings):
    return settings.model_copy(update={"max_working": PLACES, "max_waiting": 60})


@pytest.fixture
def computations(monkeypatch):
    """Hold every computation until the event; return it and what began."""
    release, begun, lock, run = Event(), [], Lock(), WorkerPool.run

    def held(pool, task, cancelled, report=None, **how):
        with lock:
            begun.append(task.identity)
        while not release.wait(0.05) and not cancelled.is_set():
            pass
        return run(pool, task, cancelled, report, **how)

    monkeypatch.setattr(WorkerPool, "run", held)
    yield release, begun
    release.set()


def wait_for(condition):
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_eight_identical_questions_are_computed_once(client, computations):
    release, begun = computations
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(client.post, "/v1/designs", json=DESIGN) for _ in range(8)]
        wait_for(lambda: begun)
        time.sleep(0.5)
        release.set()
        answers = [one.result() for one in asked]
    assert len(begun) == 1
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.content for answer in answers}) == 1


def test_who_waits_for_the_same_takes_no_place_from_others(client, computations):
    release, begun = computations
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(client.post, "/v1/designs", json=DESIGN) for _ in range(8)]
        wait_for(lambda: begun)
        others = [design(f"{n}MB") for n in range(2, 1 + PLACES)]
        asked += [pool.submit(client.post, "/v1/designs", json=other) for other in others]
        wait_for(lambda: len(begun) == PLACES)
        release.set()
        assert {one.result().status_code for one in asked} == {200, 201}


def test_an_error_is_the_error_of_all_who_wait(client, monkeypatch):
    calls = []

    def refuse(pool, task, cancelled, **how):
        calls.append(task)
        time.sleep(1)
        raise TooLarge("/nodes", "must be fewer, today")

    monkeypatch.setattr(WorkerPool, "run", refuse)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(client.post, "/v1/designs", json=DESIGN) for _ in range(8)]
        answers = [one.result() for one in asked]
    assert len(calls) == 1
    assert {answer.status_code for answer in answers} == {422}
    assert {answer.json()["detail"] for answer in answers} == {"/nodes: must be fewer, today"}


@pytest.mark.slow
def test_a_job_ends_with_the_computation_that_runs_on_for_it(client, computations):
    release, _ = computations
    client.app.state.host.stop()  # No worker takes the job.
    accepted = client.post("/v1/designs", json=DESIGN, headers={"Prefer": "wait=1"})
    assert accepted.status_code == 202
    release.set()
    place = accepted.headers["Location"]
    wait_for(lambda: client.get(place).json()["state"] == "done")
    assert client.post("/v1/designs", json=DESIGN).status_code == 200


def test_an_error_about_something_else_is_not_shared(client):
    """Both miss the same topology first; one of them cannot be answered on it."""
    source = {"fabric": "dgx-a100-2"}
    good = {"topology": source, "collective": "allgather", "algorithm": "forestcoll"}
    bad = {"topology": source, "collective": "allgather", "algorithm": "bfb"}
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(client.post, "/v1/schedules", json=one) for one in [bad, good] * 3]
        statuses = [one.result().status_code for one in asked]
    assert set(statuses[::2]) == {422} and sorted(statuses[1::2]) == [200, 200, 201]


@pytest.mark.slow
def test_stored_answers_wait_for_no_computation(client, computations):
    release, begun = computations
    release.set()
    first = client.post("/v1/designs", json=DESIGN)
    place, topology = first.headers["Location"], first.json()["best"]["topology_id"]
    assert client.get(f"/v1/topologies/{topology}/cost").status_code == 200
    release.clear()
    begun.clear()
    # More wait than there are threads.
    sizes = [f"{n}MB" for n in range(2, 52)]
    with ThreadPoolExecutor(len(sizes)) as pool:
        asked = [pool.submit(client.post, "/v1/designs", json=design(size)) for size in sizes]
        wait_for(lambda: len(begun) == PLACES)
        time.sleep(0.5)
        assert client.post("/v1/designs", json=DESIGN).status_code == 200
        assert client.get(place).json() == first.json()
        assert client.get(f"/v1/topologies/{topology}/cost").status_code == 200
        assert len(begun) == PLACES
        release.set()
        # A job may have been quicker than the request that it was made for.
        assert {one.result().status_code for one in asked} <= {200, 201}
