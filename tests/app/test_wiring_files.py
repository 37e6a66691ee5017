"""`--current-wiring` and `--observed` take the files of devices and tools."""

import json

import pytest

from topoloom.synth.wiring import uniform
from topoloom.synth.wiring.plant import plant_document

TABLE = """id     a_side    b_side    a_side_status    b_side_status
-----  --------  --------  ---------------  ---------------
1A-2B  1A        2B        tuned            tuned
2A-3B  2A        3B        tuned            tuned
3A-1B  3A        1B        tuned            tuned
"""


@pytest.fixture
def ring(topoloom, tmp_path):
    """Write the plan of a ring of three hosts on one panel; return its path."""
    plan = tmp_path / "plan.json"
    assert topoloom("patch", "UniRing(3)", "--panels", "single", "--out", str(plan)).code == 0
    return plan


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "(@1,2,3),(@5,6,4)\n",
        json.dumps({"OCS_CROSS_CONNECT": {"1A-2B": {}, "2A-3B": {}, "3A-1B": {}}}),
        "panel,a,b\npanel-0,0A,1B\n0,1,2\n0,2A,0\n",
        '\r\n   lab 26-11-26 10:15:00\r\nM  1 COMPLD\r\n   "1,5"\r\n   "2,6"\r\n   "3,4"\r\n;\r\n',
    ],
    ids=["SONiC", "SCPI", "CONFIG_DB", "CSV", "TL1"],
)
def test_a_plan_begins_and_ends_with_what_a_device_says(topoloom, ring, tmp_path, text):
    today = tmp_path / "today.txt"
    today.write_bytes(text.encode())
    again = topoloom("patch", "UniRing(3)", "--panels", "single", "--current-wiring", str(today),
                     "--json")  # fmt: skip
    assert again.code == 0, again.err
    assert json.loads(again.out)["summary"]["moves"] == 0
    seen = topoloom("patch", "verify", str(ring), "--observed", str(today))
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == "0 missing, 0 unexpected; the wiring matches stage 1 of 1\n"


def test_a_request_takes_the_text_or_the_values_of_a_device(client):
    body = {"topology": {"recipe": "UniRing(3)"}, "panels": "single"}
    table = {"OCS_CROSS_CONNECT": {"1A-2B": {}, "2A-3B": {}, "3A-1B": {}}}
    wirings = ({"text": TABLE}, table, {"text": json.dumps(table)})
    first, *others = (
        client.post(
            "/v1/patch-plans",
            json=body | {"current_wiring": wiring},
            headers={"Prefer": "wait=60"},
        ).json()
        for wiring in wirings
    )
    assert first["summary"]["moves"] == 0
    assert all(other == first for other in others)
    refused = client.post("/v1/patch-plans", json=body | {"current_wiring": {"text": "\n\nhello"}})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/current_wiring/text/line/3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLE.replace("2A-3B  ", "2A-9B  "), "today.txt: line 4: panel-0 has no pair 2A-9B"),
        (TABLE + "oops\n", "today.txt: line 6: is no line of the table of 'show ocs"),
        ("\n%PDF-1.4\n", "today.txt: line 2: is a PDF document, not the wiring of panels"),
        ('{"schema": "topology/1"}', "today.txt: line 1: is a topology (json), not the wiring"),
        ('[{"panel": 0, "a": 9, "b": 0}]', "today.txt: /0/a: panel-0 has no port 9"),
        ('{\n"OCS_CROSS_CONNECT"', "today.txt: line 2: must be JSON"),
        ("", "today.txt: is empty"),
    ],
)
@pytest.mark.one_in(3)
def test_a_mistake_is_named_with_file_and_line(topoloom, ring, tmp_path, text, said):
    today = tmp_path / "today.txt"
    today.write_text(text)
    asked = ["UniRing(3)", "--panels", "single", "--current-wiring"]
    for command in (asked, ["verify", str(ring), "--observed"]):
        answer = topoloom("patch", *command, str(today))
        assert answer.code == 2 and answer.err.count("\n") == 1
        assert said in answer.err, answer.err


def test_panels_that_a_file_does_not_describe_keep_their_pairs_and_are_not_verified(
    topoloom, tmp_path
):
    plan, today = tmp_path / "plan.json", tmp_path / "today.txt"
    assert topoloom("patch", "BiRing(3)", "--out", str(plan)).code == 0
    final = json.loads(plan.read_text())["final"]
    lists = {
        panel: [
            ",".join(str(int(pair[side][:-1]) + first) for pair in state["pairs"])
            for side, first in (("a", 1), ("b", 4))
        ]
        for panel, state in final.items()
    }
    parts = [f"# panel {panel}\n(@{a}),(@{b})\n" for panel, (a, b) in lists.items()]
    today.write_text(parts[1])
    seen = topoloom("patch", "verify", str(plan), "--observed", str(today))
    assert seen.code == 1
    assert seen.out.splitlines() == [
        "unseen     panel-0",
        "0 missing, 0 unexpected; the wiring of the observed panels matches stage 1 of 1",
    ]
    assert "note: The text does not describe panel-0: their 0 known pairs are kept." in seen.err
    more = topoloom("patch", "BiRing(3)", "--current-wiring", str(today), "--json")
    assert json.loads(more.out)["summary"]["moves"] == 3 and "note: The text" in more.err
    today.write_text("".join(parts))
    seen = topoloom("patch", "verify", str(plan), "--observed", str(today))
    assert (seen.code, seen.err) == (0, "")


@pytest.mark.slow
def test_a_dark_pair_is_listed_and_the_plan_is_not_done(topoloom, ring, tmp_path):
    today = tmp_path / "today.txt"
    today.write_text(TABLE.replace("tuned", "tuning", 1))
    seen = topoloom("patch", "verify", str(ring), "--observed", str(today))
    assert seen.code == 1
    assert seen.out.splitlines() == [
        "dark       panel-0  0A-1B  0:0--1:0",
        "0 missing, 0 unexpected, 1 dark; the wiring matches stage 1 of 1",
    ]


@pytest.mark.slow
def test_verify_counts_links_and_states_the_stage_at_every_prefix(topoloom, tmp_path):
    plant, first, plan, today = (tmp_path / f"{name}.json" for name in "pqrs")
    made = plant_document(uniform("per-port", 5, 3))
    for host in made["hosts"]:
        for port in host["ports"]:
            port["duplex"] = True
    plant.write_text(json.dumps(made | {"name": "lab"}))
    on = ["--plant", str(plant)]
    assert topoloom("patch", "BiRing(5)", *on, "--out", str(first)).code == 0
    limits = ["--max-links-down", "1", "--current-wiring", str(first), "--out", str(plan)]
    assert topoloom("patch", "Circulant(5, 2)", *on, *limits).code == 0
    document, before = json.loads(plan.read_text()), json.loads(first.read_text())
    plugged = [
        {"panel": panel, "a": pair["a"], "b": pair["b"]}
        for panel, state in before["final"].items()
        for pair in state["pairs"]
    ]
    stages = [[op for op in stage["ops"] if op["op"] != "verify"] for stage in document["stages"]]
    total = sum(map(len, stages))
    assert len(stages) > 1
    for number, stage in enumerate(stages):
        for made_moves, op in enumerate(stage):
            left = total - sum(map(len, stages[:number])) - made_moves
            today.write_text(json.dumps(plugged))
            seen = topoloom("patch", "verify", str(plan), *on, "--observed", str(today))
            assert seen.code == 1
            last = seen.out.splitlines()[-1]
            assert last.endswith(f"moves left: {left}")
            done = (
                f"{number} of {len(stages)} stages are complete, and {made_moves} of {len(stage)}"
            )
            assert (f"matches stage {number} of" in last) if not made_moves else (done in last)
            if (number, made_moves) == (0, 0):
                adds = sum(op["op"] == "add" for stage in stages for op in stage)
                assert f"{adds} missing ({adds // 2} links)" in last
            row = {"panel": op["device"], "a": op["a"], "b": op["b"]}
            plugged = [*plugged, row] if op["op"] == "add" else [p for p in plugged if p != row]
    today.write_text(json.dumps(plugged))
    assert topoloom("patch", "verify", str(plan), *on, "--observed", str(today)).code == 0


def test_a_plan_without_a_repair_says_why(topoloom, tmp_path):
    plan = tmp_path / "plan.json"
    assert topoloom("patch", "UniRing(3)", "--out", str(plan)).code == 0
    dead = topoloom("patch", "repair", str(plan), "--dead-pair", "panel-0/0A-1B")
    assert (dead.code, dead.out) == (1, "")
    assert dead.err.startswith("no repair exists: ")
