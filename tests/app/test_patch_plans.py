import csv
import io

import pytest

from synth.build import build
from synth.recipe import parse
from synth.wiring import Present, apply, read_present, uniform


@pytest.mark.parametrize("layout", ["per-port", "single"])
def test_carrying_out_a_plan_gives_the_wiring_it_promises(client, layout):
    made = client.post(
        "/v1/patch-plans", json={"topology": {"recipe": "Kautz(2, 2)"}, "panels": layout}
    )
    assert made.status_code == 201
    plan = made.json()
    panels = uniform(**plan["panels"])
    final = apply(plan, Present(), panels)
    assert final == read_present(plan, panels)
    joined = sorted(panels.hosts_of(pair) for pair in final.pairs)
    topology = build(parse("Kautz(2, 2)"))
    assert joined == sorted((link.source, link.target) for link in topology.links)
    assert client.get(made.headers["Location"]).json() == plan


def test_the_work_order_has_a_row_for_every_move(client):
    present = [{"panel": 0, "a": 0, "b": 1}, {"panel": 0, "a": 1, "b": 0}]
    made = client.post(
        "/v1/patch-plans", json={"topology": {"recipe": "UniRing(3)"}, "present": present}
    )
    assert made.json()["summary"]["removes"] == 1
    assert made.json()["summary"]["adds"] == 2
    order = client.get(made.headers["Location"], params={"format": "csv"})
    assert order.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(order.text)))
    assert [row["action"] for row in rows] == ["remove", "add", "add"]
    negotiated = client.get(made.headers["Location"], headers={"Accept": "text/csv"})
    assert negotiated.text == order.text


def test_a_plan_may_start_from_the_plan_before_it(client):
    source = {"topology": {"recipe": "BiRing(6)"}}
    first = client.post("/v1/patch-plans", json=source).json()
    second = client.post("/v1/patch-plans", json=source | {"present": first})
    assert second.json()["summary"]["moves"] == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"topology": {"fabric": "dgx-a100-2"}}, "/topology"),
        ({"lanes": 1}, "/topology"),
        ({"hosts": 3}, "/topology"),
        ({"panels": "many"}, "/panels"),
        ({"present": [{"panel": 9, "a": 0, "b": 1}]}, "/present/0/panel"),
        ({"present": [{"panel": 0, "a": 0, "b": 99}]}, "/present/0/b"),
        ({"present": [{"panel": 0, "a": 0, "b": 1}] * 2}, "/present/1/a"),
        ({"present": {}}, "/present/schema"),
        ({"present": "none"}, "/present"),
        ({"hosts": 10**6, "lanes": 10**4}, "/hosts"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(client, changes, pointer):
    answer = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(5)"}} | changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert client.get("/v1/patch-plans").json()["items"] == []
