"""Links led over trunks between panels, and through passive shuffle panels, by example."""

import random

import pytest

from topoloom.synth.errors import DoesNotFit, InvalidPlant
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Present, apply, plan_moves, to_document, violations
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.placement.host_placement import plan_placed
from topoloom.synth.wiring.plans.stages import connected, stages_of
from topoloom.synth.wiring.plant import Mode, plant_document, read_plant
from topoloom.synth.wiring.plant.light_paths import ways


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


def chain(panels, trunks, lanes=1, mode="bidirectional", both_ways=True):
    """Two hosts at the ends of a row of panels, each joined to the next by so many trunks."""
    sides = {"ports": 40} if mode == "bidirectional" else {"a": 40, "b": 40}

    def at(panel, first, side):
        return [f"p{panel}/{first + lane}{side}" for lane in range(lanes)]

    def port(panel):
        if mode == "bidirectional":
            return {"id": "e", "at": at(panel, 0, "")}
        return {"id": "e", "tx": at(panel, 0, "A"), "rx": at(panel, 0, "B"), "duplex": both_ways}

    cables = []
    for panel in range(panels - 1):
        for n in range(trunks):
            ends = [(panel, panel + 1)]
            if mode == "directed" and both_ways:
                ends.append((panel + 1, panel))
            for one, other in ends:
                first = 10 + n if one < other else 25 + n
                if mode == "bidirectional":
                    cables.append({"from": f"p{one}/{10 + n}", "to": f"p{other}/{25 + n}"})
                else:
                    cables.append({"from": f"p{one}/{first}B", "to": f"p{other}/{first}A"})
    return {
        "schema": "plant/1",
        "panels": [
            {"id": f"p{n}", "kind": "switch", "move_seconds": 1, "loss_db": 1, **sides}
            for n in range(panels)
        ],
        "hosts": [{"id": f"h{n}", "ports": [port(n * (panels - 1))]} for n in range(2)],
        "trunks": cables,
    }


TWO_WAY = Topology(["h0", "h1"], [("h0", "h1"), ("h1", "h0")])
PLANTS = {
    "over two trunks": (chain(3, 1), 3),
    "over three trunks": (chain(4, 1), 4),
    "lanes together": (chain(2, 4, lanes=4), 8),
    "lanes over two trunks": (chain(3, 4, lanes=4), 12),
    "each way by itself": (chain(2, 1, mode="directed"), 4),
    "lanes each way over two trunks": (chain(3, 2, 2, "directed"), 12),
}


@pytest.mark.parametrize(("document", "moves"), PLANTS.values(), ids=PLANTS)
def test_links_of_any_port_are_led_over_several_trunks(document, moves):
    plant = read_plant(document)
    plan = plan_moves(TWO_WAY, plant)
    assert violations(plan.wiring, TWO_WAY) == []
    assert (plan.moves, plan.optimal) == (moves, True)
    # A fibre on a panel of both ways carries both links of a lane.
    both = plant.panels[0].mode is Mode.BIDIRECTIONAL
    assert len(ways(plant, plan.final.pairs)) >= (1 if both else 2)
    assert apply(to_document(plan), plan.present, plant) == plan.final
    again = plan_moves(TWO_WAY, plant.with_present(plan.final))
    assert again.moves == 0 and again.optimal
    away = plan_moves(Topology(["h0", "h1"], []), plant, plan.final, objective=Objective.DRAINED)
    assert (away.moves, away.goal.value) == (moves, 2)
    (stage,) = stages_of(away)
    assert stage.drained == (0, 1) and not stage.connected


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (chain(5, 1), "of trunks from p0 to p4 1 are needed and 0 there"),
        (chain(2, 3, lanes=4), "of trunks from p0 to p1 4 are needed and 3 there"),
        (chain(3, 1) | {"link_budget_db": "2.5"}, "of trunks from p0 to p2 1 are needed"),
    ],
    ids=["too far", "too few for all lanes", "too dim"],
)
def test_what_cannot_be_led_over_trunks_is_refused_by_their_names(document, why):
    with pytest.raises(DoesNotFit, match=why):
        plan_moves(TWO_WAY, read_plant(document))


def test_trunks_of_one_direction_do_not_serve_the_other():
    document = chain(2, 1, mode="directed")
    document["trunks"] = document["trunks"][:1]
    with pytest.raises(DoesNotFit, match="of trunks from p1 to p0 1 are needed and 0 there"):
        plan_moves(TWO_WAY, read_plant(document))
