"""A shutdown while clients wait: every request gets an answer, and none is a 500."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2 as httpx
import pytest
import uvicorn

from tests.app.jobs.work import until
from topoloom.app.api import connection_timeouts
from topoloom.app.api.main import create_app
from topoloom.app.api.server import GracefulServer, uvicorn_options
from topoloom.app.jobs.worker_pool.errors import Cancelled
from topoloom.app.jobs.worker_pool.pool import WorkerPool

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
LARGE = json.dumps({"recipe": "BiRing(5)"}) + " " * 2**20
"""A body too large for a job."""


@pytest.fixture
def begun(monkeypatch):
    """Let computations run until they are cancelled; return those that began, and their flags."""
    found = {}

    def run(pool, task, cancelled, report=None, **how):
        found[task.operation] = cancelled
        while not cancelled.is_set():
            time.sleep(0.01)
        raise Cancelled

    monkeypatch.setattr(WorkerPool, "run", run)
    return found


@contextmanager
def service(settings, grace_seconds):
    app = create_app(settings.model_copy(update={"port": 0, "run_worker": False, "max_working": 4}))
    options = uvicorn_options(app, settings.model_copy(update={"port": 0}))
    options["timeout_graceful_shutdown"] = grace_seconds
    server = GracefulServer(uvicorn.Config(app, **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        yield server, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=100)
    assert not thread.is_alive()


def refuses(base):
    """Return whether a service takes no more connections."""
    host, port = base.removeprefix("http://").split(":")
    try:
        socket.create_connection((host, int(port)), timeout=30).close()
    except OSError:
        return True
    return False


def require_later(answer, slug="shutting-down"):
    """Require an answer that tells the client to ask again."""
    assert (answer.status_code, answer.json()["type"]) == (503, f"/problems/{slug}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["connection"] == "close"


def test_a_client_that_waits_at_a_shutdown_is_told_of_a_job_or_to_come_again(settings, begun):
    with (
        service(settings, grace_seconds=100) as (server, base),
        ThreadPoolExecutor(2) as threads,
        httpx.Client(base_url=base, timeout=200) as client,
    ):
        json_type = {"Content-Type": "application/json"}
        small = threads.submit(client.post, "/v1/designs", json=DESIGN)
        large = threads.submit(client.post, "/v1/topologies", content=LARGE, headers=json_type)
        until(lambda: len(begun) == 2)
        server.should_exit = True
        promised = small.result()
        assert promised.status_code == 202
        assert promised.headers["location"] == f"/v1/jobs/{promised.json()['id']}"
        require_later(large.result())


def test_a_request_on_an_open_connection_is_refused_during_a_shutdown(settings, begun, monkeypatch):
    monkeypatch.setattr(connection_timeouts, "IDLE_SECONDS", 60.0)
    with (
        service(settings, grace_seconds=100) as (server, base),
        httpx.Client(base_url=base, timeout=200) as client,
    ):
        assert client.get("/v1/designs").status_code == 200
        server.should_exit = True
        until(lambda: refuses(base))
        require_later(client.get("/v1/designs"))


def test_a_request_that_outlasts_the_shutdown_is_told_to_come_again(settings, begun):
    with service(settings, grace_seconds=1) as (server, base):
        host, port = base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=200) as connection:
            head = "POST /v1/designs HTTP/1.1\r\nHost: localhost\r\n"
            head += "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            connection.sendall(head.encode())
            until(lambda: server.server_state.tasks)
            server.should_exit = True
            answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: " in answer.lower()


@pytest.mark.parametrize("others", [0, 1])
def test_a_client_that_leaves_ends_its_computation_unless_another_waits(settings, begun, others):
    with (
        service(settings, grace_seconds=100) as (server, base),
        ThreadPoolExecutor(1) as threads,
        httpx.Client(base_url=base, timeout=200) as client,
    ):
        host, port = base.removeprefix("http://").split(":")
        queue = server.config.app.state.computations
        body = json.dumps(DESIGN).encode()
        head = "POST /v1/designs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection((host, int(port)), timeout=200) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            until(lambda: begun)
            asked = [threads.submit(client.post, "/v1/designs", json=DESIGN) for _ in range(others)]
            (one,) = queue._in_flight.values()
            until(lambda: one.clients.total() == 1 + others)
        until(lambda: one.clients.total() == others)
        until(lambda: queue.running == others)
        assert begun["design"].is_set() == (not others)
        assert client.get("/v1/jobs").json()["items"] == []
        server.should_exit = True
        assert [answer.result().status_code for answer in asked] == [202] * others
