"""Answers that must not change unless the mathematics do: kept from an earlier version.

Ids and names are left out: they follow from versions and from how things are called.
``PYTHONPATH=. python tests/app/test_golden_answers.py`` writes the file anew.
"""

import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent.parent / "golden" / "answers.json"
LEFT_OUT = {"id", "request_id", "topology_id", "topology_digest", "plan_id", "instance"}
TASKS = [
    {"collective": "allreduce", "bytes": 1000, "count": 50},
    {"collective": "allreduce", "bytes": "100MB", "count": 2},
    {"collective": "allgather", "bytes": "1MB"},
    {"collective": "reduce-scatter", "bytes": "1MB"},
    {"collective": "all-to-all", "bytes": "4MB", "count": 3},
]
FAMILIES = {"families": ["GeneralizedKautz", "Circulant", "DirectedCirculant"]}
QUESTIONS = [
    {"nodes": 7, "degree": 2, "collective": "allreduce", "bytes": "1MB"},
    {"nodes": 13, "degree": 3, "collective": "allgather", "bytes": 1, "alpha_us": 0.5},
    {"nodes": 23, "degree": 4, "links": "bidirectional", "collective": "allreduce", "bytes": "1GB"},
    {"nodes": 37, "degree": 2, "collective": "reduce-scatter", "bytes": "64KB", "node_gbps": 400},
    {"nodes": 11, "degree": 3, "workload": TASKS},
    {"nodes": 14, "degree": 4, "links": "bidirectional", "workload": TASKS},
    {"nodes": 9, "degree": 2, "collective": "all-to-all", "bytes": "1MB"},
    {"nodes": 10, "degree": 3, "preset": "mixtral-8x7b-ep"},
]
GRAPHS = [
    {"recipe": "GeneralizedKautz(3, 11)"},
    {"recipe": "BiRing(7)", "changes": {"slow_links": [[2, 3, "1/2"]], "without_links": [[0, 1]]}},
    {"fabric": "dgx-a100-2", "changes": {"without_nodes": ["0.gpu1"]}},
]
OPTIMA = [
    {},
    {"collective": "allreduce"},
    {"collective": "reduce-scatter", "max_gap": "1/10"},
    {"collective": "all-to-all"},
]
PLANS = [
    {"topology": {"recipe": "BiRing(5)"}},
    {"topology": {"recipe": "GeneralizedKautz(2, 6)"}, "panels": "single"},
]


def asked():
    """Yield (name, what asks for it of a client)."""
    for question in QUESTIONS:
        body = question | FAMILIES
        yield f"design {json.dumps(question)}", lambda c, b=body: c.post("/v1/designs", json=b)
    for graph in GRAPHS:
        for question in [None, *OPTIMA]:
            yield f"{json.dumps(graph)} {json.dumps(question)}", _about(graph, question)
    for body in PLANS:
        yield f"plan {json.dumps(body)}", lambda c, b=body: c.post("/v1/patch-plans", json=b)


def _about(graph, question):
    def ask(client):
        identity = client.post("/v1/topologies", json=graph).json()["id"]
        place = f"/v1/topologies/{identity}"
        if question is None:
            return client.get(place + "/cost")
        return client.get(place + "/optimum", params=question)

    return ask


def kept(value):
    """Return an answer without ids, names, and what was added since."""
    if isinstance(value, dict):
        # Baselines have no id: their names stay.
        left_out = LEFT_OUT | ({"name"} if value.keys() & LEFT_OUT else set())
        if str(value.get("topology")).startswith("sha256:"):
            # What is called topology_digest now.
            left_out = left_out | {"topology", "name"}
        if "compute_inside" in value:
            left_out = left_out | {"boxes", "links"}
        return {key: kept(part) for key, part in value.items() if key not in left_out}
    return [kept(part) for part in value] if isinstance(value, list) else value


ASKED = dict(asked())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ASKED)
def test_an_answer_is_what_it_was(client, name):
    golden = json.loads(GOLDEN.read_text())
    answer = ASKED[name](client)
    assert [answer.status_code // 100, kept(answer.json())] == kept(golden[name])


def test_every_kept_answer_is_asked_for():
    assert json.loads(GOLDEN.read_text()).keys() == ASKED.keys()


def main():
    """Write the file of answers."""
    from fastapi.testclient import TestClient

    from topoloom.app.api.main import create_app
    from topoloom.app.config import Settings

    found = {}
    app = create_app(Settings(database_url="sqlite://"))
    with TestClient(app, base_url="http://localhost") as client:
        for name, ask in ASKED.items():
            answer = ask(client)
            found[name] = [answer.status_code // 100, kept(answer.json())]
    rows = (f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items())
    GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
