import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from tests.synth.plants import straight
from topoloom.app.requests.options.option import choices
from topoloom.app.requests.options.patch_plans import PlanFormat
from topoloom.app.services import patch_plans
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.wiring import Present, apply, read_present, uniform
from topoloom.synth.wiring.devices import FORMATS as DEVICES
from topoloom.synth.wiring.plant import plant_document


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
        "/v1/patch-plans", json={"topology": {"recipe": "UniRing(3)"}, "current_wiring": present}
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
    second = client.post("/v1/patch-plans", json=source | {"current_wiring": first})
    assert second.json()["summary"]["moves"] == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"topology": {"fabric": "dgx-a100-2"}}, "/topology"),
        ({"ports_per_host": 1}, "/topology"),
        ({"hosts": 3}, "/topology"),
        ({"panels": "many"}, "/panels"),
        ({"current_wiring": [{"panel": 9, "a": 0, "b": 1}]}, "/current_wiring/0/panel"),
        ({"current_wiring": [{"panel": 0, "a": 0, "b": 99}]}, "/current_wiring/0/b"),
        ({"current_wiring": [{"panel": 0, "a": 0, "b": 1}] * 2}, "/current_wiring/1/a"),
        ({"current_wiring": {}}, "/current_wiring/schema"),
        ({"current_wiring": "none"}, "/current_wiring"),
        ({"hosts": 10**6, "ports_per_host": 10**4}, "/hosts"),
    ],
)
@pytest.mark.one_in(2)
def test_what_does_not_fit_is_refused_by_its_place(client, changes, pointer):
    answer = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(5)"}} | changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert client.get("/v1/patch-plans").json()["items"] == []


def plant_of(hosts, lanes):
    return plant_document(replace(uniform("per-port", hosts, lanes), uniform=None, name="lab"))


@pytest.mark.slow
def test_a_plan_on_a_plant_of_ones_own_names_its_hosts_and_is_read_back(client):
    body = {"topology": {"recipe": "BiRing(5)"}, "plant": plant_of(6, 2)}
    made = client.post("/v1/patch-plans", json=body)
    assert made.status_code == 201, made.text
    plan = made.json()
    assert plan["plant"]["name"] == "lab" and "panels" not in plan
    assert plan["ports"][0]["endpoint"] == {"node": 0, "host": "0", "port": "0"}
    listed = client.get("/v1/patch-plans").json()["items"][0]["request"]
    assert listed["plant"]["schema"] == "plant/1"
    again = client.post("/v1/patch-plans", json=body | {"current_wiring": plan})
    assert again.json()["summary"]["moves"] == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"plant": {"schema": "plant/1"}, "ports_per_host": 2}, ""),
        ({"plant": {"schema": "plant/2"}}, "/plant/schema"),
        ({"plant": plant_of(4, 2)}, "/topology"),
        ({"host_assignment": "anywhere"}, "/host_assignment"),
        ({"max_links_down": 0}, "/max_links_down"),
        ({"stay_connected": True}, "/stay_connected"),
    ],
)
def test_a_plant_or_a_limit_that_cannot_be_is_refused_by_its_place(client, changes, pointer):
    answer = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(5)"}} | changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_stages_keep_their_limits_and_say_what_throughput_is_left(client):
    ring = {"topology": {"recipe": "Circulant(8, 1, 2)"}}
    first = client.post("/v1/patch-plans", json=ring).json()
    other = {"topology": {"recipe": "Circulant(8, 1, 3)"}, "current_wiring": first}
    limits = {"max_links_down": 4, "stay_connected": True}
    plan = client.post("/v1/patch-plans", json=other | limits).json()
    assert plan["summary"]["stages"] == len(plan["stages"]) > 1
    for stage in plan["stages"]:
        assert stage["effect"]["connected"] and stage["effect"]["links_down"] <= 4
        assert 0 < Fraction(stage["effect"]["bandwidth_left"]) <= 1
    stages = {row["stage"] for row in csv.DictReader(io.StringIO(
        client.get(f"/v1/patch-plans/{plan['id']}?format=csv").text
    ))}  # fmt: skip
    assert len(stages) == len(plan["stages"])


def test_nodes_may_be_placed_freely(client):
    first = client.post("/v1/patch-plans", json={"topology": {"recipe": "UniRing(7)"}}).json()
    other = {"topology": {"recipe": "DirectedCirculant(7, 3)"}, "current_wiring": first}
    assert client.post("/v1/patch-plans", json=other).json()["summary"]["moves"] == 14
    free = client.post("/v1/patch-plans", json=other | {"host_assignment": "free"}).json()
    assert free["summary"]["moves"] == 0


def test_a_plan_may_be_chosen_for_time_or_for_drained_hosts(client, topoloom, tmp_path):
    plant = plant_of(5, 3)
    for panel, pace in zip(plant["panels"], (60, 5, 1), strict=True):
        panel["move_seconds"] = pace
    body = {"topology": {"recipe": "UniRing(5)"}, "plant": plant}
    few = client.post("/v1/patch-plans", json=body).json()
    assert "objective" not in few["summary"]
    soon = client.post("/v1/patch-plans", json=body | {"objective": "seconds"}).json()
    goal = soon["summary"]["objective"]
    assert goal["least"] == "seconds" and goal["gap"] == 0 and goal["optimal"]
    assert goal["value"] == soon["summary"]["seconds"] <= few["summary"]["seconds"]
    assert soon["id"] != few["id"]
    moves = client.post("/v1/patch-plans", json=body | {"objective": "moves"})
    assert (moves.status_code, moves.json()["id"]) == (200, few["id"])
    (tmp_path / "plant.json").write_text(json.dumps(plant))
    (tmp_path / "today.json").write_text(json.dumps(few))
    asked = ["patch", "UniRing(5)", "--plant", str(tmp_path / "plant.json"), "--objective"]
    asked += ["drained", "--current-wiring", str(tmp_path / "today.json")]
    assert topoloom(*asked, "--out", str(tmp_path / "plan.json")).code == 0
    shown = topoloom(
        "patch", "show", str(tmp_path / "plan.json"), "--plant", str(tmp_path / "plant.json")
    )
    assert "minimized drained: 0 hosts drained; lower bound 0, optimal" in shown.out


def test_a_plan_says_what_a_spare_port_would_save(client, topoloom, tmp_path):
    ring = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(6)"}}).json()
    body = {"topology": {"recipe": "DirectedCirculant(6, 1, 2)"}, "current_wiring": ring}
    plan = client.post("/v1/patch-plans", json=body).json()
    roomier = client.post("/v1/patch-plans", json=body | {"ports_per_host": 3}).json()
    moves = roomier["summary"]["moves"]
    assert plan["summary"]["moves"] > moves
    assert plan["summary"]["with_spare_port"] == {"moves": moves, "lower_bound": moves}
    assert "with_spare_port" not in roomier["summary"]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    shown = topoloom("patch", "show", str(tmp_path / "plan.json"))
    assert f"with one more port at every host: {moves} moves\n" in shown.out


def test_a_plant_is_told_which_fibres_to_exchange_once(client):
    plant = plant_document(straight(3, 2))
    told = client.post("/v1/patch-plans/cross-wiring", json={"plant": plant})
    assert told.status_code == 200, told.text
    found = told.json()
    assert (found["schema"], found["exchanges"], len(found["fibres"])) == ("cross-wiring/1", 3, 6)
    assert found["fibres"][0] == {
        "host": "0", "port": "0", "before": "panel-0/0B", "after": "panel-1/0B"
    }  # fmt: skip
    triangle = {"topology": {"recipe": "Complete(3)"}}
    assert client.post("/v1/patch-plans", json=triangle | {"plant": plant}).status_code == 422
    crossed = client.post("/v1/patch-plans", json=triangle | {"plant": found["plant"]})
    assert crossed.status_code == 201
    again = client.post("/v1/patch-plans/cross-wiring", json={"plant": found["plant"]}).json()
    assert again == {"schema": "cross-wiring/1", "exchanges": 0, "fibres": []}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "/plant"), ({"plant": {"schema": "plant/2"}}, "/plant/schema"), ({"plant": 3}, "/plant")],
)
def test_a_plant_that_cannot_be_cross_wired_is_refused_by_its_place(client, body, pointer):
    answer = client.post("/v1/patch-plans/cross-wiring", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_formats_of_plans_are_those_that_devices_are_told():
    assert patch_plans.FORMATS.keys() == {"json", "csv"} | DEVICES.keys()
    assert {*choices(PlanFormat)} == patch_plans.FORMATS.keys()
    for name, form in DEVICES.items():
        assert patch_plans.FORMATS[name] == form.media_type
    assert len(set(patch_plans.FORMATS.values())) == len(patch_plans.FORMATS)


REFUSED = ("deployment", "mlx-hostfile")
"""Formats that need ports which face each other, or named ports."""


@pytest.mark.one_in(9)
@pytest.mark.parametrize("form", [name for name in DEVICES if name not in REFUSED])
def test_a_stored_plan_is_rendered_for_every_device(client, form):
    body = {"topology": {"recipe": "BiRing(5)"}, "plant": plant_of(5, 2)}
    place = client.post("/v1/patch-plans", json=body).headers["Location"]
    asked = client.get(place, params={"format": form})
    assert asked.status_code == 200
    media_type = patch_plans.FORMATS[form]
    assert asked.headers["Content-Type"].startswith(media_type)
    assert client.get(place, headers={"Accept": media_type}).text == asked.text


def test_a_format_that_a_plan_has_not_is_refused_with_the_reason(client):
    place = client.post("/v1/patch-plans", json={"topology": {"recipe": "UniRing(3)"}}).headers[
        "Location"
    ]
    answer = client.get(place, params={"format": "deployment"})
    assert answer.status_code == 422
    assert "face each other" in answer.text


def test_the_command_line_renders_and_verifies_a_plan_of_a_given_plant(topoloom, tmp_path):
    plant, plan, seen = (str(tmp_path / name) for name in ("plant.yaml", "plan.json", "seen.json"))
    Path(plant).write_text(yaml.safe_dump(plant_of(5, 2)))
    assert topoloom("patch", "BiRing(5)", "--plant", plant, "--out", plan).code == 0
    lines = topoloom("patch", "render", plan, "--plant", plant, "--format", "sonic-cli")
    assert lines.code == 0 and lines.out.count("cross-connect add") == 10
    refused = topoloom("patch", "render", plan, "--format", "sonic-cli")
    assert refused.code == 2 and "must be given too" in refused.err
    pairs = [
        pair | {"panel": panel}
        for panel, state in json.loads(Path(plan).read_text())["final"].items()
        for pair in state["pairs"]
    ]
    Path(seen).write_text(json.dumps(pairs))
    assert topoloom("patch", "verify", plan, "--observed", seen, "--plant", plant).code == 0
    Path(seen).write_text(json.dumps(pairs[1:]))
    broken = topoloom("patch", "verify", plan, "--observed", seen, "--plant", plant)
    assert broken.code == 1 and "missing" in broken.out
    assert broken.out.endswith(
        "1 missing, 0 unexpected; 0 of 1 stages are complete, and 9 of 10 moves of stage 1; "
        "moves left: 1\n"
    )


def carried_out(client):
    body = {"topology": {"recipe": "UniRing(4)"}, "hosts": 5, "ports_per_host": 2}
    return client.post("/v1/patch-plans", json=body).json()


def test_repairs_stand_side_by_side_with_what_they_cost(client):
    plan = carried_out(client)
    place = f"/v1/patch-plans/{plan['id']}/repairs"
    dead = {"pairs": ["panel-0/1A-2B"]}
    answer = client.post(place, json=dead)
    assert answer.status_code == 200, answer.text
    ways = answer.json()["repairs"]
    assert [way["repair"] for way in ways] == ["re-patch", "spare-host"]
    assert [way["moves"] for way in ways] == sorted(way["moves"] for way in ways)
    assert all(way["lower_bound"] <= way["moves"] for way in ways)
    assert all(way["schedule"]["share"] == "1" and not way["lost_links"] for way in ways)
    assert "plan" not in answer.json()
    host = client.post(place, json={"hosts": ["3"]}).json()["repairs"]
    assert [way["repair"] for way in host] == ["spare-host"]


def test_the_plan_of_a_way_leads_from_todays_wiring_around_what_is_dead(client):
    from topoloom.synth.wiring.plant import Pair, read_plant

    plan = carried_out(client)
    place = f"/v1/patch-plans/{plan['id']}/repairs"
    dead = {"pairs": ["panel-0/1A-2B"], "repair": "re-patch"}
    answer = client.post(place, json=dead).json()
    plant = read_plant(answer["plant"])
    today = read_present(plan, uniform(**plan["panels"]))
    after = apply(answer["plan"], today, plant)
    assert Pair(0, 1, 2) in today.pairs and Pair(0, 1, 2) not in after.pairs
    assert sorted(map(plant.hosts_of, after.pairs)) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert answer["plan"]["summary"]["moves"] == 2


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"hosts": ["9"]}, "/hosts/0"),
        ({"pairs": ["panel-0/1A-1B"]}, "/pairs/0"),
        ({"ports": ["panel-0/0A", "panel-9/0A"]}, "/ports/1"),
        ({"host_ports": ["0/7"]}, "/host_ports/0"),
        ({"hosts": ["3"], "repair": "re-patch"}, "/repair"),
        ({"hosts": ["3"], "repair": "prayer"}, "/repair"),
        ({"hosts": 3}, "/hosts"),
    ],
)
@pytest.mark.one_in(3)
def test_faults_that_cannot_be_are_refused_by_their_place(client, body, pointer):
    plan = carried_out(client)
    answer = client.post(f"/v1/patch-plans/{plan['id']}/repairs", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_the_command_line_shows_a_plan_and_writes_its_repair(topoloom, tmp_path):
    plan, repaired, plant = (str(tmp_path / name) for name in ("p.json", "r.json", "plant.json"))
    assert topoloom("patch", "UniRing(4)", "--ports-per-host", "2", "--out", plan).code == 0
    shown = topoloom("patch", "show", plan)
    assert shown.code == 0 and "4 moves: 0 removed, 4 added" in shown.out
    identity = json.loads(Path(plan).read_text())["id"]
    assert topoloom("patch", "show", identity[:12]).out == shown.out
    assert json.loads(topoloom("patch", "show", plan, "--json").out)["id"] == identity
    dead = ("--dead-pair", "panel-0/0A-1B")
    told = ("--repair", "re-patch", "--out", repaired, "--plant-out", plant)
    for named in (plan, identity):
        found = topoloom("patch", "repair", named, *dead, *told)
        assert found.code == 0 and "re-patch" in found.out, found.err
    assert (
        "2 moves: 1 removed, 1 added" in topoloom("patch", "show", repaired, "--plant", plant).out
    )
    dead = [word for host in range(4) for word in ("--dead-host", str(host))]
    none = topoloom("patch", "repair", plan, *dead)
    assert none.code == 1
    nothing = topoloom("patch", "repair", plan)
    flags = "--dead-host, --dead-host-port, --dead-port, --dead-pair"
    rule = f"topoloom: must name what is dead: one or more of {flags}\n"
    assert (nothing.code, nothing.err) == (2, rule)
    halfway = topoloom("patch", "repair", plan, "--dead-host", "0", "--repair", "left-out")
    assert halfway.code == 2 and "must be given together" in halfway.err


@pytest.mark.slow
def test_the_command_line_surveys_the_worst_failures(topoloom, tmp_path):
    plan = str(tmp_path / "ring.json")
    assert topoloom("patch", "BiRing(4)", "--out", plan).code == 0
    found = topoloom("patch", "survey", plan, "--worst", "3")
    assert found.code == 0, found.err
    assert "14 failures of 1; 2 of them cut hosts off" in found.out
    assert "1/2 = 0.5000" in found.out
    rows = list(csv.DictReader(io.StringIO(
        topoloom("patch", "survey", plan, "--at-once", "2", "--csv", "--worst", "100").out
    )))  # fmt: skip
    assert len(rows) == 67
    shares = [Fraction(row["share"]) for row in rows]
    assert shares == sorted(shares)
