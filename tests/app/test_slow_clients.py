"""Clients that send or take byte by byte, over real sockets."""

import asyncio
import gc
import logging
import select
import socket
import threading
import time
import weakref
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import pytest
import uvicorn
from fastapi.testclient import TestClient
from starlette.responses import StreamingResponse

from tests.app.jobs.work import until
from topoloom.app.api import connection_timeouts
from topoloom.app.api.connection_limits import RESERVED, SPARE, ConnectionLimits, State
from topoloom.app.api.connection_timeouts import MAX_HEAD, protocol_class
from topoloom.app.api.main import create_app
from topoloom.app.api.request_limits import BODIES_OF_OWNER
from topoloom.app.auth.errors import AddressUsesUpConnections
from topoloom.app.auth.middleware import REFUSED
from topoloom.app.config import Settings


@contextmanager
def served(
    app,
    header_seconds=1.0,
    stall_seconds=2.0,
    body_seconds=100.0,
    most=1000,
    each=1000,
    suspected=lambda address: False,
):
    """Run an application with the protocol of the service on a port of its own."""
    limits = ConnectionLimits(most, each)
    config = uvicorn.Config(
        app,
        port=0,
        http=protocol_class(header_seconds, stall_seconds, body_seconds, limits, suspected),
        ws="none",
        log_config=None,
        lifespan="on" if hasattr(app, "openapi") else "off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1], server
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('slow') / 't.db'}"
    with served(create_app(Settings(database_url=url))) as (port, server):
        yield port, server


@pytest.fixture(scope="module")
def unhurried(tmp_path_factory):
    """The port of a service that waits for slow clients."""
    url = f"sqlite:///{tmp_path_factory.mktemp('unhurried') / 't.db'}"
    chosen = create_app(Settings(database_url=url))
    with served(chosen, header_seconds=100, stall_seconds=100) as (port, _):
        yield port


def connected(port):
    made = socket.create_connection(("127.0.0.1", port), timeout=50)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def drip(port, begun, rest, seconds=0.2):
    """Send ``begun`` at once and ``rest`` byte by byte; return what came, and after how long."""
    start = time.monotonic()
    with connected(port) as connection:
        connection.sendall(begun)
        connection.settimeout(seconds)
        answer = b""
        for byte in rest:
            try:
                connection.sendall(bytes([byte]))
                received = connection.recv(4096)
            except TimeoutError:
                continue
            except OSError:
                break
            if not received:
                break
            answer += received
        return answer, time.monotonic() - start


def test_a_head_that_comes_byte_by_byte_is_cut_with_408(service):
    port, _ = service
    answer, seconds = drip(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 200)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"/problems/too-slow" in answer
    # All 200 bytes take 40 seconds.
    assert 1 <= seconds < 30


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /v1/topologies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33000000\r\n\r\n",
    ],
)
def test_a_lost_connection_leaves_no_garbage(service, sent, monkeypatch):
    """A flood of connections does not start the collector, which stops all answers."""
    port, server = service
    accepted, accept = [], server.config.http.connection_made

    def accept_and_note(protocol, transport):
        accepted.append(weakref.ref(protocol))
        accept(protocol, transport)

    monkeypatch.setattr(server.config.http, "connection_made", accept_and_note)
    gc.disable()
    try:
        with connected(port) as connection:
            connection.sendall(sent)
            until(lambda: accepted)
        until(lambda: accepted[0]() is None)
    finally:
        gc.enable()


def test_a_head_that_never_comes_is_cut_too(service):
    port, _ = service
    with connected(port) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def test_a_second_head_on_the_same_connection_has_no_more_time(service):
    port, _ = service
    with connected(port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /he")
        answer = b""
        while received := connection.recv(4096):
            answer += received
        assert b"HTTP/1.1 408 " in answer


HEAD = (
    b"POST /v1/topologies HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n"
)


@pytest.mark.slow
def test_a_body_that_comes_byte_by_byte_is_cut_with_408(service):
    port, server = service
    answer, seconds = drip(port, HEAD, b" " * 200)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert 1.5 <= seconds < 30
    deadline = time.monotonic() + 60
    while server.server_state.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not server.server_state.tasks


@pytest.mark.slow
def test_a_slow_body_within_the_rate_is_waited_for(service):
    port, _ = service
    body = b'{"recipe": "UniRing(5)"}'.ljust(10_000)
    with connected(port) as connection:
        connection.sendall(HEAD)
        for start in range(0, 10_000, 1_000):
            connection.sendall(body[start : start + 1_000])
            time.sleep(0.4)
        assert connection.recv(4096).startswith((b"HTTP/1.1 201 ", b"HTTP/1.1 200 "))


def test_others_are_answered_while_hundreds_of_clients_are_slow(settings):
    with served(create_app(settings), header_seconds=100) as (port, _):
        slow = [connected(port) for _ in range(200)]
        try:
            for connection in slow:
                connection.sendall(HEAD[:-4])
            with connected(port) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        finally:
            for connection in slow:
                connection.close()


def test_a_stranger_is_told_so_before_the_body_is_sent(tmp_path):
    chosen = Settings(database_url=f"sqlite:///{tmp_path / 't.db'}", auth="keys")
    with served(create_app(chosen)) as (port, _), connected(port) as connection:
        connection.sendall(HEAD.replace(b"10000", b"30000000"))
        assert connection.recv(4096).startswith(b"HTTP/1.1 401 ")
        # What is sent all the same is thrown away, and the connection given up in the end.
        connection.sendall(b" " * 1_000)
        with suppress(ConnectionError):
            while connection.recv(4096):
                pass


PIECE = b"x" * 65_536


async def stream_for_ever(scope, receive, send):
    """Answer with pieces until the client is gone, made in threads as routes do."""

    def pieces():
        for _ in range(10_000):
            yield PIECE

    await StreamingResponse(pieces())(scope, receive, send)


async def answer_at_once(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": PIECE * 400})


@pytest.mark.one_in(2)
@pytest.mark.parametrize("app", [stream_for_ever, answer_at_once])
@pytest.mark.slow
def test_who_does_not_take_the_answer_is_cut_and_holds_nothing(app):
    with served(app) as (port, server), connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(100)
        deadline = time.monotonic() + 60
        while server.server_state.connections and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not server.server_state.connections
        assert not server.server_state.tasks


def test_readers_that_do_not_read_hold_no_thread():
    with served(stream_for_ever, stall_seconds=100) as (port, _):
        slow = [connected(port) for _ in range(60)]
        try:
            for connection in slow:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for connection in slow:
                assert connection.recv(100)
            time.sleep(0.5)
            # More of them than there are threads: one more is still served.
            with connected(port) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert len(connection.recv(65_536)) > 0
        finally:
            for connection in slow:
                connection.close()


@pytest.mark.slow
def test_a_steady_reader_is_never_cut_however_long_it_takes():
    async def steadily(scope, receive, send):
        """Write as fast as is read, so that something is always left to take."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(30):
            await send({"type": "http.response.body", "body": PIECE * 8, "more_body": True})
            await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"end"})

    with served(steadily, stall_seconds=1) as (port, _), connected(port) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        total, last = 0, b""
        while received := connection.recv(65_536):
            total, last = total + len(received), received
            time.sleep(0.005)
        assert total > 30 * 8 * 65_536
        assert last.endswith(b"end\r\n0\r\n\r\n") or last.endswith(b"0\r\n\r\n")


def ended(connection):
    """Return all that arrives until the service ends the connection."""
    answer = b""
    with suppress(ConnectionError):
        while received := connection.recv(65_536):
            answer += received
    return answer


def answers(port, sent, pieces=1):
    """Send bytes and return all that comes back until the service ends the connection."""
    with connected(port) as connection:
        step = -(-len(sent) // pieces)
        with suppress(OSError):
            for start in range(0, len(sent), step):
                connection.sendall(sent[start : start + step])
        return ended(connection)


PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
LAST = b"Connection: close\r\n"


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("end", [b"\r\n\r\n", b""], ids=["whole", "begun"])
def test_a_head_that_is_too_large_is_answered_with_400(unhurried, pieces, end):
    answer = answers(unhurried, PROBE + b"X: " + b"a" * (MAX_HEAD + 10) + end, pieces)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_a_head_of_many_small_lines_is_counted_as_a_whole(unhurried):
    lines = b"".join(b"X-%d: 1\r\n" % number for number in range(MAX_HEAD // 5))
    assert answers(unhurried, PROBE + lines + b"\r\n").startswith(b"HTTP/1.1 400 ")


def test_a_head_just_within_the_limit_is_answered(unhurried):
    head = PROBE + LAST + b"X: " + b"a" * (MAX_HEAD - 100 - len(LAST)) + b"\r\n\r\n"
    answer = answers(unhurried, head)
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_requests_sent_in_one_go_are_answered_in_their_order(unhurried):
    version = PROBE.replace(b"healthz", b"version")
    both = PROBE + b"\r\n" + version + b"\r\n"
    last = PROBE + b"\r\n" + version + LAST + b"\r\n"
    answer = answers(unhurried, both * 2 + last, pieces=4)
    assert answer.count(b"HTTP/1.1 200 ") == 6
    bodies = [part for part in answer.split(b"\r\n") if part.startswith(b"{")]
    assert [b"kernel_version" in body for body in bodies] == [False, True] * 3


def test_who_asks_for_a_websocket_is_answered_as_if_he_had_not(unhurried):
    upgrade = PROBE + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    answer = answers(unhurried, upgrade + PROBE + LAST + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_what_is_no_http_is_answered_with_400(unhurried):
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
    ):
        assert answers(unhurried, sent).startswith(b"HTTP/1.1 400 "), sent


def test_two_lengths_of_one_body_are_refused(unhurried):
    both = b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    sent = HEAD[:-2].replace(b"Content-Length: 10000\r\n", b"") + both
    assert answers(unhurried, sent).startswith(b"HTTP/1.1 400 ")


def test_the_bodies_of_a_client_in_memory_are_limited(tmp_path):
    chosen = Settings(database_url=f"sqlite:///{tmp_path / 't.db'}", max_body_bytes=100_000)
    with ExitStack() as stack:
        port, _ = stack.enter_context(served(create_app(chosen), stall_seconds=100))
        sent = [stack.enter_context(connected(port)) for _ in range(BODIES_OF_OWNER + 1)]
        for connection in sent:
            connection.sendall(HEAD.replace(b"10000", b"100000") + b" " * 99_000)
        [refused] = select.select(sent, [], [], 60)[0]
        answer = refused.recv(4096)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 1" in answer
        # The other bodies have room now.
        for connection in sent:
            if connection is not refused:
                connection.sendall(b'{"recipe": "UniRing(5)"}'.ljust(1_000))
                assert connection.recv(4096).startswith((b"HTTP/1.1 201 ", b"HTTP/1.1 200 "))


async def refuse_unread(scope, receive, send):
    """Answer before the body has come."""
    await send(
        {"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


def test_an_answer_before_the_end_of_its_body_closes_the_connection():
    with served(refuse_unread) as (port, server), connected(port) as connection:
        connection.sendall(HEAD)
        answer = ended(connection)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer
        # The rest of the body is discarded for a short time, then the connection is gone.
        wait_until(lambda: not server.server_state.connections)


def test_a_client_that_writes_all_before_it_reads_gets_the_answer(monkeypatch):
    monkeypatch.setattr(connection_timeouts, "LINGER_SECONDS", 60)
    with served(refuse_unread) as (port, _), connected(port) as connection:
        connection.sendall(HEAD.replace(b"10000", b"10000000") + b" " * 10_000_000)
        assert ended(connection).startswith(b"HTTP/1.1 413 ")


def test_an_answer_after_the_end_of_its_body_keeps_the_connection():
    with served(refuse_unread) as (port, _), connected(port) as connection:
        for _ in range(2):
            connection.sendall(HEAD + b" " * 10_000)
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b"connection: close" not in answer


@pytest.mark.slow
def test_no_rate_stretches_a_body_beyond_its_deadline(settings):
    with (
        served(create_app(settings), stall_seconds=60, body_seconds=1.0) as (port, _),
        connected(port) as connection,
    ):
        connection.sendall(HEAD.replace(b"10000", b"33000000"))
        connection.settimeout(0.05)
        answer = b""
        deadline = time.monotonic() + 60
        while not answer and time.monotonic() < deadline:
            # Far above the least rate.
            with suppress(OSError):
                connection.sendall(b" " * 10_000)
            with suppress(TimeoutError):
                answer = connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 408 ")


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def has_connections(server, least):
    return len(server.server_state.connections) >= least


async def answer_when_told(scope, receive, send):
    """Answer a probe at once, and another path when the client sends the body."""
    while scope["path"] != "/healthz" and (await receive()).get("more_body"):
        pass
    status = 503 if REFUSED in scope["state"] else 200
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def asked(port, request, source="127.0.0.1"):
    with socket.create_connection(("127.0.0.1", port), 50, (source, 0)) as connection:
        connection.sendall(request + b"\r\n")
        return connection.recv(4096)


def test_a_client_that_leaves_before_its_answer_is_no_error(settings, caplog):
    with served(create_app(settings), stall_seconds=100) as (port, server):
        with connected(port) as connection:
            connection.sendall(HEAD + b"{")
            wait_until(lambda: server.server_state.tasks)
        wait_until(lambda: not server.server_state.tasks)
        with connected(port) as connection:
            connection.sendall(
                b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            metrics = ended(connection)
    assert b'status="499"' in metrics
    assert b'status="500"' not in metrics
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


SLOWLY = {"header_seconds": 100, "stall_seconds": 100}


@pytest.mark.parametrize("begun", [HEAD, HEAD[:-4], b""], ids=["bodies", "heads", "silence"])
def test_beyond_the_limit_the_oldest_unfinished_connection_is_closed(begun):
    with ExitStack() as stack:
        port, server = stack.enter_context(served(answer_when_told, **SLOWLY, most=20))
        slow = []
        for number in range(20 + SPARE + 10):
            slow.append(stack.enter_context(connected(port)))
            slow[-1].sendall(begun)
            least = min(number + 1, 20 + SPARE)
            wait_until(partial(has_connections, server, least))
        for connection in slow[:10]:
            assert ended(connection)[:13] in (b"", b"HTTP/1.1 408 ")
        wait_until(lambda: len(server.server_state.connections) <= 20 + SPARE)
        assert asked(port, PROBE).startswith(b"HTTP/1.1 200 ")
        assert asked(port, PROBE.replace(b"healthz", b"x")).startswith(b"HTTP/1.1 200 ")


def test_who_has_answered_connections_keeps_them_while_others_never_finish(settings):
    with ExitStack() as stack:
        port, _ = stack.enter_context(served(create_app(settings), **SLOWLY, most=20))
        kept = stack.enter_context(connected(port))
        for _ in range(20 + 2 * SPARE):
            kept.sendall(PROBE + b"\r\n")
            answer = b""
            while not answer.endswith(b'{"status":"ok"}'):  # head and body may come apart
                answer += (received := kept.recv(4096))
                assert received
            assert answer.startswith(b"HTTP/1.1 200 ")
            stack.enter_context(connected(port)).sendall(HEAD[:-4])


def test_the_limit_of_an_address_closes_its_own_connections_alone():
    with ExitStack() as stack:
        port, _ = stack.enter_context(served(answer_when_told, **SLOWLY, each=20))

        def opened(source):
            made = socket.create_connection(("127.0.0.1", port), 50, (source, 0))
            stack.enter_context(made)
            made.sendall(HEAD[:-4])
            return made

        other = opened("127.0.0.3")
        first = opened("127.0.0.2")
        for _ in range(20 + SPARE):
            opened("127.0.0.2")
        assert ended(first) == b""
        other.sendall(b"\r\n\r\n" + b" " * 10_000)
        assert other.recv(4096).startswith(b"HTTP/1.1 200 ")


async def answer_never(scope, receive, send):
    """Answer a probe and a refused request alone."""
    if scope["path"] == "/healthz" or REFUSED in scope["state"]:
        await answer_when_told(scope, receive, send)
    else:
        while (await receive())["type"] != "http.disconnect":
            pass


def test_with_every_connection_busy_new_requests_are_refused_and_probes_are_answered():
    with ExitStack() as stack:
        port, server = stack.enter_context(served(answer_never, **SLOWLY, most=5))
        for _ in range(5):
            stack.enter_context(connected(port)).sendall(PROBE.replace(b"healthz", b"x") + b"\r\n")
        wait_until(lambda: len(server.server_state.tasks) == 5)
        assert asked(port, PROBE).startswith(b"HTTP/1.1 200 ")
        assert asked(port, PROBE.replace(b"healthz", b"x")).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("pieces", [1, 2, 3, 40])
def test_requests_of_an_address_that_guesses_are_answered_in_order(pieces):
    """One after another, several at once, and in pieces, on one connection."""
    hostile = served(answer_the_path, suspected=lambda address: True)
    with hostile as (port, _), connected(port) as connection:
        for begin in range(0, 12, 3):
            paths = [f"/{number}" for number in range(begin, begin + 3)]
            sent = b"".join(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for path in paths
            )
            size = -(-len(sent) // pieces)
            for at in range(0, len(sent), size):
                connection.sendall(sent[at : at + size])
                time.sleep(0.002)
            expected, answer = "".join(f"[{path}]" for path in paths).encode(), b""
            while not answer.endswith(expected[-4:]):
                answer += connection.recv(65536)
            assert [answer.count(f"[{path}]".encode()) for path in paths] == [1, 1, 1]
            assert sorted(paths, key=lambda path: answer.index(f"[{path}]".encode())) == paths


async def answer_the_path(scope, receive, send):
    body = f"[{scope['path']}]".encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize("greedy", [1, 3, 10, 40])
def test_busy_addresses_leave_room_for_requests_of_other_addresses(greedy):
    most = 1000
    limits = ConnectionLimits(most, most)
    answered = dict.fromkeys(range(greedy), 0)

    def begins(address, number):
        limits.add((address, number), str(address), is_proxy=False)
        if refused := limits.refusal((address, number), "/v1/designs", is_proxy=False):
            limits.remove((address, number))
            return refused
        return limits.move((address, number), State.BUSY)

    for number in range(most):
        for address in answered:
            answered[address] += begins(address, number) is None
    assert sum(answered.values()) >= most * 7 // 8
    assert isinstance(begins(0, most), AddressUsesUpConnections)
    room = min(most // RESERVED, most // (greedy + 2))
    assert {begins("other", number) for number in range(room)} == {None}


@pytest.mark.parametrize(("most", "each", "status"), [(1, 9, 503), (9, 1, 429)])
def test_a_refused_request_is_answered_with_a_problem(settings, most, each, status):
    limits = ConnectionLimits(most, each)
    busy = object()
    limits.add(busy, "203.0.113.9", is_proxy=False)
    limits.move(busy, State.BUSY)
    limits.add("new", "203.0.113.9", is_proxy=False)
    assert limits.refusal("new", "/readyz", is_proxy=False) is None
    error = limits.refusal("new", "/v1/designs", is_proxy=False)
    app = create_app(settings)

    async def refused(scope, receive, send):
        scope.setdefault("state", {})[REFUSED] = error
        await app(scope, receive, send)

    with TestClient(refused, base_url="http://localhost") as client:
        answer = client.get("/v1/designs")
    assert answer.status_code == status
    assert answer.json()["type"] == "/problems/too-many-connections"
    assert answer.headers["Retry-After"] == "1"
