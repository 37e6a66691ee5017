"""The worst failures of a stored plan, by REST as on the command line."""

import pytest

from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.wiring import plan_moves, smallest_plant
from topoloom.synth.wiring.operations.worst_failures import survey


@pytest.fixture
def plan(client):
    source = {"topology": {"recipe": "BiRing(5)"}}
    return client.post("/v1/patch-plans", json=source).json()


@pytest.mark.parametrize("at_once", [1, 2])
def test_the_worst_failures_are_those_of_the_plan(client, plan, at_once):
    place = f"/v1/patch-plans/{plan['id']}/fault-analysis"
    answer = client.post(place, json={"at_once": at_once, "worst": 12})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["schema"], told["plan_id"]) == ("survey/1", plan["plan_id"])
    ring = build(parse("BiRing(5)"))
    found = survey(plan_moves(ring, smallest_plant(ring)), at_once)
    assert told["count"] == len(found)
    assert told["cut"] == sum(not failure.connected for failure in found)
    assert (told["cut"] > 0) == (at_once == 2)
    assert len(told["failures"]) == 12
    assert told["failures"][0]["connected"] is (at_once == 1)
    lost = {frozenset(part.name for part in failure.parts): failure.lost_links for failure in found}
    for row in told["failures"]:
        assert row["lost_links"] == lost[frozenset(part["name"] for part in row["parts"])]
        assert ("share" in row) and (row["share"] == "0") == (not row["connected"])


@pytest.mark.parametrize("body", [{"at_once": 3}, {"worst": 0}, {"most": 1}])
def test_a_mistake_is_named(client, plan, body):
    answer = client.post(f"/v1/patch-plans/{plan['id']}/fault-analysis", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{next(iter(body))}"
