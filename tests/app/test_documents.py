"""Answers and what is published of them: nothing is undocumented, nothing else is sent."""

import json

import jsonschema_rs
import pytest

from topoloom.app.api.main import create_app
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.store.artifacts import KINDS

OPENAPI = service_openapi()
SCHEMAS = OPENAPI["components"]["schemas"]
TASKS = [
    {"collective": "allreduce", "bytes": 1000, "count": 50},
    {"collective": "allreduce", "bytes": "100MB", "count": 2},
    {"collective": "all-to-all", "bytes": "4MB", "count": 3},
]
SWITCHED = {
    "schema": "topology/1",
    "name": "a switch that copies",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": 3}, {"id": "b"}, {"id": "s", "kind": "switch", "multicast": True}],
    "links": [
        {"source": source, "target": target, "capacity": capacity}
        for source, target, capacity in (("b", "s", "7/2"), ("s", "b", "7/2"), (3, "s", 3))
    ]
    + [{"source": "s", "target": 3, "capacity": 3}],
}


def answers():
    """Yield (method, path, status, media type, schema) of every answer that is JSON."""
    for path, operations in OPENAPI["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                for media, content in answer.get("content", {}).items():
                    if media.endswith("json"):
                        yield method, path, status, media, content["schema"]


def reached(schema, seen):
    """Yield a schema and all that it holds, with the place of each; references once."""
    if isinstance(schema, list):
        for part in schema:
            yield from reached(part, seen)
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            yield from reached(SCHEMAS[name], seen)
        return
    yield schema
    for members in ("properties", "$defs"):
        for part in schema.get(members, {}).values():
            yield from reached(part, seen)
    for member in ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"):
        yield from reached(schema.get(member), seen)


def parts_of_all_answers():
    seen = set()
    return [part for *_, schema in answers() for part in reached(schema, seen)]


def test_every_operation_publishes_what_it_answers():
    found = {(method, path) for method, path, status, *_ in answers() if status < "300"}
    everything = {
        (method, path) for path, operations in OPENAPI["paths"].items() for method in operations
    }
    plots = ("frontier", "sizes", "load", "tree", "fault-analysis")
    drawings = {("get", f"/v1/plots/{name}") for name in plots}
    streams = {("get", "/metrics"), ("get", "/v1/jobs/{id}/events")}
    drawings.add(("get", "/v1/plots/{id}"))
    deletions = {one for one in everything if one[0] == "delete" and one[1].endswith("/{id}")}
    # The answer to the revocation of a key is the key.
    deletions.remove(("delete", "/v1/keys/{id}"))
    # Jobs and sessions are deleted, too; exports only with what they are of.
    assert len(deletions) == len(KINDS) + 1
    deletions.add(("delete", "/v1/patch-plans/{id}/progress"))
    assert everything - found == streams | drawings | deletions


def test_no_answer_is_a_bare_object():
    for part in parts_of_all_answers():
        # docs/reference/plant.md has the schema of plant/1, docs/how-to/whole-iterations.md that of
        # a model; today's wiring has several forms, and the question of a sweep is one of three.
        named = part.get("title") in ("Plant", "Model", "Current wiring", "Template", "Question")
        if part.get("type") == "object" and not named:
            members = part.get("properties") or part.get("patternProperties")
            assert members or isinstance(part.get("additionalProperties"), dict)
        # An empty schema allows anything.
        assert part.keys() - {"title", "description"}, part


def test_every_member_of_every_answer_is_described():
    for part in parts_of_all_answers():
        for name, member in part.get("properties", {}).items():
            assert member.get("description"), (part.get("title"), name)


def test_no_answer_may_have_other_members_than_the_published():
    for part in parts_of_all_answers():
        if "properties" in part:
            assert part.get("additionalProperties") is False, part.get("title")


def require_published(method, path, answer):
    """Assert that an answer is as the OpenAPI document says it is."""
    operation = OPENAPI["paths"][path][method]
    content = operation["responses"][str(answer.status_code)]["content"]
    schema = content[answer.headers["Content-Type"].partition(";")[0]]["schema"]
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": OPENAPI["components"]})
    errors = list(validator.iter_errors(answer.json()))
    assert not errors, (method, path, errors[0])
    return answer.json()


def stored(client, path, body):
    """Post a question, read the answer back, and check both."""
    document = require_published("post", path, client.post(path, json=body))
    read = client.get(f"{path}/{document['id']}")
    require_published("get", path + "/{id}", read)
    return document["id"]


DESIGNS = {
    "one collective": {"collective": "allreduce", "bytes": "1MB"},
    "another speed": {"collective": "allgather", "bytes": 1, "alpha_us": 0.5, "node_gbps": 400},
    "all-to-all": {"collective": "all-to-all", "bytes": "1MB"},
    "a list": {"workload": TASKS},
    "a preset": {"preset": "resnet50-ddp"},
    "experts": {"preset": "mixtral-8x7b-ep"},
    "only some topologies": {
        "collective": "reduce-scatter",
        "bytes": "1KB",
        "families": ["GeneralizedKautz", "Circulant"],
        "max_steps": 9,
        "all_to_all": True,
    },
}


@pytest.mark.one_in(9)
@pytest.mark.parametrize("case", DESIGNS)
@pytest.mark.parametrize(("nodes", "degree"), [(7, 2), (12, 4), (18, 3)])
def test_designs_are_as_published(client, case, nodes, degree):
    stored(client, "/v1/designs", {"nodes": nodes, "degree": degree} | DESIGNS[case])


def test_a_design_without_a_schedule_is_as_published(settings):
    from fastapi.testclient import TestClient

    small = settings.model_copy(update={"max_scheduled_nodes": 4, "max_routed_nodes": 4})
    with TestClient(create_app(small), base_url="http://localhost") as client:
        for case in ("one collective", "a list"):
            stored(client, "/v1/designs", {"nodes": 9, "degree": 2} | DESIGNS[case])


TOPOLOGIES = {
    "a recipe": {"recipe": "GeneralizedKautz(3, 11)"},
    "a fabric": {"fabric": "dgx-a100-2"},
    "a document": {"document": SWITCHED},
    "without a node": {"recipe": "GeneralizedKautz(4, 20)", "changes": {"without_nodes": [3]}},
    "without a GPU": {"fabric": "dgx-a100-2", "changes": {"without_nodes": ["0.gpu1"]}},
    "slower": {"recipe": "BiRing(7)", "changes": {"slow_links": [[2, 3, "1/2"]]}},
}
OPTIMA = [
    {},
    {"collective": "allreduce"},
    {"collective": "allreduce", "max_gap": "1/5"},
    {"collective": "reduce-scatter", "trees_per_root": 2},
    {"collective": "all-to-all"},
    {"collective": "broadcast", "root": "FIRST"},
    {"participants": ["FIRST", "SECOND"]},
    {"shards": ["FIRST=3", "SECOND=1"]},
]
SCHEDULES = [
    {"collective": "allgather"},
    {"collective": "allreduce"},
    {"collective": "allreduce", "algorithm": "forestcoll", "max_gap": "1/10"},
    {"collective": "reduce-scatter", "algorithm": "bfb", "max_chunks": 2},
    {"collective": "all-to-all"},
    {"collective": "broadcast", "root": "FIRST"},
    {"collective": "allgather", "participants": ["FIRST", "SECOND"]},
    {
        "collective": "allgather",
        "shards": [{"rank": "FIRST", "size": 2}, {"rank": "SECOND", "size": 1}],
    },
]
SIMULATIONS = [
    {"bytes": "1MiB"},
    {"bytes": 7000, "alpha_us": 0, "link_gbps": 3, "chunks": 3, "synchronous": True},
]


def named(question, document):
    """Return a question with the first two compute nodes in the place of their names."""
    nodes = [node["id"] for node in document["nodes"] if node["kind"] == "compute"]
    text = json.dumps(question)
    for word, node in zip(("FIRST", "SECOND"), nodes, strict=False):
        text = text.replace(word, str(node))
    return json.loads(text)


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", TOPOLOGIES)
def test_topologies_and_all_that_is_said_of_them_are_as_published(client, case):
    path = "/v1/topologies"
    identity = stored(client, path, TOPOLOGIES[case])
    document = client.get(f"{path}/{identity}").json()
    cost = client.get(f"{path}/{identity}/cost")
    require_published("get", path + "/{id}/cost", cost)
    for question in OPTIMA:
        answer = client.get(f"{path}/{identity}/optimum", params=named(question, document))
        require_published("get", path + "/{id}/optimum", answer)
    for question in SCHEDULES:
        asked = {"topology": {"id": identity}} | named(question, document)
        answer = client.post("/v1/schedules", json=asked)
        made = require_published("post", "/v1/schedules", answer)
        if answer.status_code > 201:
            continue
        place = f"/v1/schedules/{made['id']}"
        require_published("get", "/v1/schedules/{id}", client.get(place))
        for simulation in SIMULATIONS:
            answer = client.post(f"{place}/simulation", json=simulation)
            require_published("post", "/v1/schedules/{id}/simulation", answer)


@pytest.mark.parametrize("panels", ["per-port", "single"])
def test_patch_plans_are_as_published(client, panels):
    path, topology = "/v1/patch-plans", {"recipe": "BiRing(6)"}
    first = stored(client, path, {"topology": topology, "panels": panels})
    plan = client.get(f"{path}/{first}").json()
    turned = {"recipe": "GeneralizedKautz(2, 6)"}
    stored(client, path, {"topology": turned, "panels": panels, "present": plan})


def test_lists_are_as_published(client):
    test_designs_are_as_published(client, "a list", 12, 4)
    test_designs_are_as_published(client, "only some topologies", 12, 4)
    for case in ("a fabric", "a document", "slower"):
        stored(client, "/v1/topologies", TOPOLOGIES[case])
    rooted = {"topology": {"recipe": "BiRing(4)"}, "collective": "broadcast", "root": 2}
    stored(client, "/v1/schedules", rooted)
    stored(client, "/v1/patch-plans", {"topology": {"recipe": "BiRing(4)"}})
    for path in ("/v1/designs", "/v1/topologies", "/v1/schedules", "/v1/patch-plans"):
        listed = require_published("get", path, client.get(path, params={"limit": 2}))
        assert listed["items"]
        require_published("get", path, client.get(path))


def test_what_operators_ask_is_as_published(client):
    for path in ("/healthz", "/readyz", "/version"):
        require_published("get", path, client.get(path))


def test_problems_are_as_published(client):
    answer = client.post("/v1/designs", json={"nodes": 1, "degree": 2})
    require_published("post", "/v1/designs", answer)
    require_published("get", "/v1/designs/{id}", client.get("/v1/designs/" + "0" * 64))
