"""Every operation that the service publishes about what is known can be reached by the client."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.client import Client
from app.main import create_app

ID = "0" * 64
KINDS = ("designs", "topologies", "schedules", "patch-plans", "frontiers", "costs", "optima",
         "verify", "simulations", "comparisons", "plots")  # fmt: skip
CALLS = [
    lambda client: client.design(nodes=2),
    lambda client: client.designs([{}]),
    lambda client: client.best(nodes=12, degree=4, search=True),
    lambda client: client.frontier(nodes=2),
    lambda client: client.topology(recipe="x"),
    lambda client: client.schedule(collective="x"),
    lambda client: client.patch_plan(panels="x"),
    lambda client: client.simulate(ID, bytes=1),
    lambda client: client.simulation(schedule_id=ID, bytes=1),
    lambda client: client.verify(schedule_id=ID),
    lambda client: client.compare(designs=[ID, ID]),
    lambda client: client.cost(recipe="x"),
    lambda client: client.optimum_of({"recipe": "x"}, root="a"),
    lambda client: client.measure(ID),
    lambda client: client.optimum(ID),
    lambda client: client.plot("frontier", nodes=2),
    lambda client: client.plot("sizes", from_="1KiB"),
    lambda client: client.plot("load", schedule_id=ID),
    lambda client: client.plot("tree", schedule_id=ID),
    lambda client: client.families(),
    lambda client: client.fabrics(),
    lambda client: client.presets(),
    lambda client: client.cache(),
    lambda client: client.version(),
    lambda client: client.is_ready(),
    *(
        call
        for kind in KINDS
        for call in (
            lambda client, kind=kind: client.read(kind, ID),
            lambda client, kind=kind: client.stored(kind, limit=3),
            lambda client, kind=kind: client.labels(kind, ID),
            lambda client, kind=kind: client.label(kind, ID, "x"),
            lambda client, kind=kind: client.unlabel(kind, ID, "x"),
            lambda client, kind=kind: client.pin(kind, ID),
            lambda client, kind=kind: client.unpin(kind, ID),
            lambda client, kind=kind: client.delete(kind, ID),
        )
    ),
]


@pytest.fixture(scope="module")
def sent():
    """Return (method, path, query, body) of what every call of `CALLS` sends."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            size = int(self.headers.get("Content-Length") or 0)
            path, _, query = self.path.partition("?")
            seen.append((self.command, path, query, self.rfile.read(size)))
            body = b'{"items": []}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    for verb in ("GET", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.answer)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        for call in CALLS:
            call(Client(f"http://127.0.0.1:{server.server_port}"))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    return seen


NOT_ASKED = {("GET", "/healthz"), ("GET", "/metrics")}
"""What balancers and scrapers ask."""


def test_the_client_reaches_every_operation_and_no_other(sent):
    published = {
        (method.upper(), path): re.compile(re.sub(r"{[a-z_]+}", "[^/]+", path) + "$")
        for path, methods in create_app().openapi()["paths"].items()
        for method in methods
    }
    others = ("/v1/jobs", "/v1/lr-sessions", "/v1/keys")
    ours = {one for one in published if not one[1].startswith(others)}
    reached = set()
    for method, path, *_ in sent:
        found = {one for one in published if one[0] == method and published[one].match(path)}
        assert found, (method, path)
        # The most exact one is meant: /v1/plots/load is no id.
        reached.add(min(found, key=lambda one: one[1].count("{")))
    assert ours - reached == NOT_ASKED


def test_queries_and_bodies_are_as_the_service_takes_them(sent):
    queries = {path: query for _, path, query, _ in sent if query}
    assert queries["/v1/best"] == "nodes=12&degree=4&search=true"
    assert queries["/v1/plots/sizes"] == "from=1KiB"
    bodies = {path: json.loads(body) for method, path, _, body in sent if method == "POST"}
    assert bodies["/v1/optima"] == {"topology": {"recipe": "x"}, "root": "a"}
    assert bodies["/v1/designs/batch"] == {"designs": [{}]}
