"""Clients that send or take byte by byte, over real sockets."""

import asyncio
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
import uvicorn
from starlette.responses import StreamingResponse

from topoloom.app.api.connection_timeouts import MAX_HEAD, patient
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings


@contextmanager
def served(app, header_seconds=1.0, stall_seconds=2.0):
    """Run an application with the protocol of the service on a port of its own."""
    config = uvicorn.Config(
        app,
        port=0,
        http=patient(header_seconds, stall_seconds),
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


def answers(port, sent, pieces=1):
    """Send bytes and return all that comes back until the connection ends or is quiet."""
    with connected(port) as connection:
        step = -(-len(sent) // pieces)
        with suppress(OSError):
            for start in range(0, len(sent), step):
                connection.sendall(sent[start : start + step])
        connection.settimeout(0.5)
        answer = b""
        with suppress(OSError):
            while received := connection.recv(65_536):
                answer += received
        return answer


PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("ended", [b"\r\n\r\n", b""], ids=["whole", "begun"])
def test_a_head_that_is_too_large_is_answered_with_400(service, pieces, ended):
    port, _ = service
    answer = answers(port, PROBE + b"X: " + b"a" * (MAX_HEAD + 10) + ended, pieces)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_a_head_of_many_small_lines_is_counted_as_a_whole(service):
    port, _ = service
    lines = b"".join(b"X-%d: 1\r\n" % number for number in range(MAX_HEAD // 5))
    assert answers(port, PROBE + lines + b"\r\n").startswith(b"HTTP/1.1 400 ")


def test_a_head_just_within_the_limit_is_answered(service):
    port, _ = service
    answer = answers(port, PROBE + b"X: " + b"a" * (MAX_HEAD - 100) + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_requests_sent_in_one_go_are_answered_in_their_order(service):
    port, _ = service
    version = PROBE.replace(b"healthz", b"version")
    answer = answers(port, (PROBE + b"\r\n" + version + b"\r\n") * 3, pieces=4)
    assert answer.count(b"HTTP/1.1 200 ") == 6
    bodies = [part for part in answer.split(b"\r\n") if part.startswith(b"{")]
    assert [b"kernel_version" in body for body in bodies] == [False, True] * 3


def test_who_asks_for_a_websocket_is_answered_as_if_he_had_not(service):
    port, _ = service
    asked = PROBE + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert answers(port, asked).startswith(b"HTTP/1.1 200 ")


def test_what_is_no_http_is_answered_with_400(service):
    port, _ = service
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
    ):
        assert answers(port, sent).startswith(b"HTTP/1.1 400 "), sent


def test_two_lengths_of_one_body_are_refused(service):
    port, _ = service
    both = b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    assert answers(port, HEAD[:-2].replace(b"Content-Length: 10000\r\n", b"") + both).startswith(
        b"HTTP/1.1 400 "
    )


async def refuse_unread(scope, receive, send):
    """Answer before the body has come."""
    await send(
        {"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


def test_a_body_that_ends_after_its_answer_leaves_the_connection_open():
    with served(refuse_unread) as (port, _), connected(port) as connection:
        for _ in range(2):
            connection.sendall(HEAD)
            assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")
            connection.sendall(b" " * 10_000)
