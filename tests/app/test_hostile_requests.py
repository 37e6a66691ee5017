"""Requests that users and strangers send: never a 5xx, and no word of a library in a problem."""

import copy
import json
import re

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.test_hostile_text import BODIES, leaves, replaced
from tests.hostile_inputs import HOSTILE, spoilt
from tests.synth.format_files import FILES, text_of
from topoloom.app.api.main import create_app
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.config import Settings

FOREIGN = re.compile(
    r"literal\[|list\[|dict\[|function-|\b[Ii]nput (should|must)|type=|validation error"
    r"|constrained|Decimal\(|Traceback|\bNone\b"
)
WRONG = [None, True, -1, 1.5, 10**30, "x", "", [], [[]], {}, {"a": 1}, "\0", "\ud800", "9" * 4301]
EXAMPLES = {
    "/v1/designs/batch": {"designs": [{"nodes": 6, "degree": 2, "preset": "gpt2-xl-ddp"}]},
    "/v1/designs": {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"},
    "/v1/box-designs": {
        "box": "mi300x",
        "nodes": 3,
        "degree": 2,
        "collective": "allgather",
        "bytes": "1MB",
    },
    "/v1/group-schedules": {
        "topology": {"recipe": "BiRing(4)"},
        "groups": "tensor=2,data=2",
        "traffic": {"tensor": {"collective": "allreduce", "bytes": 600}},
    },
    "/v1/iterations": {
        "model": {"layers": [{"parameters": 1000, "forward_seconds": 1}]},
        "nodes": 4,
        "degree": 2,
        "node_gbps": 100,
    },
    "/v1/network-curves": {
        "instances": "goal_rank,stream,start,end,collective,algo,proto\n0,0,5,9,Broadcast,ring,ll\n"
    },
    "/v1/frontiers": {"nodes": 6, "degree": 2},
    "/v1/topologies": {"text": "a b 1\nb a 1\n", "format": "edgelist"},
    "/v1/costs": {"topology": {"recipe": "UniRing(3)"}},
    "/v1/optima": {"topology": {"recipe": "UniRing(3)"}},
    "/v1/schedules": {"topology": {"recipe": "UniRing(3)"}, "collective": "allgather"},
    "/v1/simulations": {"topology": {"recipe": "UniRing(3)"}, "schedule": {}, "bytes": 9},
    "/v1/verifications": {"topology": {"recipe": "UniRing(3)"}, "schedule": {}},
    "/v1/comparisons": {"topology": {"recipe": "UniRing(3)"}, "collective": "allgather"},
    "/v1/patch-plans": {"topology": {"recipe": "BiRing(3)"}},
    "/v1/patch-plans/cross-wiring": {"plant": {}},
    "/v1/plots/frontier": {"nodes": 6, "degree": 2},
    "/v1/plots/sizes": {"nodes": 6, "degree": 2, "collective": "allreduce"},
    "/v1/plots/load": {"schedule_id": "abcdef"},
    "/v1/plots/tree": {"schedule_id": "abcdef", "root": "0"},
    "/v1/plots/fault-analysis": {"sweep_id": "abcdef"},
    "/v1/plots/iterations": {"sweep_id": "abcdef"},
    "/v1/sweeps": {"kind": "sizes", "nodes": [6], "degrees": [2]},
    "/v1/keys": {"name": "ci", "scopes": ["read"]},
    "/api/oxc/allreduce": {
        "dpCommDomain": [[0, 1]],
        "commDomainVolume": 64,
        "algName": "ALGO_OXC_RING",
    },
    "/v1/lr-sessions": {"min_lr": 0.1, "max_lr": 1.0, "total_steps": 100},
}
"""A body for every route that takes one, right but small."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('requests') / 't.db'}"
    app = create_app(Settings(database_url=url, rate_burst=10**6))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def require_told(answer, sent):
    assert answer.status_code < 500, (sent, answer.text)
    if answer.status_code >= 400:
        assert not FOREIGN.search(answer.text), (sent, answer.text)
        assert all("[" not in entry["pointer"] for entry in answer.json()["errors"]), answer.text


def bodies():
    """Return the properties of the body of every route without an id."""
    document = service_openapi()
    schemas = document["components"]["schemas"]
    found = {}
    for path, operations in document["paths"].items():
        body = operations.get("post", {}).get("requestBody")
        if body is not None and "{" not in path:
            name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            found[path] = sorted(schemas[name]["properties"])
    return found


ROUTES = bodies()


def queries():
    """Return the parameters of the query of every route that reads and has no id."""
    document = service_openapi()
    return {
        path: [one for one in operations["get"].get("parameters", ()) if one["in"] == "query"]
        for path, operations in document["paths"].items()
        if "get" in operations and "{" not in path
    }


QUERIES = {path: parameters for path, parameters in queries().items() if parameters}


def test_every_route_with_a_body_is_tried():
    assert set(ROUTES) == set(EXAMPLES)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("path", EXAMPLES)
def test_a_member_of_another_type_is_refused_in_words_of_ours(service, path):
    headers = {"Content-Type": "application/json"}
    for name in ROUTES[path]:
        for value in WRONG:
            body = copy.deepcopy(EXAMPLES[path]) | {name: value}
            text = json.dumps(body)
            require_told(service.post(path, content=text, headers=headers), text)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("path", QUERIES)
def test_a_parameter_of_another_type_is_refused_in_words_of_ours(service, path):
    needed = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
    names = [one["name"] for one in QUERIES[path]]
    whole = {name: value for name, value in needed.items() if name in names}
    for name in names:
        for value in ("x", "", "-1", "1.5", "9" * 4301, "\0", "[]", "null"):
            require_told(service.get(path, params=whole | {name: value}), (name, value))


def hostile_bodies(data):
    path, body = data.draw(st.sampled_from(BODIES))
    place = data.draw(st.sampled_from(list(leaves(body))))
    value = data.draw(st.sampled_from(HOSTILE) | st.text(max_size=20) | st.floats() | st.integers())
    return path, replaced(body, place, value)


def require_sane(service, data):
    path, body = hostile_bodies(data)
    headers = {"Content-Type": "application/json"}
    require_told(service.post(path, content=json.dumps(body), headers=headers), body)
    name = data.draw(st.sampled_from(sorted(FILES)))
    text = data.draw(spoilt(text_of(name)))
    asked = {"text": text, "format": FILES[name]} if data.draw(st.booleans()) else {"text": text}
    require_told(service.post("/v1/topologies", content=json.dumps(asked), headers=headers), asked)


CHECKS = list(HealthCheck)
# Threads of the service use the random module while hypothesis draws.
RANDOM = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


@RANDOM
@settings(max_examples=60, suppress_health_check=CHECKS)
@given(data=st.data())
def test_no_hostile_request_ends_in_an_error_inside(service, data):
    require_sane(service, data)


@RANDOM
@pytest.mark.exhaustive
@settings(max_examples=5_000, suppress_health_check=CHECKS)
@given(data=st.data())
def test_no_hostile_request_of_thousands_ends_in_an_error_inside(service, data):
    require_sane(service, data)
