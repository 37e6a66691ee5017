"""All-to-all through the service and the command line."""

import json
from fractions import Fraction

import pytest

from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.verify import route_inverse_rate, violations
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

KAUTZ = "GeneralizedKautz(3, 11)"


def topology(client, recipe=KAUTZ):
    return client.post("/v1/topologies", json={"recipe": recipe}).json()["id"]


def test_the_optimum_and_its_schedule_agree(client):
    identity = topology(client)
    found = client.get(f"/v1/topologies/{identity}/optimum?collective=all-to-all").json()
    assert found["schema"] == "all-to-all/1" and found["proved"]
    asked = {"topology": {"id": identity}, "collective": "all-to-all"}
    made = client.post("/v1/schedules", json=asked)
    assert made.status_code == 201, made.text
    summary = made.json()
    assert summary["algorithm"] == "mcf"
    best = found["routings"][-1]
    assert (summary["bandwidth"], summary["inverse_rate"]) == (
        best["bandwidth"],
        found["inverse_rate"],
    )
    graph = build(parse(KAUTZ))
    schedule = from_document(client.get(f"/v1/schedules/{made.json()['id']}").json(), graph)
    assert violations(schedule, graph) == []
    assert str(route_inverse_rate(schedule, graph)) == found["inverse_rate"]
    assert Fraction(best["bandwidth"]) == Fraction(found["inverse_rate"]) * 3 / 11


def test_a_frontier_measures_all_to_all_when_asked(client, topoloom):
    question = ["--nodes", "16", "--degree", "3", "--json"]
    plain = json.loads(topoloom("frontier", *question).out)
    assert all("all_to_all" not in entry for entry in plain["frontier"])
    asked = json.loads(topoloom("frontier", *question, "--all-to-all").out)
    for before, entry in zip(plain["frontier"], asked["frontier"], strict=True):
        more = entry.pop("all_to_all")
        assert entry == before
        assert more["proved"] and more["bound"] == more["bandwidth"]
        assert more["routings"][0]["steps"] == entry["steps"]
        assert more["routings"][-1]["bandwidth"] == more["bandwidth"]


REFUSED = {
    "/trees_per_root": {"trees_per_root": 2},
    "/root": {"root": "0"},
    "/max_chunks": {"max_chunks": 2},
    "/algorithm": {"algorithm": "bfb"},
}


@pytest.mark.parametrize("pointer", REFUSED)
def test_what_does_not_go_with_all_to_all_is_refused(client, pointer):
    asked = {"topology": {"recipe": KAUTZ}, "collective": "all-to-all"} | REFUSED[pointer]
    answer = client.post("/v1/schedules", json=asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_the_optimum_of_all_to_all_has_no_trees(client, topoloom):
    identity = topology(client)
    path = f"/v1/topologies/{identity}/optimum?collective=all-to-all&trees_per_root=2"
    assert client.get(path).json()["errors"][0]["pointer"] == "/trees_per_root"
    answer = topoloom("optimum", KAUTZ, "--collective", "gossip")
    assert answer.code == 2 and answer.err.startswith("topoloom: --collective: must be")


def test_too_many_hosts_for_routes_are_refused(client):
    asked = {"topology": {"recipe": "UniRing(1025)"}, "collective": "all-to-all"}
    answer = client.post("/v1/schedules", json=asked)
    assert answer.status_code == 422
    assert answer.json()["type"] == "/problems/too-large"


def test_presets_are_listed_with_their_sources(topoloom):
    _, *lines = topoloom("catalog", "presets").out.splitlines()
    about = {tuple(line.split()[:2]): line for line in lines}
    assert "gpt2-xl, 1,557,611,200 parameters" in about["gpt2-xl-ddp", "--preset"]
    sources = ("arXiv:", "2019", "MLPerf", "NVIDIA/")
    assert all(any(source in line for source in sources) for line in lines)
