"""The client against the service as a process, over the loopback."""

import functools
import inspect
import json
import math
import operator
import os
import re
import socket
import subprocess
import sys
import threading
import time
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Unpack, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from tests.app.test_service_process import service
from tests.cases import for_every
from topoloom.app.auth import api_keys
from topoloom.app.client import Client, Handle, NotFound, Refused, ServiceError, Unreachable, types
from topoloom.app.codegen import client_types
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.store.database import open_database
from topoloom.app.webhook_signatures import verify_webhook

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with service(tmp_path_factory.mktemp("client") / "t.db") as base:
        yield Client(base + "/")


@pytest.mark.slow
def test_the_whole_way_from_a_question_to_files(client):
    assert client.is_ready()
    assert client.version()["version"]
    asked = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MiB"}
    design = client.design(**asked)
    assert design["schema"] == "design/1"
    assert client.design(**asked)["id"] == design["id"]
    assert design["id"] in client.read("designs", design["id"]).decode()
    assert design["id"] in [entry["id"] for entry in client.stored("designs", limit=5)["items"]]
    topology = client.topology(recipe="Kautz(2, 2)")
    assert topology["schema"] == "topology/1"
    assert client.measure(topology["id"])["schema"] == "cost/1"
    assert client.optimum(topology["id"], collective="allreduce")["collective"] == "allreduce"
    made = client.schedule(topology={"id": topology["id"]}, collective="allgather")
    assert client.read("schedules", made["id"], "msccl-xml").startswith(b"<algo")
    assert client.simulate(made["id"], bytes="1MiB")["schema"] == "simulation/1"
    plan = client.patch_plan(topology={"id": topology["id"]}, panels="single")
    assert plan["schema"] == "patch-plan/1"


def test_a_list_is_iterated_over_all_its_pages(client):
    made = {client.topology(recipe=f"UniRing({nodes})")["id"] for nodes in (5, 6, 7)}
    listed = [entry["id"] for entry in client.topologies(limit=1)]
    assert made <= set(listed)
    assert len(listed) == len(set(listed))
    assert listed == [entry["id"] for entry in client.topologies()]
    assert {entry["summary"]["nodes"] for entry in client.topologies(nodes=6, limit=1)} == {6}


def test_a_submitted_request_is_followed_to_its_result(client):
    handle = client.submit(client.design, nodes=14, degree=3, preset="gpt2-xl-ddp")
    states = [job["state"] for job in handle.events()]
    assert states[-1] == handle.state() == handle.wait() == "done"
    assert handle.result()["schema"] == "design/1"
    assert handle.id in [job["id"] for job in client.all_jobs(limit=1)]
    assert Handle(client, client.job(handle.id)).result() == handle.result()
    # The answer is stored now: there is no job to wait for.
    stored = client.submit(client.design, nodes=14, degree=3, preset="gpt2-xl-ddp")
    assert (stored.id, stored.state(), list(stored.events())) == (None, "done", [])
    assert stored.result() == handle.result()


@pytest.mark.slow
def test_a_submitted_drawing_is_read_as_bytes(client):
    handle = client.submit(client.draw_frontier, nodes=8, degree=2)
    assert b"<svg" in handle.result()
    assert client.draw_frontier(nodes=8, degree=2) == handle.result()
    assert client.submit(client.draw_frontier, nodes=8, degree=2).result() == handle.result()


def test_a_submitted_request_is_cancelled(client):
    handle = client.submit(client.frontier, nodes=15_360, degree=8)
    handle.cancel()
    assert handle.wait() == "cancelled"
    # The answer to the first request may be lost: a second one does no harm.
    handle.cancel()
    with pytest.raises(Refused, match="was cancelled"):
        handle.result()


def test_a_submitted_request_that_fails_raises_its_problem(client):
    handle = client.submit(client.design, nodes=4, degree=9, preset="gpt2-xl-ddp")
    assert handle.wait() == "failed"
    with pytest.raises(Refused, match="must be less than nodes"):
        handle.result()


def test_what_the_service_refuses_is_its_problem(client):
    with pytest.raises(Refused) as caught:
        client.design(nodes=4, degree=9, collective="allreduce", bytes="1MiB")
    assert (caught.value.status, caught.value.type) == (422, "/problems/impossible-request")
    assert [error.pointer for error in caught.value.errors] == ["/degree"]
    assert "must be less than nodes" in caught.value.errors[0].detail
    assert "must be less than nodes" in str(caught.value)
    with pytest.raises(NotFound) as missing:
        client.read("designs", "0" * 64)
    assert missing.value.status == 404


def test_nobody_there_is_told_as_such():
    client = Client("http://127.0.0.1:1", attempts=2)
    with pytest.raises(Unreachable, match="does not answer"):
        client.version()
    assert not client.is_ready()


NO_ADDRESSES = [
    "", None, [], 3, "127.0.0.1:8765", "ftp://host", "http://", "http://a b", "http://[::1",
    "http://host:99999", "http://host:port", "http://host?x=1", "http://me@host",
]  # fmt: skip


@for_every("address", NO_ADDRESSES)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match=r"^base_url: must be http://HOST:PORT"):
        Client(address)


@for_every("seconds", [0, -1, math.nan, "5", None, True])
def test_a_time_limit_is_a_positive_number(seconds):
    with pytest.raises(ValueError, match=r"^timeout_seconds: must be a number of seconds"):
        Client(timeout_seconds=seconds)


@for_every("attempts", [0, 1.5, "2", None, True])
def test_attempts_are_a_positive_integer(attempts):
    with pytest.raises(ValueError, match=r"^attempts: must be a positive integer"):
        Client(attempts=attempts)


@for_every("value", [Fraction(1, 3), {12}, b"12"])
def test_a_value_that_is_no_json_is_refused_by_the_name_of_its_argument(value):
    with pytest.raises(TypeError, match=r"^node_gbps: cannot be sent as JSON"):
        Client().design(nodes=12, degree=4, node_gbps=value)


def test_an_id_or_a_kind_is_a_text():
    with pytest.raises(TypeError, match="must be a text, not 12"):
        Client().read("designs", 12)
    with pytest.raises(ValueError, match="must not be empty"):
        Client().delete("designs", "")


@for_every("method", ["design", Client.design, Client().design, print])
def test_only_a_method_of_the_client_itself_is_submitted(method):
    with pytest.raises(TypeError, match=r"^method: must be a method of this client"):
        Client().submit(method, nodes=12, degree=4)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, b"<html>", ServiceError),
        (200, b"[]", ServiceError),
        (502, b"<html>bad gateway", Refused),
        (500, json.dumps({"errors": ["x"]}).encode(), Refused),
        (404, b"", NotFound),
    ],
)
def test_answers_of_another_server_are_errors_too(status, body, error):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pytest.raises(error) as caught:
            Client(f"http://127.0.0.1:{server.server_port}", attempts=1).version()
        assert status == 200 or str(status) in str(caught.value) or caught.value.status == status
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# --- the client against the OpenAPI document ---

DOCUMENT = service_openapi()
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    # The client asks for what replaces a deprecated operation.
    if not operation.get("deprecated")
}


def methods():
    """Return the methods of the client by the operations that they ask for."""
    found = {}
    for name in dir(Client):
        for asked in getattr(getattr(Client, name), "operations", ()):
            assert asked not in found, f"{asked} is asked for by {found[asked]} and {name}"
            found[asked] = name
    return found


class Recording(Client):
    """A client that notes what it would send."""

    def _open(self, request, seconds):
        self.sent = request
        return b"{}"


@for_every("name", OPERATIONS)
def test_every_operation_has_a_method_that_sends_what_it_takes(name):
    method, path, operation_ = OPERATIONS[name]
    assert name in methods(), (
        f"Client has no method for {method} {path}: add one with @operation({name!r})"
    )
    client = Recording("http://127.0.0.1:1")
    call = getattr(client, methods()[name])
    parameters = list(inspect.signature(call).parameters)
    positional = [path.split("/")[2]] if parameters[:1] == ["kind"] else []
    positional += [
        f"an {one['name']}/" for one in operation_.get("parameters", ()) if one["in"] == "path"
    ]
    query = [one["name"] for one in operation_.get("parameters", ()) if one["in"] == "query"]
    given = {("form" if one == "format" and "form" in parameters else one): "v" for one in query}
    body = operation_.get("requestBody")
    if body is not None:
        schema = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        given |= dict.fromkeys(DOCUMENT["components"]["schemas"][schema]["properties"], 7)
    call(*positional, **given)
    sent = urlsplit(client.sent.full_url)
    expected = re.sub(r"\{(\w+)\}", lambda found: quote(f"an {found[1]}/", safe=""), path)
    assert (client.sent.get_method(), sent.path) == (method, expected)
    assert dict(parse_qsl(sent.query)) == dict.fromkeys(query, "v")
    assert json.loads(client.sent.data or b"{}") == {k: v for k, v in given.items() if v == 7}


@for_every("name", OPERATIONS)
def test_the_types_of_a_method_name_what_the_operation_takes(name):
    _, _, operation_ = OPERATIONS[name]
    hints = get_type_hints(getattr(Client, methods()[name]), localns=vars(types) | {"types": types})
    taken = next((one for one in hints.values() if get_origin(one) is Unpack), None)
    if taken is None:
        return
    names = set(get_args(taken)[0].__annotations__)
    body = operation_.get("requestBody")
    if body is None:
        assert names == {one["name"] for one in operation_["parameters"] if one["in"] == "query"}
    else:
        schema = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert names == set(DOCUMENT["components"]["schemas"][schema]["properties"])


@for_every("name", OPERATIONS)
def test_the_type_of_an_answer_is_that_of_the_operation(name):
    _, _, operation_ = OPERATIONS[name]
    returned = get_type_hints(
        getattr(Client, methods()[name]), localns=vars(types) | {"types": types}
    )["return"]
    answers = operation_["responses"]
    answer = answers.get("201") or answers.get("200", {})
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    named = [one["$ref"].rpartition("/")[2] for one in schema.get("anyOf", [schema]) if one]
    if named and methods()[name] != "stored" and returned not in (bytes, bool):
        found = [getattr(types, one) for one in named]
        # Aliases are texts.
        found = [eval(one, vars(types)) if isinstance(one, str) else one for one in found]
        assert returned == functools.reduce(operator.or_, found)


def test_no_method_asks_for_an_operation_that_is_not_there():
    assert methods().keys() <= OPERATIONS.keys()


def test_the_types_of_questions_are_those_of_the_service():
    assert client_types.FILE.read_text() == client_types.module_text(DOCUMENT), (
        "app/client/types.py is stale: run python -m topoloom.app.codegen.client_types"
    )


# --- keys, ids, patience ---


LOST = 0
"""Status of an answer that is not sent: the connection ends."""


class Busy(BaseHTTPRequestHandler):
    """Answers with a list of (status, headers), then with 200 for ever."""

    def do_GET(self):
        self.server.seen.append((time.monotonic(), dict(self.headers)))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers = self.server.told.pop(0) if self.server.told else (200, {})
        if status == LOST:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        body = b'{"ok": 1}' if status == 200 else b'{"title": "busy", "request_id": "r1"}'
        if self.path in self.server.bodies:
            body = json.dumps(self.server.bodies[self.path]).encode()
        if self.path.endswith("/events"):
            # One event a connection.
            body = self.server.events.pop(0).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def busy():
    server = HTTPServer(("127.0.0.1", 0), Busy)
    server.seen, server.told, server.bodies = [], [], {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_who_is_told_to_come_again_does_so_not_before(busy):
    server, base = busy
    server.told = [(429, {"Retry-After": "1"}), (503, {})]
    assert Client(base).version() == {"ok": 1}
    (first, _), (second, _), (third, _) = server.seen
    assert second - first >= 1
    assert third - second >= 0.25


def test_patience_ends_after_so_many_attempts_with_the_last_answer(busy):
    server, base = busy
    server.told = [(503, {})] * 9
    with pytest.raises(Refused) as caught:
        Client(base, attempts=2).version()
    assert (caught.value.status, caught.value.request_id, len(server.seen)) == (503, "r1", 2)


def test_patience_ends_with_the_time_before_it_is_over(busy):
    server, base = busy
    server.told = [(429, {"Retry-After": "3600"})]
    start = time.monotonic()
    with pytest.raises(Refused):
        Client(base, timeout_seconds=200).version()
    assert time.monotonic() - start < 100


@pytest.mark.parametrize("status", [LOST, 429, 502, 503, 504])
def test_a_request_is_repeated_until_the_service_is_back(busy, status):
    server, base = busy
    server.told = [(status, {})]
    assert Client(base).topology(recipe="UniRing(5)") == {"ok": 1}
    (_, head), (_, again) = server.seen
    # The same request has the same id, however often the client sends the request.
    assert head["X-Request-Id"] == again["X-Request-Id"]


def test_a_deletion_whose_answer_was_lost_has_succeeded(busy):
    server, base = busy
    server.told = [(LOST, {}), (404, {}), (404, {})]
    client = Client(base)
    client.delete("designs", "0" * 64)
    with pytest.raises(NotFound):
        client.delete("designs", "0" * 64)


@for_every("seconds", [0, 0.3, 0.7])
def test_a_wait_ends_in_time_and_names_the_job(busy, seconds):
    server, base = busy
    job = {"schema": "job/1", "id": "0" * 32, "state": "running", "ended_at": None}
    server.bodies = {f"/v1/jobs/{job['id']}": job}
    handle = Handle(Client(base), job)
    for end in (handle.wait, handle.result):
        start = time.monotonic()
        with pytest.raises(Unreachable, match=f"the job {job['id']} did not end in time"):
            end(timeout_seconds=seconds)
        assert time.monotonic() - start >= seconds
    with pytest.raises(ValueError, match=r"^timeout_seconds: "):
        handle.wait(timeout_seconds=-1)


@for_every(("seconds", "wait"), [(600, "wait=10"), (6, "wait=3"), (1, "respond-async")])
def test_the_service_answers_with_a_job_before_the_time_is_over(busy, seconds, wait):
    server, base = busy
    Client(base, timeout_seconds=seconds).topology(recipe="UniRing(5)")
    assert server.seen[-1][1]["Prefer"] == wait


def test_no_time_limit_is_a_limit_too(busy):
    _, base = busy
    assert Client(base, timeout_seconds=math.inf).version() == {"ok": 1}


def test_a_client_asks_the_address_that_answers(busy):
    server, base = busy
    client = Client(["http://127.0.0.1:1", base], attempts=1)
    assert client.version() == client.version() == {"ok": 1}
    assert client.base_url == base
    server.told = [(503, {})]
    with pytest.raises(Unreachable, match="does not answer"):
        client.version()


def test_events_continue_after_the_last_one_when_a_stream_is_lost(busy):
    server, base = busy
    states = ("queued", "running", "done")
    server.events = [
        f"id: {number}\nevent: {state}\ndata: {json.dumps({'state': state})}\n\n"
        for number, state in enumerate(states, 1)
    ]
    job = {"schema": "job/1", "id": "0" * 32, "state": "queued"}
    events = Handle(Client(base), job).events()
    assert [event["state"] for event in events] == list(states)
    assert [head.get("Last-Event-Id") for _, head in server.seen] == [None, "1", "2"]


def test_other_refusals_and_probes_are_asked_once(busy):
    server, base = busy
    server.told = [(500, {}), (503, {})]
    with pytest.raises(Refused):
        Client(base).version()
    assert not Client(base).is_ready()
    assert len(server.seen) == 2


def test_the_key_goes_to_the_service_and_nowhere_else(busy):
    server, base = busy
    server.told = [(302, {"Location": f"{base.replace('127.0.0.1', 'localhost')}/version"})]
    with pytest.raises(Refused) as caught:
        Client(base, key="tl_x").version()
    assert caught.value.status == 302
    [(_, head)] = server.seen
    assert head["Authorization"] == "Bearer tl_x"


@pytest.mark.parametrize("key", ["", "a\nb", "a\r\nX: y", "é"])
def test_what_can_be_no_key_is_refused(key):
    with pytest.raises(ValueError, match=r"^key: "):
        Client(key=key)


@for_every("webhook", ["", "hooks.example", "ftp://hooks.example", "http://a b", "http://é/", 3])
def test_what_can_be_no_webhook_is_refused(webhook):
    with pytest.raises(ValueError, match=r"^webhook: must be an http or https URL"):
        Client(webhook=webhook)


@pytest.mark.slow
def test_the_end_of_a_job_is_sent_to_the_webhook_of_the_client(tmp_path):
    messages = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            messages.append((self.headers, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words):
            pass

    def until_received(count):
        end = time.monotonic() + 60
        while len(messages) < count and time.monotonic() < end:
            time.sleep(0.1)
        return [verify_webhook(headers, body, "secret") for headers, body in messages]

    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{receiver.server_port}"
        settings = {"HOSTS": place, "PRIVATE": "1", "SECRET": "secret"}
        named = {f"TOPOLOOM_WEBHOOK_{name}": value for name, value in settings.items()}
        with service(tmp_path / "t.db", **named) as base:
            told = Client(base, webhook=f"http://{place}/hook?token=1")
            handle = told.submit(told.design, nodes=9, degree=2, collective="allgather", bytes=1000)
            job = handle.id
            assert job is not None
            (delivery,) = until_received(1)
            assert json.loads(messages[0][1])["id"] == job
            assert [one["id"] for one in told.deliveries(job)["items"]] == [delivery]
            told.resend(job, delivery)
            assert until_received(2) == [delivery, delivery]
            with pytest.raises(Refused, match="TOPOLOOM_WEBHOOK_HOSTS"):
                away = Client(base, webhook="http://hooks.example/")
                away.submit(away.design, nodes=10, degree=2, collective="allgather", bytes=1000)
        receiver.shutdown()


@pytest.mark.slow
def test_the_programs_of_the_documentation_run(client):
    page = (DOCS / "how-to" / "use-the-client.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    names = {}
    for program in programs:
        exec(program.replace("http://127.0.0.1:8765", client.base_url), names)
    assert names["program"].startswith(b"<algo")
    assert names["design"]["schema"] == "design/1"
    assert names["handle"].id in names["finished"] or names["handle"].state() == "done"


@pytest.mark.slow
def test_the_answers_of_the_client_have_types(tmp_path):
    pytest.importorskip("pyright")
    program = DOCS.parent / "tests" / "app" / "data" / "typed_client.py"
    checked = subprocess.run(
        [sys.executable, "-m", "pyright", str(program)],
        cwd=DOCS.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_a_client_asks_through_a_restart(tmp_path, port):
    """The service is killed in the middle of a request, and started again at the same address."""
    database = tmp_path / "t.db"
    client, answers = Client(f"http://127.0.0.1:{port}", attempts=40), []
    process = started(database, port)
    question = {"nodes": 300, "degree": 4, "preset": "gpt2-xl-ddp"}
    asking = threading.Thread(target=lambda: answers.append(client.design(**question)))
    try:
        assert Client(client.base_url, attempts=40).version()
        asking.start()
        for _ in range(3):
            time.sleep(1)
            process.kill()
            process.wait()
            process = started(database, port)
        asking.join(300)
        assert [answer["schema"] for answer in answers] == ["design/1"]
    finally:
        process.terminate()
        process.wait(60)


def started(database, port):
    return subprocess.Popen(
        [sys.executable, "-m", "topoloom", "serve", "--port", str(port)],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"},
        cwd=DOCS.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.slow
def test_a_client_with_a_key_is_let_in(tmp_path):
    database = tmp_path / "t.db"
    engine = open_database(f"sqlite:///{database}")
    text = api_keys.create(engine, "client", ["design"])[1]
    engine.dispose()
    with service(database, TOPOLOOM_AUTH="keys") as base:
        with pytest.raises(Refused) as caught:
            Client(base).stored("designs")
        assert (caught.value.status, caught.value.type) == (401, "/problems/unauthorized")
        client = Client(base, key=text)
        assert client.topology(recipe="UniRing(5)")["schema"] == "topology/1"
        assert "topoloom_request_seconds" in client.metrics()
        assert client.is_alive()
        with pytest.raises(Refused) as caught:
            client.patch_plan(topology={"recipe": "UniRing(5)"})
        assert caught.value.status == 403
        assert caught.value.request_id
