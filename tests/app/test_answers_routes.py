"""Routes for what the command line does: checks, simulations, comparisons, drawings, batches."""

import base64
import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from tests.app.test_documents import require_published
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.requests import evaluations
from topoloom.app.requests.listing import BestRequest
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.listing import Wanted

RING = {"recipe": "BiRing(5)"}
DESIGN = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}


@pytest.fixture
def schedule(client):
    return client.post("/v1/schedules", json={"topology": RING, "collective": "allgather"}).json()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/frontiers", {"nodes": 8, "degree": 2}),
        ("/v1/costs", {"topology": RING}),
        ("/v1/optima", {"topology": RING, "collective": "allreduce"}),
        ("/v1/optima", {"topology": RING, "collective": "all-to-all"}),
        ("/v1/optima", {"topology": RING, "trees_per_root": 2}),
    ],
)
def test_a_question_has_one_document_that_is_listed_and_read(client, path, body):
    first, again = (client.post(path, json=body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    document = require_published("post", path, first)
    assert again.content == first.content
    read = client.get(first.headers["Location"])
    assert read.content == first.content
    require_published("get", path + "/{id}", read)
    (entry,) = require_published("get", path, client.get(path))["items"]
    assert entry["id"] == document["id"]
    assert client.get(first.headers["Location"] + "?fields=id").json() == {"id": document["id"]}


@pytest.mark.slow
def test_costs_and_optima_are_those_of_the_topologies_routes(client):
    place = client.post("/v1/topologies", json=RING).headers["Location"]
    for path, query in (("cost", {}), ("optimum", {"collective": "broadcast", "root": "0"})):
        plural = {"cost": "costs", "optimum": "optima"}[path]
        told = client.post(f"/v1/{plural}", json={"topology": RING} | query)
        assert client.get(f"{place}/{path}", params=query).content == told.content


@pytest.mark.slow
def test_a_schedule_is_checked_in_every_form_it_comes_in(client, schedule):
    place = f"/v1/schedules/{schedule['id']}"
    document = client.get(place).json()
    xml = client.get(place, params={"format": "msccl-xml", "dialect": "rccl"}).text
    plan = client.get(place, params={"format": "mscclpp-json"}).text
    goal = client.get(place, params={"format": "goal", "bytes": "1MiB"}).text
    ways = [
        {"schedule_id": schedule["id"][:12]},
        {"schedule": document, "topology": RING},
        {"text": xml, "format": "msccl-xml", "dialect": "rccl", "topology": RING},
        {"text": plan, "format": "mscclpp-json", "topology": RING},
        {"text": goal, "format": "goal", "topology": RING},
    ]
    for way in ways:
        answer = client.post("/v1/verifications", json=way)
        assert answer.status_code == 201, answer.text
        found = require_published("post", "/v1/verifications", answer)
        assert (found["valid"], found["found"], found["violations"]) == (True, 0, [])
    listed = require_published("get", "/v1/verifications", client.get("/v1/verifications"))
    assert {entry["summary"]["valid"] for entry in listed["items"]} == {True}


def test_chakra_traces_are_checked_rank_by_rank(client, schedule, tmp_path):
    import io
    from zipfile import ZipFile

    query = {"format": "chakra-et", "bytes": "1MiB"}
    packed = client.get(f"/v1/schedules/{schedule['id']}", params=query).content
    with ZipFile(io.BytesIO(packed)) as archive:
        traces = [archive.read(f"schedule.{rank}.et") for rank in range(5)]
    encoded = [base64.b64encode(trace).decode() for trace in traces]
    asked = {"topology": RING, "traces": encoded}
    assert client.post("/v1/verifications", json=asked).json()["valid"] is True
    broken = client.post("/v1/verifications", json={**asked, "traces": encoded[::-1]})
    assert broken.status_code in (201, 422)
    assert broken.status_code == 422 or broken.json()["valid"] is False


def test_a_schedule_that_does_not_do_what_it_says_is_an_answer(client, schedule):
    document = client.get(f"/v1/schedules/{schedule['id']}").json()
    document["steps"].pop()
    answer = client.post("/v1/verifications", json={"topology": RING, "schedule": document})
    found = require_published("post", "/v1/verifications", answer)
    assert found["valid"] is False and found["found"] == len(found["violations"]) > 0
    assert "schedule_id" not in found


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"schedule": {}}, ""),
        ({"topology": RING, "schedule": {}, "text": ""}, ""),
        ({"topology": RING, "text": "<algo/>"}, ""),
        ({"topology": RING, "schedule": {}, "dialect": "msccl"}, ""),
        ({"topology": RING, "traces": ["é"]}, "/traces/0"),
        ({"topology": RING, "traces": []}, "/traces"),
        ({"topology": RING, "schedule": {"kind": "steps"}}, "/schedule/schema"),
        ({"topology": {"recipe": "BiRing(0)"}, "schedule": {}}, "/topology/recipe"),
        ({"schedule_id": "0" * 64}, "/id"),
    ],
)
def test_what_is_no_schedule_is_refused_with_its_place(client, body, pointer):
    for path, more in (("/v1/verifications", {}), ("/v1/simulations", {"bytes": 1})):
        refused = client.post(path, json=body | more)
        assert refused.status_code in (404, 422), refused.text
        found = [error["pointer"] for error in refused.json()["errors"]]
        assert [one[: len(pointer)] for one in found] == [pointer], path


def test_numbers_that_are_none_do_no_harm(client):
    body = '{"topology": {"recipe": "BiRing(5)"}, "schedule": {"schema": "schedule/1", "x": NaN}}'
    refused = client.post(
        "/v1/verifications", content=body, headers={"Content-Type": "application/json"}
    )
    assert refused.status_code == 422


def test_both_routes_of_simulations_give_one_answer(client, schedule):
    asked = {"bytes": "1MiB", "alpha_us": 2, "synchronous": True}
    answer = client.post("/v1/simulations", json={"schedule_id": schedule["id"], **asked})
    stored = require_published("post", "/v1/simulations", answer)
    once = client.post(f"/v1/schedules/{schedule['id']}/simulation", json=asked).json()
    assert stored["id"] == answer.headers["Location"].split("/")[-1]
    assert stored == once
    document = client.get(f"/v1/schedules/{schedule['id']}").json()
    sent = client.post("/v1/simulations", json={"schedule": document, "topology": RING, **asked})
    assert sent.json()["exact_seconds"] == once["exact_seconds"]
    require_published("get", "/v1/simulations", client.get("/v1/simulations"))


def test_schedules_are_compared_with_what_messages_and_chunks_cost(client, schedule, topoloom):
    other = client.post(
        "/v1/schedules", json={"topology": RING, "collective": "allgather", "max_chunks": 1}
    ).json()
    on = {"bytes": "1KB", "alpha_us": 2, "overhead_us": 3, "chunk_us": "0.5"}
    asked = {"schedules": [schedule["id"], other["id"]]} | on
    answer = client.post("/v1/comparisons", json=asked)
    found = require_published("post", "/v1/comparisons", answer)
    for one in found["schedules"]:
        simulated = client.post(f"/v1/schedules/{one['id']}/simulation", json=on).json()
        assert one["seconds"] == pytest.approx(simulated["seconds"], rel=1e-9)
        assert (one["judged_by"], one["chunks"]) == ("simulation", 1)
    free = client.post("/v1/comparisons", json={**asked, "overhead_us": 0, "chunk_us": 0}).json()
    for one, less in zip(found["schedules"], free["schedules"], strict=True):
        assert one["seconds"] > less["seconds"]
    said = ["--bytes", "1KB", "--alpha-us", "2", "--overhead-us", "3", "--chunk-us", "0.5"]
    shown = topoloom("compare", "schedules", *asked["schedules"], *said, "--json")
    assert json.loads(shown.out) == found
    refused = client.post("/v1/comparisons", json={"designs": ["0" * 64] * 2, "overhead_us": 1})
    assert refused.status_code == 422 and "only for schedules or a topology" in refused.text


@pytest.mark.slow
def test_designs_and_schedules_are_put_side_by_side(client, schedule, topoloom):
    ids = [
        client.post("/v1/designs", json=DESIGN | {"bytes": size}).json()["id"]
        for size in ("1MB", "1GB")
    ]
    answer = client.post("/v1/comparisons", json={"designs": [ids[1], ids[0][:10]]})
    found = require_published("post", "/v1/comparisons", answer)
    assert [one["id"] for one in found["designs"]] == ids[::-1]
    assert found["fastest"] == ids[0]
    for one in found["designs"]:
        whole = client.get(f"/v1/designs/{one['id']}").json()
        assert (one["seconds"], one["request"]) == (whole["best"]["seconds"], whole["request"])
        assert one["bound_seconds"] <= one["seconds"] <= one["baseline_seconds"]
        assert one["speed_up"] == pytest.approx(one["baseline_seconds"] / one["seconds"], abs=1e-6)
    other = client.post("/v1/schedules", json={"topology": RING, "collective": "allreduce"}).json()
    asked = {"schedules": [schedule["id"], other["id"]], "bytes": "1MB"}
    answer = client.post("/v1/comparisons", json=asked)
    found = require_published("post", "/v1/comparisons", answer)
    assert [one["bandwidth"] for one in found["schedules"]] == [
        schedule["bandwidth"],
        other["bandwidth"],
    ]
    assert found["fastest"] == schedule["id"]
    require_published("get", "/v1/comparisons", client.get("/v1/comparisons"))
    shown = topoloom("compare", "schedules", *asked["schedules"], "--bytes", "1MB", "--json")
    assert json.loads(shown.out) == found
    assert topoloom("compare", "designs", *ids).out.count("\n") == 3
    assert topoloom("compare", "designs", ids[0]).code == 2
    assert topoloom("compare", "topologies", *ids).code == 2
    missing = client.post("/v1/comparisons", json={"designs": [ids[0], "0" * 64]})
    assert missing.status_code == 404
    both = client.post("/v1/comparisons", json={"designs": ids, "bytes": 1})
    assert both.status_code == 422


@pytest.mark.slow
def test_all_ways_to_run_a_collective_on_a_topology_are_compared_by_size(client, topoloom):
    asked = {"topology": {"fabric": "dgx-1v"}, "collective": "broadcast", "root": "0.gpu1"}
    answer = client.post("/v1/comparisons", json=asked | {"alpha_us": 3})
    found = require_published("post", "/v1/comparisons", answer)
    fabric = found["fabric"]
    names = [way["name"] for way in fabric["ways"]]
    assert "forestcoll" in names and len(set(names)) == len(names)
    for size in fabric["sizes"]:
        times = {one["name"]: one["seconds"] for one in size["times"]}
        assert list(times) == names and times[size["fastest"]] == min(times.values())
        in_force = [one for one in fabric["switch_over"] if one["from_bytes"] <= size["bytes"]]
        assert times[in_force[-1]["name"]] == pytest.approx(min(times.values()), rel=1e-12)
    listed = require_published("get", "/v1/comparisons", client.get("/v1/comparisons"))
    assert listed["items"][0]["id"] == found["id"]
    said = ("dgx-1v", "--collective", "broadcast", "--root", "0.gpu1", "--alpha-us", "3")
    assert json.loads(topoloom("compare", "algorithms", *said, "--json").out) == found
    shown = topoloom("compare", "algorithms", *said).out
    assert all(name in shown for name in names) and "from 1 bytes: " in shown
    assert (
        topoloom("compare", "algorithms", *said, "--bytes", "1MB", "--csv").out.count("\n")
        == len(names) + 1
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"topology": {"fabric": "dgx-1v"}}, "collective"),
        ({"collective": "allgather"}, "designs, schedules and topology"),
        ({"topology": {"fabric": "dgx-1v"}, "collective": "reduce"}, "root"),
        ({"topology": {"fabric": "dgx-1v"}, "collective": "reduce", "root": "no"}, "root"),
        ({"topology": {"fabric": "no"}, "collective": "allgather"}, "/topology"),
        ({"topology": {"fabric": "dgx-a100-129"}, "collective": "allgather"}, "1024"),
        ({"schedules": ["0" * 64] * 2, "root": 1}, "root"),
    ],
)
@pytest.mark.one_in(3)
def test_comparisons_on_a_topology_that_make_no_sense_are_refused(client, asked, said):
    refused = client.post("/v1/comparisons", json=asked)
    assert refused.status_code in (413, 422), refused.text
    assert said in refused.text


@pytest.fixture
def drawn(schedule):
    return [
        "frontier?nodes=12&degree=4",
        "sizes?nodes=12&degree=4&collective=allreduce&from=1KB&to=1MB",
        "sizes?nodes=12&degree=4&workload=allreduce:1MB:3&workload=allgather:1KB",
        f"load?schedule_id={schedule['id']}",
        f"tree?schedule_id={schedule['id'][:12]}&root=3",
    ]


@pytest.mark.slow
def test_what_is_drawn_is_kept_and_read_by_its_id(client, drawn):
    pytest.importorskip("matplotlib")
    for path in drawn:
        first, again = (client.get(f"/v1/plots/{path}") for _ in range(2))
        assert first.status_code == 200, first.text
        assert first.headers["Content-Type"].startswith("image/svg+xml")
        assert "<svg" in first.text and again.content == first.content
        place = first.headers["Content-Location"]
        assert client.get(place).content == first.content
        tag = {"If-None-Match": first.headers["ETag"]}
        assert client.get(f"/v1/plots/{path}", headers=tag).status_code == 304
    listed = require_published("get", "/v1/plots", client.get("/v1/plots"))
    names = [entry["summary"]["plot"] for entry in listed["items"]]
    assert sorted(names) == ["frontier", "load", "sizes", "sizes", "tree"]


STEPS = {"schedule_id": "abcdef"}
ASKED = [
    evaluations.CostRequest(topology=TopologySource(recipe="BiRing(5)")),
    evaluations.TopologyOptimumRequest.model_validate({"topology": RING, "max_gap": "1/9"}),
    evaluations.VerifyRequest.model_validate(STEPS),
    evaluations.VerifyRequest.model_validate({"topology": RING, "traces": ["AP8B"]}),
    evaluations.TimedScheduleRequest.model_validate({**STEPS, "bytes": "1MiB"}),
    evaluations.ComparisonRequest.model_validate({"schedules": ["abcdef", "abcde0"]}),
    evaluations.LoadPlotRequest.model_validate(STEPS),
    evaluations.TreePlotRequest.model_validate({**STEPS, "root": "a", "part": 2}),
    SizesRequest.model_validate({"nodes": 5, "degree": 2, "preset": "resnet50-ddp", "from": 7}),
    BestRequest.model_validate({"nodes": 5, "degree": 2, "workload": ["allreduce:1MB:3"]}),
]


@pytest.mark.parametrize("request_", ASKED, ids=lambda one: type(one).__name__)
def test_what_was_asked_can_be_asked_again_from_its_json(request_):
    written = json.loads(json.dumps(request_.canonical()))
    assert type(request_).model_validate(written).canonical() == request_.canonical()


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("frontier?nodes=12", "/degree"),
        ("sizes?nodes=12&degree=4", ""),
        ("sizes?nodes=12&degree=4&collective=allreduce&from=2MB&to=1MB", ""),
        (f"load?schedule_id={'0' * 64}", "/id"),
        ("load?schedule_id=x", "/schedule_id"),
        (f"tree?schedule_id={'0' * 64}", "/root"),
    ],
)
def test_a_bad_question_for_a_drawing_is_refused(client, path, pointer):
    refused = client.get(f"/v1/plots/{path}")
    assert refused.status_code in (404, 422)
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


def test_more_than_can_be_drawn_is_refused_before_it_is_timed(client):
    tasks = [f"allreduce:{size}" for size in range(1, 300)]
    query = {"nodes": 12, "degree": 4, "workload": tasks, "from": "1B", "to": "1TiB"}
    refused = client.get("/v1/plots/sizes", params=query)
    assert refused.json()["type"] == "/problems/too-large"


def test_a_batch_answers_each_question_by_itself(client):
    known = client.post("/v1/designs", json=DESIGN).json()
    impossible = {**DESIGN, "degree": 12}
    asked = [DESIGN, {"nodes": 12}, 3, {**DESIGN, "bytes": "2MB"}, impossible, DESIGN]
    answer = client.post("/v1/designs/batch", json={"designs": asked})
    items = require_published("post", "/v1/designs/batch", answer)["items"]
    assert [item["status"] for item in items] == [200, 422, 422, 201, 422, 200]
    assert items[0]["design"] == items[5]["design"] == known
    assert items[0]["location"] == f"/v1/designs/{known['id']}"
    assert {one["pointer"] for one in items[1]["problem"]["errors"]} == {"/degree"}
    alone = client.post("/v1/designs", json=impossible).json()
    assert items[4]["problem"]["detail"] == alone["detail"]
    again = client.post("/v1/designs/batch", json={"designs": asked}).json()["items"]
    assert again[3]["status"] == 200


@pytest.mark.parametrize("designs", [[], [DESIGN] * 101, {}, None])
def test_a_batch_has_one_to_a_hundred_questions(client, designs):
    refused = client.post("/v1/designs/batch", json={"designs": designs})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/designs"


def test_what_is_known_by_name_is_what_the_commands_list(client, topoloom):
    for path in ("families", "fabrics", "presets"):
        found = require_published("get", f"/v1/{path}", client.get(f"/v1/{path}"))
        items = found["items"] + found.get("iterations", [])
        rows = topoloom("catalog", path, "--csv").out.splitlines()
        assert len(items) == len(rows) - 1 > 5
        assert all(item["name"] in "\n".join(rows) for item in items)


@pytest.mark.slow
def test_documents_of_before_are_found_by_what_they_are(database_url):
    """Rows of the revision before get their facts when the tables are brought up to date."""
    engine = open_engine(database_url)
    migrate(engine)
    app = create_app(Settings(database_url=database_url))
    with TestClient(app, base_url="http://localhost") as client:
        client.post("/v1/designs", json=DESIGN)
        client.post("/v1/costs", json={"topology": RING})
        client.post("/v1/patch-plans", json={"topology": RING})
    kinds = ("design", "frontier", "topology", "cost", "schedule", "patch-plan")
    columns = "id, nodes, degree, links, steps, bandwidth, size"
    tables = ("designs", "frontiers", "topologies", "costs", "schedules", "patch_plans")
    beside = ("families", "document_references", "points")

    def everything():
        with engine.connect() as connection:
            rows = [connection.execute(text(f"SELECT {columns} FROM {one} ORDER BY id")).all()
                    for one in tables]  # fmt: skip
            rows += [sorted(map(str, connection.execute(text(f"SELECT * FROM {one}")).all()))
                     for one in beside]  # fmt: skip
        return [list(map(tuple, one)) if one and not isinstance(one[0], str) else one
                for one in rows]  # fmt: skip

    before = everything()
    assert all(before)
    migrate(engine, "0002")
    migrate(engine)
    after = everything()
    links = columns.split(", ").index("links")

    def known(rows):
        # What a document says of a topology may have come after the documents about it.
        return [
            [one[:links] + one[links + 1 :] if isinstance(one, tuple) else one for one in part]
            for part in rows
        ]

    assert known(after) == known(before)
    store = Store(engine)
    for kind in kinds:
        entries, _ = store.page(kind, 100, None)
        assert all(store.get(kind, entry.id) for entry in entries), kind
    found, _ = store.page("topology", 10, None, Wanted({"steps": (2, 2)}, family="Circulant"))
    assert [entry.summary["name"] for entry in found] == ["circulant-12x4-c960"]
    engine.dispose()
