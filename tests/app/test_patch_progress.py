"""How far a plan is: observations, who holds a plant, and who was first."""

from dataclasses import replace
from itertools import combinations

import pytest

from topoloom.synth.wiring import uniform
from topoloom.synth.wiring.plant import plant_document


def plant_of(hosts, lanes, name="lab"):
    return plant_document(replace(uniform("per-port", hosts, lanes), uniform=None, name=name))


def planned(client, recipe="BiRing(5)", **more):
    body = {"topology": {"recipe": recipe}, "plant": plant_of(5, 2)} | more
    made = client.post("/v1/patch-plans", json=body)
    assert made.status_code in (200, 201), made.text
    return made.json()


def final(plan):
    """Return all panels of a plan as an observation has them."""
    return {
        panel: [{"a": pair["a"], "b": pair["b"]} for pair in state["pairs"]]
        for panel, state in plan["final"].items()
    }


def observe(client, plan, version, **seen):
    place = f"/v1/patch-plans/{plan['id']}/observations"
    return client.post(place, json=seen, headers={"If-Match": f'"{version}"'})


def test_a_plan_goes_from_planned_over_under_way_to_done(client):
    plan = planned(client)
    place = f"/v1/patch-plans/{plan['id']}/progress"
    first = client.get(place)
    assert first.headers["ETag"] == '"0"'
    assert (first.json()["state"], first.json()["moves_left"]) == ("planned", 10)
    assert first.json()["unseen"] == ["panel-0", "panel-1"]
    seen = final(plan)
    half = observe(client, plan, 0, panels={"panel-0": seen["panel-0"]})
    assert half.status_code == 200, half.text
    assert half.headers["ETag"] == '"1"' and half.json()["state"] == "under-way"
    assert half.json()["moves_left"] == 5 and half.json()["unseen"] == ["panel-1"]
    assert half.json()["stages_done"] == 0
    whole = observe(client, plan, 1, panels={"panel-1": seen["panel-1"]}).json()
    assert (whole["state"], whole["stages_done"], whole["moves_left"]) == ("done", 1, 0)
    assert client.get(place).json() == whole


def test_a_plan_is_not_done_while_a_pair_that_it_keeps_is_dark(client):
    first = planned(client)
    plan = planned(client, "BiRing(5)", current_wiring=first)
    assert plan["summary"]["moves"] == 0
    rows = final(plan)["panel-0"]
    dark = observe(client, plan, 0, panels={"panel-0": [rows[0] | {"light": False}, *rows[1:]]})
    found = dark.json()
    assert (found["state"], found["moves_left"]) == ("under-way", 0)
    assert [row["a"] for row in found["panels"][0]["dark"]] == [rows[0]["a"]]
    assert observe(client, plan, 1, panels={"panel-0": rows}).json()["state"] == "done"


def test_an_observation_takes_the_text_of_devices(client):
    plan = planned(client)
    seen = final(plan)
    tables = [
        [f"{int(pair['a'][:-1]) + 1}A-{int(pair['b'][:-1]) + 1}B" for pair in seen[panel]]
        for panel in ("panel-0", "panel-1")
    ]
    texts = [
        f"# panel panel-{number}\nid a_side b_side\n"
        + "".join(f"{key} {' '.join(key.split('-'))}\n" for key in keys)
        for number, keys in enumerate(tables)
    ]
    half = observe(client, plan, 0, text=texts[0])
    assert half.status_code == 200, half.text
    assert half.json()["unseen"] == ["panel-1"] and half.json()["moves_left"] == 5
    assert observe(client, plan, 1, text=texts[1]).json()["state"] == "done"
    for text, pointer in (
        (texts[0] + "reboot", "/text/line/8"),
        ("# panel panel-0\nROUTE1:SCAN 2\n", "/text"),
        ("hello", "/text/line/1"),
    ):
        refused = observe(client, plan, 2, text=text)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == pointer


def test_what_is_wrong_is_named_with_the_smallest_repair(client):
    plan = planned(client)
    pairs = final(plan)["panel-0"]
    ends = [pairs[0]["b"], pairs[1]["b"]]
    pairs[0], pairs[1] = pairs[0] | {"b": ends[1]}, pairs[1] | {"b": ends[0]}
    pairs[2] |= {"light": False}
    (panel,) = observe(client, plan, 0, panels={"panel-0": pairs}).json()["panels"]
    assert not panel["exact"] and panel["stage"] == 1
    assert {row["a"] for row in panel["missing"]} == {pairs[0]["a"], pairs[1]["a"]}
    assert {row["a"] for row in panel["unexpected"]} == {pairs[0]["a"], pairs[1]["a"]}
    assert [row["a"] for row in panel["dark"]] == [pairs[2]["a"]]
    assert panel["dark"][0]["label"].count(":") == 2
    assert sorted(line.split()[0] for line in panel["repair"]) == ["add", "add", "remove", "remove"]


def test_any_cables_of_a_stage_count_and_none_of_them_is_unexpected(client):
    plan = planned(client, "UniRing(4)", plant=plant_of(4, 1))
    cables = final(plan)["panel-0"]
    version = 0
    for count in range(5):
        for some in combinations(reversed(cables), count):
            found = observe(client, plan, version, panels={"panel-0": list(some)}).json()
            (panel,) = found["panels"]
            version += 1
            rest = [cable for cable in cables if cable not in some] if count else []
            assert [{"a": row["a"], "b": row["b"]} for row in panel["missing"]] == rest
            assert panel["repair"] == [f"add {cable['a']}-{cable['b']}" for cable in rest]
            assert panel["unexpected"] == panel["outdated"] == panel["ahead"] == []
            assert found["moves_left"] == panel["moves_left"] == 4 - count
            assert found["stages_done"] == panel["stages_done"] == (count == 4)
            assert panel["stage"] == (count > 0) and panel["exact"] == (count in (0, 4))
            assert found["state"] == ("done" if count == 4 else "under-way")


def test_moves_left_count_all_stages_of_all_panels_move_by_move(client):
    plugged = final(planned(client))
    plant = plant_of(5, 2) | {
        "cross_connects": [pair | {"panel": name} for name in plugged for pair in plugged[name]]
    }
    plan = planned(client, "Circulant(5, 2)", plant=plant, max_links_down=2)
    moves = [op for stage in plan["stages"] for op in stage["ops"] if op["op"] != "verify"]
    assert len(plan["stages"]) > 2 and len(moves) == plan["summary"]["moves"]
    for version, move in enumerate(moves):
        pairs = plugged[move["device"]]
        (pairs.append if move["op"] == "add" else pairs.remove)({"a": move["a"], "b": move["b"]})
        found = observe(client, plan, version, panels=plugged).json()
        assert found["moves_left"] == len(moves) - version - 1
        assert sum(panel["moves_left"] for panel in found["panels"]) == found["moves_left"]
        left = {
            (row["device"], f"{row['op']} {row['a']}-{row['b']}") for row in moves[version + 1 :]
        }
        for panel in found["panels"]:
            assert panel["unexpected"] == panel["ahead"] == []
            assert {(panel["device"], row) for row in panel["repair"]} <= left
    assert found["state"] == "done"


def test_ports_of_hosts_tell_whom_they_hear(client):
    plan = planned(client)
    plant = uniform("per-port", 5, 2)
    heard = []
    for number, name in enumerate(("panel-0", "panel-1")):
        for pair in final(plan)[name]:
            sender, into = (int(pair[end][:-1]) for end in ("a", "b"))
            row = {"host": str(into), "port": str(number), "peer": str(sender)}
            heard.append(row | {"peer_port": str(number)})
    assert plant.panels[0].a[0] == "0A"
    done = observe(client, plan, 0, neighbours=heard)
    assert done.status_code == 200 and done.json()["state"] == "done", done.text
    deaf = observe(client, plan, 1, neighbours=[{"host": "0", "port": "1"}]).json()
    assert deaf["state"] == "under-way"
    wrong = next(panel for panel in deaf["panels"] if panel["device"] == "panel-1")
    assert len(wrong["missing"]) == 1 and wrong["missing"][0]["b"] == "0B"


def test_of_two_plans_on_one_plant_the_second_is_refused_until_the_first_is_done(client):
    first, second = planned(client), planned(client, "Circulant(5, 2)")
    assert observe(client, first, 0, panels={"panel-0": []}).status_code == 200
    refused = observe(client, second, 0, panels={"panel-0": []})
    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/base-taken" and first["id"] in refused.text
    assert client.get(f"/v1/patch-plans/{second['id']}/progress").json()["version"] == 0
    other = planned(client, "Circulant(5, 2)", plant=plant_of(5, 2, "another"))
    assert observe(client, other, 0, panels={"panel-0": []}).status_code == 200
    assert observe(client, first, 1, panels=final(first)).json()["state"] == "done"
    assert observe(client, second, 0, panels={"panel-0": []}).status_code == 200


def test_a_plan_that_is_given_up_holds_nothing(client):
    first, second = planned(client), planned(client, "Circulant(5, 2)")
    observe(client, first, 0, panels={"panel-0": []})
    place = f"/v1/patch-plans/{first['id']}/progress"
    assert client.delete(place).status_code == 204
    assert client.delete(place).status_code == 204
    assert client.get(place).json()["state"] == "planned"
    assert observe(client, second, 0, panels={"panel-0": []}).status_code == 200


def test_who_knows_an_old_version_changes_nothing(client):
    plan = planned(client)
    assert observe(client, plan, 0, panels={"panel-0": []}).status_code == 200
    late = observe(client, plan, 0, panels=final(plan))
    assert late.status_code == 412 and late.json()["type"] == "/problems/changed-meanwhile"
    place = f"/v1/patch-plans/{plan['id']}/observations"
    bare = client.post(place, json={"panels": {"panel-0": []}})
    assert bare.status_code == 428 and bare.json()["type"] == "/problems/no-version"
    odd = client.post(place, json={"panels": {"panel-0": []}}, headers={"If-Match": "*"})
    assert odd.status_code == 412
    assert client.get(f"/v1/patch-plans/{plan['id']}/progress").json()["version"] == 1


@pytest.mark.parametrize(
    ("seen", "pointer"),
    [
        ({}, ""),
        ({"panels": {"panel-9": []}}, "/panels"),
        ({"panels": {"panel-0": [{"a": "99A", "b": "0B"}]}}, "/panels/panel-0/0/a"),
        ({"panels": {"panel-0": [{"a": "0A", "b": "0B"}] * 2}}, "/panels/panel-0/1/a"),
        ({"panels": {"panel-0": [{"a": "0A"}]}}, "/panels/panel-0/0/b"),
        ({"panels": {"panel-0": []}, "stage": 2}, "/stage"),
        ({"panels": {"panel-0": []}, "stage": -1}, "/stage"),
        ({"neighbours": [{"host": "9", "port": "0"}]}, "/neighbours/0"),
        (
            {"neighbours": [{"host": "0", "port": "0", "peer": "1", "peer_port": "1"}]},
            "/neighbours/0",
        ),
    ],
)
@pytest.mark.one_in(3)
def test_what_cannot_have_been_seen_is_refused_by_its_place(client, seen, pointer):
    plan = planned(client)
    answer = observe(client, plan, 0, **seen)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert client.get(f"/v1/patch-plans/{plan['id']}/progress").json()["version"] == 0
