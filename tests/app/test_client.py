"""The client against the service as a process, over the loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.client import Client, NotFound, Refused, ServiceError, Unreachable
from tests.app.test_service_process import service


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with service(tmp_path_factory.mktemp("client") / "t.db") as base:
        yield Client(base + "/")


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
    client = Client("http://127.0.0.1:1", timeout_seconds=5)
    with pytest.raises(Unreachable, match="does not answer"):
        client.version()
    assert not client.is_ready()


@pytest.mark.parametrize("address", ["", "127.0.0.1:8765", "ftp://host", "http://"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="base_url"):
        Client(address)
    with pytest.raises(ValueError, match="timeout_seconds"):
        Client(timeout_seconds=0)


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
            Client(f"http://127.0.0.1:{server.server_port}").version()
        assert status == 200 or str(status) in str(caught.value) or caught.value.status == status
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
