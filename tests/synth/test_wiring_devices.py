import json
import re
from ipaddress import ip_interface
from itertools import pairwise

import jsonpatch
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.synth.device_readers import COMMANDS
from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    cross_wired,
    duplex,
    plan_moves,
    smallest_plant,
    to_document,
    uniform,
)
from topoloom.synth.wiring.devices import FORMATS, ip_addressing, read_script, sonic
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plans.stages import Limits
from topoloom.synth.wiring.plant import Pair, Present


@st.composite
def scripts(draw, flavours=("one-way", "duplex on directed", "one-sided", "two-sided")):
    plant = draw(plants(most_hosts=4, most_panels=2, flavours=flavours))
    try:
        plan = plan_moves(draw(topologies(plant)), plant)
    except DoesNotFit:
        assume(False)
    limits = Limits(draw(st.none() | st.integers(1, 2)), False, draw(st.booleans()))
    return read_script(json.loads(json.dumps(to_document(plan, limits))), plant)


SIDED = scripts(("one-way", "duplex on directed", "two-sided"))


def carried_out(script, moves):
    """What is plugged after moves, each of which must find its ports free, or its pair there."""
    plugged = set(script.base.pairs)
    for move in sorted(moves, key=lambda move: (move.stage, move.adds)):
        if move.adds:
            used = {port for pair in plugged for port in script.plant.ends(pair)}
            assert used.isdisjoint(script.plant.ends(move.pair))
            plugged.add(move.pair)
        else:
            plugged.remove(move.pair)
    return plugged


@settings(deadline=None, max_examples=30)
@given(scripts())
def test_a_script_is_what_the_document_says(script):
    assert carried_out(script, script.moves) == set(script.final.pairs)


BEYOND = ("polatis-netconf", "polatis-scpi")
"""Formats that count egress ports on after the ingress ports."""


def numbers(form, script, move):
    """Return a move as a device numbers its ports."""
    panel = script.plant.panels[move.pair.panel]
    first = len(panel.a) if form in BEYOND and not panel.one_sided else 0
    return panel.id, move.stage, move.adds, move.pair.a + 1, move.pair.b + 1 + first


@pytest.mark.parametrize("form", COMMANDS)
@settings(deadline=None, max_examples=15)
@given(script=SIDED)
def test_a_device_is_told_the_moves_of_the_plan(form, script):
    found = COMMANDS[form](FORMATS[form].write(script))
    wanted = [numbers(form, script, move) for move in script.moves]
    if form == "dicon":
        wanted = [move if move[2] else (*move[:4], 0) for move in wanted]
    if form == "polatis-netconf":  # a replacement has no removal of its own
        adds = {move[:2] + move[3:4] for move in wanted if move[2]}
        wanted = [
            move if move[2] else (*move[:4], 0)
            for move in wanted
            if move[2] or move[:2] + move[3:4] not in adds
        ]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("form", BEYOND)
@settings(deadline=None, max_examples=12)
@given(script=scripts(("one-sided",)))
def test_panels_without_sides_are_told_too(form, script):
    found = COMMANDS[form](FORMATS[form].write(script))
    adds = [numbers(form, script, move) for move in script.moves if move.adds]
    assert sorted(move for move in found if move[2]) == sorted(adds)


@pytest.mark.parametrize("form", ["sonic-cli", "sonic-patch", "calient-tl1", "dicon"])
def test_devices_with_sides_refuse_panels_without(form):
    pair = Topology(range(2), [(0, 1), (1, 0)])
    plant = duplex(2, 1)
    script = read_script(to_document(plan_moves(pair, plant)), plant)
    with pytest.raises(DoesNotFit, match="panel-0 has one"):
        FORMATS[form].write(script)


TABLE = "OCS_CROSS_CONNECT"


class EmptyTable(Exception):
    """SONiC has no empty tables."""


def on_sonic(config, patch):
    """Apply a patch as `config apply-patch` does.

    An empty table stands in for one that is missing; a patch that leaves one empty is refused.
    """
    after = jsonpatch.apply_patch({TABLE: {}} | config, patch)
    if after.get(TABLE) == {}:
        raise EmptyTable
    return after


def by_the_standard(config, patch):
    return jsonpatch.apply_patch(config, patch)


def table_of(pairs):
    return {
        f"{pair.a + 1}A-{pair.b + 1}B": {"a_side": f"{pair.a + 1}A", "b_side": f"{pair.b + 1}B"}
        for pair in pairs
    }


def config_of(table):
    return {"DEVICE_METADATA": {"localhost": {"type": "SonicOCS"}}} | (
        {TABLE: table} if table else {}
    )


@settings(deadline=None, max_examples=15)
@given(SIDED)
def test_the_patches_lead_a_config_db_from_the_base_to_the_end(script):
    states = {
        panel.id: config_of(table_of(p for p in script.base.pairs if p.panel == number))
        for number, panel in enumerate(script.plant.panels)
    }
    rows = json.loads(FORMATS["sonic-patch"].write(script))
    assert [row["stage"] for row in rows] == sorted(row["stage"] for row in rows)
    for row in rows:
        states[row["device"]] = on_sonic(states[row["device"]], row["patch"])
    final = json.loads(FORMATS["sonic-config"].write(script))
    for panel in script.plant.panels:
        assert states[panel.id].get(TABLE, {}) == final[panel.id][TABLE]


ENTRIES = st.dictionaries(
    st.sampled_from([f"{a}A-{b}B" for a in range(1, 7) for b in range(1, 7)]),
    st.fixed_dictionaries({"a_side": st.sampled_from(["1A", "9A"]), "b_side": st.just("2B")}),
    max_size=4,
)


@pytest.mark.slow
@pytest.mark.parametrize("applied", [on_sonic, by_the_standard])
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much]
)  # many plans change nothing
@given(script=SIDED, data=st.data())
def test_a_patch_keeps_what_others_did_meanwhile_and_is_refused_when_it_is_made(
    applied, script, data
):
    rows = json.loads(FORMATS["sonic-patch"].write(script))
    assume(rows)
    row = data.draw(st.sampled_from(rows))
    made_for = row["patch"][0]["value"]
    removed = {op["path"].rpartition("/")[2] for op in row["patch"] if op["op"] == "remove"}
    gone = data.draw(st.sets(st.sampled_from(sorted(made_for)))) if made_for else set()
    there = {key: made_for[key] for key in made_for if key not in gone}
    there |= data.draw(st.just({}) | ENTRIES)
    before = config_of(there)
    kept = json.loads(json.dumps(before))
    try:
        after = applied(before, row["patch"])
    except (jsonpatch.JsonPatchException, EmptyTable):
        assert before == kept
        assert there != made_for or (applied is by_the_standard and not made_for)
        return
    assert there == made_for
    others = {key: there[key] for key in there if key not in removed}
    assert others.items() <= after.get(TABLE, {}).items()
    assert {name: after[name] for name in after if name != TABLE} == config_of({})
    with pytest.raises((jsonpatch.JsonPatchException, EmptyTable)):
        applied(after, row["patch"])


@settings(deadline=None, max_examples=15)
@given(SIDED)
def test_a_patch_writes_no_table_and_removes_only_one_that_it_found_empty(script):
    for row in json.loads(FORMATS["sonic-patch"].write(script)):
        for before, op in pairwise([None, *row["patch"]]):
            if op["path"] == f"/{TABLE}" and op["op"] != "test":
                assert op["op"] == "remove"
                assert before == {"op": "test", "path": f"/{TABLE}", "value": {}}


def test_patches_of_more_entries_than_a_device_has_are_refused(monkeypatch):
    ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    plant = smallest_plant(ring)
    plan = plan_moves(ring.transpose(), plant, plan_moves(ring, plant).final)
    script = read_script(to_document(plan, Limits(max_links_down=1)))
    patches = json.loads(FORMATS["sonic-patch"].write(script))
    monkeypatch.setattr(sonic, "MOST_TESTED", sum(len(row["patch"][0]["value"]) for row in patches))
    FORMATS["sonic-patch"].write(script)
    monkeypatch.setattr(sonic, "MOST_TESTED", sonic.MOST_TESTED - 1)
    with pytest.raises(DoesNotFit, match="plan fewer stages"):
        FORMATS["sonic-patch"].write(script)


@pytest.mark.slow
@pytest.mark.parametrize("form", COMMANDS)
@settings(deadline=None, max_examples=20)
@given(script=SIDED)
def test_a_text_has_all_panels_of_a_stage_before_the_next_stage(form, script):
    moves = COMMANDS[form](FORMATS[form].write(script))
    stages = [move[1] for move in moves]
    assert stages == sorted(stages)
    places = {panel.id: number for number, panel in enumerate(script.plant.panels)}
    adds = sorted((stage, places[panel], a) for panel, stage, add, a, _ in moves if add)
    assert adds == sorted(
        (move.stage, move.pair.panel, move.pair.a + 1) for move in script.moves if move.adds
    )


@pytest.mark.parametrize("form", COMMANDS)
def test_a_text_of_panels_whose_stages_interleave_has_one_stage_after_the_other(form):
    plant = uniform("per-port", 4, 2)
    steps = tuple(
        Step(*(tuple(Pair(panel, a, b) for panel in (0, 1)) for b in ends))
        for a, ends in enumerate([(1, 2), (0, 3)])
    )
    base, final = (
        Present.of(pair for step in steps for pair in pairs(step))
        for pairs in (lambda step: step.removes, lambda step: step.adds)
    )
    script = Script("plan", plant, steps, base, final, {}, {})
    blocks = [(stage, script.plant.panels[panel].id) for stage, panel, _ in script.blocks]
    assert blocks != sorted(blocks, key=lambda block: block[::-1])
    assert list(dict.fromkeys(
        (stage, panel) for panel, stage, *_ in COMMANDS[form](FORMATS[form].write(script))
    )) == blocks == sorted(blocks)  # fmt: skip


def test_commands_remove_from_calient_by_group_and_name_and_add_to_sonic_with_care():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    plant = smallest_plant(ring)
    plan = plan_moves(ring.transpose(), plant, plan_moves(ring, plant).final)
    script = read_script(to_document(plan))
    assert FORMATS["calient-tl1"].write(script).splitlines()[:3] == [
        "# panel panel-0, stage 1;",
        "CANC-CRS::1,2:1::,topoloom,1>2;",
        "DLT-CRS::1,2:2::,topoloom,1>2;",
    ]
    assert " update" not in FORMATS["sonic-cli"].write(script)


def test_no_text_deletes_everything():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    plant = smallest_plant(ring)
    plan = plan_moves(Topology(range(3), []), plant, plan_moves(ring, plant).final)
    script = read_script(to_document(plan))
    for form in COMMANDS:
        text = FORMATS[form].write(script)
        assert not re.search(r"ALL|:only|disc", text), form


def test_names_cannot_break_the_sheet():
    nasty = '<script>alert("x")</script>'
    pair = Topology([nasty, "b"], [(nasty, "b"), ("b", nasty)])
    assert nasty not in FORMATS["html"].write(
        read_script(to_document(plan_moves(pair, smallest_plant(pair))))
    )


def torus():
    links = [(4 * i + j, e) for i in range(4) for j in range(4)
             for e in (4 * i + (j + 1) % 4, 4 * ((i + 1) % 4) + j)]  # fmt: skip
    return Topology(range(16), [*links, *(link[::-1] for link in links)])


@pytest.mark.parametrize("plant", [cross_wired(16, 4), duplex(16, 4)], ids=lambda plant: plant.name)
def test_a_deployment_gives_every_cable_a_subnet_and_every_host_a_route_to_every_other(plant):
    script = read_script(to_document(plan_moves(torus(), plant)), plant)
    text = FORMATS["deployment"].write(script)
    hosts = json.loads(text)["hosts"]
    ends = {}
    for name, row in hosts.items():
        for nic in row["nics"]:
            key = frozenset((nic["address"].removesuffix("/31"), nic["peer_address"]))
            ends.setdefault(key, set()).add((name, nic["port"]))
    assert {frozenset(one) for one in ends.values()} == {
        frozenset((plant.hosts[h].id, plant.hosts[h].ports[p].id) for h, p in (one.one, one.other))
        for one in ip_addressing.cables(script)
    }
    nets = [ip_interface(nic["address"]).network for row in hosts.values() for nic in row["nics"]]
    assert len(set(nets)) == 32 and all(nets.count(net) == 2 for net in nets)
    owner = {
        nic["address"].split("/")[0]: name for name, row in hosts.items() for nic in row["nics"]
    }
    home = {row["loopback"]: name for name, row in hosts.items()}
    for start, row in hosts.items():
        assert {route["to"] for route in row["routes"]} == set(home) - {row["loopback"]}
        for target in home:
            at, hops = start, 0
            while home[target] != at:
                via = next(r["via"] for r in hosts[at]["routes"] if r["to"] == target)
                at, hops = owner[via], hops + 1
                assert hops <= 4  # the diameter of the torus


def test_one_way_fibres_have_no_deployment():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(DoesNotFit, match="face each other"):
        FORMATS["deployment"].write(
            read_script(to_document(plan_moves(ring, smallest_plant(ring))))
        )


def test_a_plan_of_another_plant_is_no_script():
    pair = Topology(range(2), [(0, 1), (1, 0)])
    document = to_document(plan_moves(pair, duplex(2, 1)))
    with pytest.raises(InvalidWiring, match="must be given too"):
        read_script(document)
    with pytest.raises(InvalidWiring, match="another plant"):
        read_script(document, duplex(3, 1))
    document["final"]["panel-0"]["pairs"] = []
    with pytest.raises(InvalidWiring):
        read_script(document, duplex(2, 1).with_present(Present()))
