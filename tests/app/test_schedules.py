import io
import json
import xml.etree.ElementTree as ElementTree
import zipfile
from dataclasses import replace
from fractions import Fraction

import pytest

from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.requests.schedules import ScheduleRequest
from topoloom.app.services import schedules
from topoloom.app.services.program_files import ProgramFile
from topoloom.schedules.formats import FORMATS, Options
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.generate import make_and_verify
from topoloom.schedules.steps import bfb
from topoloom.schedules.verify import step_cost, tree_inverse_rate, violations
from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse


def make(client, **request):
    answer = client.post("/v1/schedules", json=request)
    assert answer.status_code == 201, answer.text
    return answer


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_a_step_schedule_costs_what_was_measured(client, collective):
    topology = build(parse("Kautz(2, 2)"))
    made = make(client, topology={"recipe": str(topology.recipe)}, collective=collective)
    summary = made.json()
    forth, back = measure_both(topology)
    used = {"allgather": [forth], "reduce-scatter": [back], "allreduce": [back, forth]}[collective]
    assert summary["algorithm"] == "bfb"
    assert summary["steps"] == sum(cost.steps for cost in used)
    assert summary["bandwidth"] == str(sum(cost.bandwidth for cost in used))
    schedule = from_document(client.get(f"/v1/schedules/{made.json()['id']}").json(), topology)
    assert violations(schedule, topology) == []
    assert str(step_cost(schedule, topology).bandwidth) == summary["bandwidth"]


def test_a_switched_fabric_gets_trees_of_the_optimal_rate(client):
    topology = fabric("dgx-a100-2")
    made = make(client, topology={"fabric": topology.name}, collective="allgather")
    assert made.json()["algorithm"] == "forestcoll"
    assert made.json()["inverse_rate"] == "3/65"
    schedule = from_document(client.get(f"/v1/schedules/{made.json()['id']}").json(), topology)
    assert violations(schedule, topology) == []
    assert str(tree_inverse_rate(schedule, topology)) == "3/65"


def test_leaving_the_algorithm_out_is_the_same_question(client):
    source = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    first = make(client, **source)
    second = client.post("/v1/schedules", json=source | {"algorithm": "bfb"})
    assert (second.status_code, second.json()) == (200, first.json())


def test_a_topology_named_by_id_is_the_same_question(client):
    place = client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).json()["id"]
    first = make(client, topology={"id": place}, collective="allgather")
    named = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    assert client.post("/v1/schedules", json=named).json() == first.json()


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.slow
def test_the_fewest_trees_within_a_gap_are_used_and_the_gap_is_told(client, collective):
    topology = fabric("dgx-a100-2")
    source = {"topology": {"fabric": topology.name}, "collective": collective}
    made = make(client, **source, max_gap="1/50").json()
    assert (made["algorithm"], made["trees_per_root"], made["gap"]) == ("forestcoll", 1, "1/90")
    same = client.post("/v1/schedules", json=source | {"max_gap": "0.02"})
    assert (same.status_code, same.json()) == (200, made)


def test_a_gap_alone_asks_for_trees_and_bfb_refuses_it(client):
    ring = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather", "max_gap": 0}
    assert make(client, **ring).json()["algorithm"] == "forestcoll"
    refused = client.post("/v1/schedules", json=ring | {"algorithm": "bfb"})
    assert refused.json()["errors"][0]["pointer"] == "/max_gap"
    refused = client.post("/v1/schedules", json=ring | {"trees_per_root": 2})
    assert refused.json()["errors"][0]["pointer"] == "/max_gap"


@pytest.mark.slow
def test_trees_per_root_is_obeyed(client):
    made = make(
        client,
        topology={"fabric": "dgx-1v"},
        collective="allgather",
        algorithm="forestcoll",
        trees_per_root=1,
    )
    assert made.json()["trees_per_root"] == 1
    assert client.get(f"/v1/schedules/{made.json()['id']}").json()["trees_per_root"] == 1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_an_expanded_topology_gets_the_schedule_its_theorem_states(client, collective):
    topology = build(parse("Power(2, DeBruijn(2, 3))"))
    request = {"topology": {"recipe": str(topology.recipe)}, "collective": collective}
    made = make(client, **request, algorithm="lifted")
    passes = 2 if collective == "allreduce" else 1
    assert (made.json()["algorithm"], made.json()["steps"]) == ("lifted", 6 * passes)
    # Less than the 2 of breadth-first broadcast.
    assert made.json()["bandwidth"] == str(Fraction(63, 32) * passes)
    schedule = from_document(client.get(f"/v1/schedules/{made.json()['id']}").json(), topology)
    assert violations(schedule, topology) == []


def test_a_topology_without_a_recipe_is_not_lifted(client):
    ring = build(parse("UniRing(4)")).with_recipe(None).to_document()
    request = {"topology": ring, "collective": "allgather", "algorithm": "lifted"}
    refused = client.post("/v1/schedules", json=request)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/no-schedule")
    assert refused.json()["errors"][0]["pointer"] == "/algorithm"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("most", "chunks", "loss"), [(1, 1, "1/4"), (2, 2, "1/16"), (5, 3, "0"), (65536, 3, "0")]
)
def test_a_largest_number_of_chunks_is_kept_and_its_loss_is_said(client, most, chunks, loss):
    source = {"topology": {"recipe": "Hypercube(3)"}, "collective": "allgather"}
    made = make(client, **source, max_chunks=most).json()
    assert (made["chunks_per_shard"], made["bandwidth_loss"]) == (chunks, loss)
    assert Fraction(made["bandwidth"]) - Fraction(loss) == Fraction(7, 8)
    assert "bandwidth_loss" not in make(client, **source).json()
    both = make(client, **source | {"collective": "allreduce"}, max_chunks=most).json()
    assert Fraction(both["bandwidth_loss"]) == 2 * Fraction(loss)


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"algorithm": "forestcoll", "max_chunks": 3}, "/max_chunks"),
        ({"algorithm": "lifted", "max_chunks": 3}, "/max_chunks"),
        ({"algorithm": "lifted", "trees_per_root": 3}, "/trees_per_root"),
        ({"trees_per_root": 3, "max_chunks": 3}, "/max_chunks"),
        ({"max_chunks": 0}, "/max_chunks"),
        ({"max_chunks": 2**16 + 1}, "/max_chunks"),
    ],
)
def test_an_option_of_another_algorithm_is_refused(client, options, pointer):
    request = {"topology": {"recipe": "BiRing(4)"}, "collective": "allgather", **options}
    refused = client.post("/v1/schedules", json=request)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


@pytest.mark.parametrize("dialect", [None, "msccl", "azure", "rccl"])
def test_a_schedule_comes_as_msccl_xml(client, dialect):
    made = make(client, topology={"recipe": "BiRing(4)"}, collective="allgather")
    query = {"format": "msccl-xml"} | ({"dialect": dialect} if dialect else {})
    answer = client.get(f"/v1/schedules/{made.json()['id']}", params=query)
    assert answer.headers["Content-Type"] == "application/xml"
    assert ElementTree.fromstring(answer.text).get("coll") == "allgather"
    assert (
        client.get(
            f"/v1/schedules/{made.json()['id']}",
            params=query,
            headers={"If-None-Match": answer.headers["ETag"]},
        ).status_code
        == 304
    )


REPLAYED = {
    "msccl-xml": ({"dialect": "rccl", "inplace": True}, {"inplace": False}),
    "mscclpp-json": ({"inplace": True, "ranks_per_node": 8}, {"ranks_per_node": 1}),
    "chakra-et": ({"bytes": "1MiB"}, {"bytes": "2MB"}),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("form", REPLAYED)
def test_what_is_exported_is_replayed_on_its_topology(client, form, collective):
    topology = fabric("dgx-a100-2")
    made = make(client, topology={"fabric": topology.name}, collective=collective)
    query, other = REPLAYED[form]
    answer = client.get(f"/v1/schedules/{made.json()['id']}", params={"format": form} | query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == FORMATS[form].media_type
    files = [answer.content]
    if form == "chakra-et":
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            files = [archive.read(f"schedule.{rank}.et") for rank in range(16)]
            assert len(archive.namelist()) == 16
    program = ProgramFile(form, files, Options(dialect=query.get("dialect")))
    assert program.violations(topology) == []
    elsewhere = program.violations(fabric("mi250-1"))
    assert any("no link" in violation.sentence for violation in elsewhere)
    smaller = program.violations(fabric("dgx-1v"))
    assert "compute nodes" in str(smaller[0])
    again = client.get(
        f"/v1/schedules/{made.json()['id']}", params={"format": form} | query | other
    )
    assert again.headers["ETag"] != answer.headers["ETag"]


def test_a_tuner_table_is_for_the_speed_that_was_said(client):
    made = make(client, topology={"recipe": "Hypercube(4)"}, collective="allreduce")
    tables = set()
    for speed in ({}, {"alpha_us": 5}, {"node_gbps": 400, "ranks_per_node": 4}):
        query = {"format": "nccl-tuner-csv"} | speed
        answer = client.get(f"/v1/schedules/{made.json()['id']}", params=query)
        assert answer.headers["Content-Type"].startswith("text/csv")
        tables.add(answer.text)
        files, topology = [answer.content], build(parse("Hypercube(4)"))
        assert ProgramFile("nccl-tuner-csv", files).violations(topology) == []
    assert len(tables) == 3


@pytest.mark.parametrize("form", ["dot", "graphml"])
def test_trees_are_drawn(client, form):
    made = make(client, topology={"fabric": "dgx-1v"}, collective="allreduce")
    answer = client.get(f"/v1/schedules/{made.json()['id']}", params={"format": form})
    assert answer.headers["Content-Type"].partition(";")[0] == FORMATS[form].media_type
    assert answer.text


def test_every_format_of_the_table_can_be_asked_for():
    parameters = service_openapi()["paths"]["/v1/schedules/{id}"]["get"]["parameters"]
    asked = next(each for each in parameters if each["name"] == "format")["schema"]
    assert asked["anyOf"][0]["enum"] == list(FORMATS)
    names = {each["name"] for each in parameters}
    assert {name for form in FORMATS.values() for name in form.options} <= names


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"format": "chakra-et"}, "/bytes"),
        ({"format": "chakra-et", "bytes": "1"}, "/bytes"),
        ({"format": "dot"}, "/format"),
        ({"format": "json", "inplace": True}, "/inplace"),
        ({"format": "msccl-xml", "ranks_per_node": 2}, "/ranks_per_node"),
        ({"format": "msccl-xml", "dialect": "x"}, "/dialect"),
        ({"format": "json", "dialect": "msccl"}, "/dialect"),
    ],
)
def test_what_cannot_be_exported_is_a_problem(client, query, pointer):
    made = make(client, topology={"recipe": "BiRing(4)"}, collective="allgather")
    answer = client.get(f"/v1/schedules/{made.json()['id']}", params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_limit_of_this_installation_is_said(client, settings):
    refused = client.post(
        "/v1/schedules",
        json={"topology": {"recipe": "Hypercube(12)"}, "collective": "allgather"},
    )
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/too-large")
    assert str(settings.max_scheduled_nodes) in refused.json()["detail"]
    refused = client.post(
        "/v1/schedules",
        json={"topology": {"recipe": "Hypercube(15)"}, "collective": "allgather"},
    )
    assert refused.json()["errors"][0]["pointer"] == "/topology/recipe"
    assert str(settings.max_nodes) in refused.json()["detail"]


def test_a_large_schedule_is_streamed_whole(client):
    topology = build(parse("Torus(12, 12)"))
    made = make(client, topology={"recipe": str(topology.recipe)}, collective="allreduce")
    with client.stream("GET", f"/v1/schedules/{made.json()['id']}") as answer:
        pieces = list(answer.iter_bytes())
    document = json.loads(b"".join(pieces))
    assert len(pieces) > 1
    assert violations(from_document(document, topology), topology) == []


def test_a_valid_schedule_that_costs_more_than_claimed_is_refused(monkeypatch, context):
    """The second half of every shard takes a step of its own: valid, but slower."""

    def slower(topology, *_, **__):
        fast = bfb.allgather(topology)
        halves = []
        for step in fast.steps:
            for first in (0, 1):
                half = step.copy()
                half["first"], half["count"] = first, 1
                halves.append(half)
        return replace(fast, chunks_per_shard=2, steps=tuple(halves))

    monkeypatch.setattr(make_and_verify, "make", slower)
    request = ScheduleRequest(topology={"recipe": "UniRing(4)"}, collective="allgather")
    with pytest.raises(ClaimBroken, match="the allgather costs"):
        schedules.create(context, request)
    assert context.whole_store.page("schedule", 10, None)[0] == []
