"""Links led over trunks between panels, and through passive shuffle panels."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import DoesNotFit, InvalidPlant
from synth.topology import Topology
from synth.wiring import Present, apply, plan_moves, revert, to_document, violations
from synth.wiring.light import ways
from synth.wiring.placing import plan_placed
from synth.wiring.plant import plant_csv, plant_document, read_plant, read_plant_text
from synth.wiring.stages import Limits, connected, staged
from synth.wiring.trunked import demanded, reaches_trunk, trunked
from synth.wiring.usable import ours
from tests.synth.plants import meshes, shuffled, topologies


def planned(topology, plant):
    try:
        return plan_moves(topology, plant)
    except DoesNotFit as error:
        return error


def least_moves(topology, plant):
    """Try every kind of way for every link; None if nothing fits."""
    hosts = [plant.host_index[node] for node in topology.nodes]
    ends, today = trunked(plant, hosts)
    _, rows = demanded(topology, ends.duplex)
    there = len(ours(plant, hosts))
    best = None
    for chosen in product(*(ends.kinds(*pair) for pair, _ in rows)):
        used, kept, new = Counter(), Counter(), 0
        for (pair, _), kind in zip(rows, chosen, strict=True):
            used[pair[0], kind.first, False] += 1
            used[pair[1], kind.second, not ends.duplex] += 1
            used[ends.key(kind)] += kind.trunk
            new += kind.pairs
            kept[pair, kind] += 1
        room = {
            key: len(ends.trunks.get(key, ()))
            if len(key) == 2
            else len((ends.receivers if key[2] else ends.senders).get(key[:2], ()))
            for key in used
        }
        if any(count > room[key] for key, count in used.items()):
            continue
        stay = sum(
            min(count, len(today.get(pair, {}).get(kind, ()))) * kind.pairs
            for (pair, kind), count in kept.items()
        )
        moves = there + new - 2 * stay
        best = moves if best is None else min(best, moves)
    return best


@given(st.data(), meshes())
def test_a_plan_over_trunks_keeps_the_laws(data, plant):
    topology = data.draw(topologies(plant))
    plan = planned(topology, plant)
    if isinstance(plan, DoesNotFit):
        return
    assert violations(plan.wiring, topology) == []
    assert plan.moves >= plan.lower_bound
    document = to_document(plan)
    assert apply(document, plan.present, plant) == plan.final
    assert revert(document, plan.final, plant) == plan.present
    assert plan.present.foreign <= set(plan.final.pairs)
    plugged = [port for pair in plan.final.pairs for port in plant.ends(pair)]
    assert len(plugged) == len(set(plugged))
    assert plan_moves(topology, plant.with_present(plan.final)).moves == 0


def test_a_trunk_that_another_host_uses_is_not_taken_from_it():
    def panel(name, ports):
        return {"id": name, "mode": "bidirectional", "ports": [str(n) for n in range(ports)]}

    plant = read_plant(
        {
            "schema": "plant/1",
            "panels": [panel("p0", 2), panel("p1", 3)],
            "hosts": [
                {"id": "h0", "ports": [{"id": "p", "at": "p0/0"}]},
                {"id": "h1", "ports": [{"id": "p", "at": "p1/0"}]},
                {"id": "h2", "ports": [{"id": "p", "at": "p1/1"}]},
            ],
            "trunks": [{"from": "p0/1", "to": "p1/2"}],
            "cross_connects": [{"panel": "p1", "a": "1", "b": "2"}],
        }
    )
    topology = Topology(["h0", "h1"], [("h0", "h1"), ("h1", "h0")])
    with pytest.raises(DoesNotFit, match="p0 lacks 1 port of h1"):
        plan_moves(topology, plant)
    assert plan_moves(topology, plant.with_present(Present.of([]))).moves == 2


@given(st.data(), meshes())
def test_fit_and_fewest_moves_are_those_of_trying_everything(data, plant):
    topology = data.draw(topologies(plant, most_links=3))
    hosts = [plant.host_index[node] for node in topology.nodes]
    if trunked(plant, hosts) is None:
        return
    lit = [pair for way in ways(plant, plant.present.pairs) for pair in way.pairs]
    plant = plant.with_present(Present.of(lit))
    best = least_moves(topology, plant)
    plan = planned(topology, plant)
    assert (best is None) == isinstance(plan, DoesNotFit)
    if best is not None:
        # A pair to a trunk that is there may serve another link, which trying ways does not see.
        assert plan.lower_bound <= plan.moves <= best
        halves = any(reaches_trunk(plant, pair) for pair in ours(plant, hosts))
        assert halves or (plan.optimal and plan.moves == best)


@given(st.data(), meshes())
def test_a_shuffle_panel_on_the_way_changes_nothing_but_the_way(data, plant):
    through_glass = data.draw(shuffled(plant))
    assert through_glass.folded.hosts == plant.hosts
    cables = {frozenset((trunk.source, trunk.target)) for trunk in plant.trunks}
    assert {frozenset(t[:2]) for t in map(ends_of, through_glass.folded.trunks)} == cables
    topology = data.draw(topologies(plant))
    first, second = planned(topology, plant), planned(topology, through_glass)
    assert isinstance(first, DoesNotFit) == isinstance(second, DoesNotFit)
    if not isinstance(first, DoesNotFit):
        assert (first.moves, first.final) == (second.moves, second.final)


def ends_of(trunk):
    return trunk.source, trunk.target


@given(st.data(), meshes())
def test_plants_of_glass_are_written_and_read_back(data, plant):
    plant = data.draw(shuffled(plant))
    assert read_plant(plant_document(plant)) == plant
    assert read_plant_text(plant_csv(plant)) == plant


@given(st.data(), meshes())
def test_light_is_lost_together_stage_by_stage(data, plant):
    """A pair of a way over a trunk never moves without the other."""
    topology = data.draw(topologies(plant))
    plan = planned(topology, plant)
    if isinstance(plan, DoesNotFit):
        return
    for stage in staged(plan, Limits(max_links_down=1)):
        assert stage.links_down <= 2
        for route in plan.wiring.routes:
            added = set(route) & set(stage.adds)
            assert not added or added == set(route) & set(plan.adds)


def halls(panels, hosts, lanes, trunks, present=()):
    """Panels of so many hosts each with all their ports there, and trunks between any two."""
    used = dict.fromkeys(range(panels), hosts * lanes)
    cables = []
    for one in range(panels):
        for other in range(one + 1, panels):
            for _ in range(trunks):
                cables.append({"from": f"p{one}/{used[one]}", "to": f"p{other}/{used[other]}"})
                used[one], used[other] = used[one] + 1, used[other] + 1
    rows = [
        {"id": f"h{p * hosts + h}",
         "ports": [{"id": str(k), "at": f"p{p}/{h * lanes + k}"} for k in range(lanes)]}
        for p in range(panels) for h in range(hosts)
    ]  # fmt: skip
    return read_plant(
        {"schema": "plant/1", "panels": [{"id": f"p{p}", "ports": used[p]} for p in used],
         "hosts": rows, "trunks": cables, "cross_connects": list(present)}
    )  # fmt: skip


def ring(order):
    ends = list(zip(order, order[1:] + order[:1], strict=True))
    return Topology([f"h{i}" for i in sorted(order)],
                    [(f"h{u}", f"h{v}") for a, b in ends for u, v in ((a, b), (b, a))])  # fmt: skip


def test_a_ring_over_two_halls_takes_two_trunks():
    plan = plan_moves(ring([0, 1, 2, 3, 4, 5]), halls(2, 3, 2, 2))
    assert (plan.moves, plan.optimal) == (8, True)
    assert sum(len(set(route)) == 2 for route in plan.wiring.routes) == 4
    assert len(ways(plan.plant, plan.final.pairs)) == 6


def test_too_few_trunks_are_named_with_how_many_there_are():
    with pytest.raises(DoesNotFit, match="of trunks from p0 to p1 6 are needed and 2 there"):
        plan_moves(ring([0, 3, 1, 4, 2, 5]), halls(2, 3, 2, 2))
    with pytest.raises(DoesNotFit, match="p0 lacks 1 port of h0 that can be joined"):
        plan_moves(ring([0, 1, 2, 3, 4, 5]), halls(2, 3, 1, 2))


def test_a_dead_trunk_is_replaced_by_another():
    plant = halls(2, 3, 2, 3)
    plan = plan_moves(ring([0, 1, 2, 3, 4, 5]), plant)
    used = next(
        t for t in plant.trunks
        if any(t.source in plant.ends(pair) for pair in plan.final.pairs)
    )  # fmt: skip
    document = plant_document(plant.with_present(plan.final))
    document["port_states"] = [{"port": plant.full_name(used.source), "state": "dead"}]
    again = plan_moves(plan.topology, read_plant(document))
    assert again.moves == 4
    assert not any(used.source in plant.ends(pair) for pair in again.final.pairs)


def test_what_is_dark_for_half_a_way_is_not_connected():
    plan = plan_moves(ring([0, 1, 2, 3, 4, 5]), halls(2, 3, 2, 2))
    whole = plan.plant.with_present(plan.final)
    half = [pair for pair in plan.final.pairs if pair != plan.wiring.routes[4][0]]
    assert connected(plan_moves(plan.topology, whole).topology)
    assert len(ways(whole, half)) == 5
    assert plan_moves(plan.topology, whole.with_present(Present.of(half))).moves <= 3


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"bundles": [2]}, "two integers"),
        ({"bundles": [2, 3], "a": 5}, "as many fibres"),
        ({"kind": "manual", "bundles": [2, 2]}, "only shuffle panels have them"),
        ({"mode": "directed", "bundles": [2, 2]}, "is glass"),
        ({}, "bundles"),
    ],
)
def test_a_shuffle_panel_is_whole(change, rule):
    document = plant_document(halls(2, 2, 1, 1))
    glass = {"id": "glass", "kind": "shuffle"} | ({"a": 4, "b": 4} if not change else {}) | change
    document["panels"].append(glass)
    with pytest.raises(InvalidPlant, match=rule):
        read_plant(document)


def test_nothing_is_plugged_inside_a_shuffle_panel():
    document = plant_document(halls(2, 2, 1, 1))
    document["panels"].append({"id": "glass", "kind": "shuffle", "bundles": [2, 2]})
    document["cross_connects"] = [{"panel": "glass", "a": "0A", "b": "0B"}]
    with pytest.raises(InvalidPlant, match="in which nothing moves"):
        read_plant(document)


def test_ways_that_lose_too_much_light_are_not_used():
    document = plant_document(halls(2, 3, 2, 2))
    document["panels"][0]["loss_db"] = document["panels"][1]["loss_db"] = 1
    for trunk in document["trunks"]:
        trunk["loss_db"] = 1
    topology = ring([0, 1, 2, 3, 4, 5])
    assert plan_moves(topology, read_plant(document | {"link_budget_db": 3})).moves == 8
    with pytest.raises(DoesNotFit):
        plan_moves(topology, read_plant(document | {"link_budget_db": 2.5}))


@pytest.mark.parametrize("trunks", [2, 3])
def test_with_hosts_chosen_a_topology_is_divided_among_small_panels(trunks):
    """Four rings of six hosts, joined in a circle by one link each, named at random."""
    order = random.Random(trunks).sample(range(24), 24)
    ends = [(order[6 * r + i], order[6 * r + (i + 1) % 6]) for r in range(4) for i in range(6)]
    ends += [(order[6 * r], order[(6 * r + 9) % 24]) for r in range(4)]
    links = [(f"h{a}", f"h{b}") for u, v in ends for a, b in ((u, v), (v, u))]
    topology = Topology([f"h{i}" for i in range(24)], links)
    plant = halls(4, 6, 3, trunks)
    with pytest.raises(DoesNotFit, match="trunks from"):
        plan_moves(topology, plant)
    plan = plan_placed(topology, plant)
    assert violations(plan.wiring, topology) == []
    assert plan.moves >= 28 == plan.lower_bound
