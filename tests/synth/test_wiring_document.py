import csv
import hashlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    Layout,
    Pair,
    Present,
    apply,
    plan_moves,
    read_present,
    revert,
    smallest_plant,
    to_document,
    uniform,
    work_order,
)
from topoloom.synth.wiring.plans.work_order import COLUMNS

RING = Topology(["h0", "h1", "h2"], [("h0", "h1"), ("h1", "h2"), ("h2", "h0")])
BACK = RING.transpose()


def plan_from_ring_to_back(layout=Layout.PER_PORT):
    panels = uniform(layout, hosts=4, lanes=2)
    return plan_moves(BACK, panels, plan_moves(RING, panels).final)


@st.composite
def plans(draw):
    nodes = draw(st.integers(2, 6))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(1, nodes - 1))
    links = [(i, (i + k) % nodes) for i, k in draw(st.lists(ends, max_size=15))]
    topology = Topology(range(nodes), links)
    panels = uniform(
        draw(st.sampled_from(Layout)), nodes + draw(st.integers(0, 2)), topology.degree + 1
    )
    pairs = []
    for panel in range(len(panels.panels)):
        a = draw(st.permutations(range(len(panels.panels[0].a))))
        b = draw(st.permutations(range(len(panels.panels[0].a))))
        pairs += list(zip([panel] * draw(st.integers(0, len(a))), a, b, strict=False))
    return plan_moves(topology, panels, Present.of(pairs))


@given(plans())
def test_carrying_out_the_document_gives_final_and_undo_gives_back_the_present(plan):
    document = json.loads(json.dumps(to_document(plan)))
    after = apply(document, plan.present, plan.plant)
    assert after == plan.final
    assert read_present(document, plan.plant) == plan.final
    assert revert(document, after, plan.plant) == plan.present


@given(plans())
def test_undo_is_the_exact_inverse_in_inverse_order(plan):
    for stage in to_document(plan)["stages"]:
        inverse = {"add": "remove", "remove": "add"}
        done = [op for op in stage["ops"] if op["op"] != "verify"]
        assert [(op["op"], op["device"], op["a"], op["b"]) for op in stage["undo"]] == [
            (inverse[op["op"]], op["device"], op["a"], op["b"]) for op in reversed(done)
        ]


@given(plans())
def test_ops_are_removes_then_adds_then_a_verify_of_every_add(plan):
    document = to_document(plan)
    ops = [op for stage in document["stages"] for op in stage["ops"]]
    counts = (len(plan.removes), len(plan.adds), len(plan.adds))
    expected = [
        name for name, count in zip(("remove", "add", "verify"), counts, strict=True)
        for _ in range(count)
    ]  # fmt: skip
    assert [op["op"] for op in ops] == expected
    assert [op["n"] for op in ops] == list(range(1, len(ops) + 1))
    summary = document["summary"]
    assert summary["moves"] == summary["removes"] + summary["adds"] == sum(counts[:2])
    assert summary["stages"] == len(document["stages"]) == (1 if plan.moves else 0)


@given(plans())
def test_every_link_of_the_topology_is_in_final_once(plan):
    document = to_document(plan)
    named = [
        pair["link"] for state in document["final"].values() for pair in state["pairs"]
        if "link" in pair
    ]  # fmt: skip
    assert sorted(named) == sorted(f"l{index}" for index in range(plan.topology.link_count))
    peers = {(row["device"], row["port"]): row["endpoint"]["node"] for row in document["ports"]}
    for device, state in document["final"].items():
        for pair in state["pairs"]:
            if "link" in pair:
                link = plan.topology.links[int(pair["link"][1:])]
                ends = (peers[device, pair["a"]], peers[device, pair["b"]])
                assert ends == (link.source, link.target)


def test_the_digest_of_final_is_the_digest_of_the_next_base():
    plan = plan_from_ring_to_back()
    following = to_document(plan_moves(RING, plan.plant, plan.final))
    for device, state in to_document(plan)["final"].items():
        assert following["base"][device] == {
            "digest": state["digest"],
            "pairs": len(state["pairs"]),
        }


def test_equal_requests_give_equal_documents_and_other_requests_other_ids():
    first, second = to_document(plan_from_ring_to_back()), to_document(plan_from_ring_to_back())
    assert json.dumps(first) == json.dumps(second)
    other = to_document(plan_from_ring_to_back(Layout.SINGLE))
    assert first["plan_id"] != other["plan_id"]
    assert first["plan_id"].startswith("sha256:")


def sha256_of(content):
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@given(plans())
def test_digests_can_be_recomputed_from_what_the_document_says(plan):
    document = to_document(plan)
    for state in document["final"].values():
        assert state["digest"] == sha256_of([f"{p['a']}-{p['b']}" for p in state["pairs"]])
    assert document.pop("plan_id") == sha256_of(document)


def test_the_effect_says_what_works_while_the_stage_runs():
    panels = smallest_plant(RING)
    ring = plan_moves(RING, panels).final
    chord = Topology(RING.nodes, [*RING.links, ("h0", "h2")])
    added = to_document(plan_moves(chord, uniform(Layout.PER_PORT, 3, 2), ring))
    assert added["stages"][0]["effect"] == {
        "links_down": 0,
        "capacity_left": "3/4",
        "connected": True,
    }
    turned = to_document(plan_moves(BACK, panels, ring))
    assert turned["stages"][0]["effect"] == {
        "links_down": 3,
        "capacity_left": "0",
        "connected": False,
    }


def test_a_plan_carried_out_on_another_wiring_is_refused():
    plan = plan_from_ring_to_back()
    document = to_document(plan)
    with pytest.raises(InvalidWiring, match=r"/stages/0/ops/0: 0A-1B must be plugged"):
        apply(document, Present(), plan.plant)
    busy = Present.of([*plan.present.pairs, (0, 3, 3)])
    first_add = next(
        index
        for index, op in enumerate(document["stages"][0]["ops"])
        if op["op"] == "add" and op["device"] == "panel-0"
    )
    occupied = json.loads(json.dumps(document))
    occupied["stages"][0]["ops"][first_add]["b"] = "3B"
    with pytest.raises(InvalidWiring, match=rf"/stages/0/ops/{first_add}: both ports must be free"):
        apply(occupied, busy, plan.plant)


def test_the_work_order_lists_every_move_in_the_order_of_the_ops():
    plan = plan_from_ring_to_back(Layout.SINGLE)
    rows = list(csv.DictReader(io.StringIO(work_order(plan), newline="")))
    assert tuple(rows[0]) == COLUMNS
    ops = [op for op in to_document(plan)["stages"][0]["ops"] if op["op"] != "verify"]
    assert [(row["action"], row["panel"], row["from_port"], row["to_port"]) for row in rows] == [
        (op["op"], op["device"], op["a"], op["b"]) for op in ops
    ]
    assert [row["step"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    # Host h0 sends to h1 before and to h2 after.
    first = rows[0]
    assert (first["old_peer"], first["new_peer"]) == ("h1:0", "")
    assert [row["new_peer"] for row in rows if row["label_to_print"][:3] == "h0:"] == ["h2:1"]
    assert (first["from_port"], first["link"], first["label_to_print"]) == ("0A", "", "")
    added = rows[3]
    assert (added["link"], added["label_to_print"]) == ("l0", "h0:1--h2:1")
    assert added["check"] == "5B receives light from h0:1"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_of_the_work_order_starts_a_formula(start):
    nasty = f'{start}HYPERLINK("x","y")'
    topology = Topology([nasty, "b"], [(nasty, "b"), ("b", nasty)])
    text = work_order(plan_moves(topology, smallest_plant(topology)))
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert f"'{nasty}:0" in cells
    assert not any(cell.startswith(start) for cell in cells)


def test_peers_without_a_node_are_named_by_their_host():
    panels = uniform(Layout.PER_PORT, hosts=3, lanes=1)
    topology = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    text = work_order(plan_moves(topology, panels, Present.of([(0, 0, 2)])))
    (row,) = [row for row in csv.DictReader(io.StringIO(text)) if row["action"] == "remove"]
    assert (row["old_peer"], row["new_peer"]) == ("host 2:0", "b:0")


@pytest.mark.parametrize(
    "row",
    [
        {"panel": 1, "a": 3, "b": 5},
        {"panel": "panel-1", "a": "3A", "b": "5B"},
        {"panel": "1", "a": "3", "b": 5, "link": "l7"},
    ],
)
def test_a_present_pair_is_read_in_all_its_spellings(row):
    panels = uniform(Layout.PER_PORT, hosts=6, lanes=2)
    assert read_present([row], panels).pairs == (Pair(1, 3, 5),)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (None, ""),
        ([3], "/0"),
        ([{"a": 0, "b": 0}], "/0/panel"),
        ([{"panel": "panel-x", "a": 0, "b": 0}], "/0/panel"),
        ([{"panel": 2, "a": 0, "b": 0}], "/0/panel"),
        ([{"panel": 0, "a": "0B", "b": 0}], "/0/a"),
        ([{"panel": 0, "a": True, "b": 0}], "/0/a"),
        ([{"panel": 0, "a": 0, "b": 1.0}], "/0/b"),
        ([{"panel": 0, "a": 0, "b": -1}], "/0/b"),
        ([{"panel": 0, "a": 0, "b": 10**30}], "/0/b"),
        ([{"panel": 0, "a": 0, "b": 1}, {"panel": 0, "a": 2, "b": 1}], "/1/b"),
        ({"schema": "topology/1"}, "/schema"),
        ({"schema": "patch-plan/1"}, "/final"),
        ({"schema": "patch-plan/1", "final": {"panel-0": []}}, "/final/panel-0"),
        (
            {"schema": "patch-plan/1", "final": {"panel-0": {"pairs": [{"a": "9A", "b": "0B"}]}}},
            "/final/panel-0/pairs/0/a",
        ),
        ({"schema": "patch-plan/1", "final": {"a/b": {"pairs": [7]}}}, "/final/a~1b/pairs/0"),
    ],
)
def test_a_bad_present_document_is_refused_at_the_right_place(document, field):
    with pytest.raises(InvalidWiring) as caught:
        read_present(document, uniform(Layout.PER_PORT, hosts=3, lanes=2))
    assert caught.value.field == field
