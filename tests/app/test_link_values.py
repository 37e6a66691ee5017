"""What links are worth, asked over REST and on the command line."""

import json
from fractions import Fraction

import pytest

from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.link_values import link_values, rates_after_repair
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.degrade import degraded

SLOW = ["0.gpu0", "0.gpu1", "1/2"]
CHANGED = {"fabric": "dgx-1v", "changes": {"slow_links": [SLOW]}}


def test_values_come_with_an_optimum_where_they_are_asked_for(client):
    plain = client.post("/v1/optima", json={"topology": CHANGED}).json()
    asked = client.post("/v1/optima", json={"topology": CHANGED, "values": True}).json()
    assert not {"values", "restored"} & plain.keys()
    assert {k: v for k, v in asked.items() if k not in ("id", "values", "restored")} == {
        k: v for k, v in plain.items() if k != "id"
    }
    healthy = fabric("dgx-1v")
    topology = degraded(healthy, slow_links=[(*SLOW[:2], Fraction(SLOW[2]))])
    told = link_values(topology, Collective.ALLGATHER)
    assert [value["ends"] for value in asked["values"]] == [list(v.pairs[0]) for v in told]
    for name in ("more", "each_more", "less", "doubled", "all_doubled"):
        assert [value[name] for value in asked["values"]] == [str(getattr(v, name)) for v in told]
    assert asked["restored"] == [
        {"nodes": list(one.nodes), "algbw": str(one.algbw)}
        for one in rates_after_repair(healthy, topology, Collective.ALLGATHER)
    ]


def test_a_query_asks_for_them_too(client):
    made = client.post("/v1/topologies", json={"fabric": "dgx-1v"}).json()
    found = client.get(f"/v1/topologies/{made['id']}/optimum", params={"values": True}).json()
    assert sum(value["alike"] for value in found["values"]) == 16
    assert "restored" not in found


@pytest.mark.parametrize("more", [{"trees_per_root": 2}, {"collective": "all-to-all"}])
def test_values_of_what_has_none_are_refused(client, more):
    answer = client.post(
        "/v1/optima", json={"topology": {"fabric": "dgx-1v"}, "values": True, **more}
    )
    assert answer.status_code == 422
    assert "/values" in json.dumps(answer.json())


def test_a_survey_has_no_values(client):
    body = {"kind": "fault-analysis", "topology": {"fabric": "dgx-1v"}}
    body["template"] = {"values": True}
    answer = client.post("/v1/sweeps", json=body)
    assert answer.status_code == 422
    assert "/template/values: must be absent" in answer.text


def test_what_changes_nothing_is_one_line(topoloom):
    slow = f"{SLOW[0]},{SLOW[1]}={SLOW[2]}"
    text = topoloom("optimum", "dgx-1v", "--slow-link", slow, "--values").out
    assert "after repair   0.gpu0 - 0.gpu1: 171.4286 GB/s" in text
    assert "other kinds of links: no gain from more capacity, no loss from slightly less" in text
