"""Fabrics with lost and slow parts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify import require_valid, tree_inverse_rate
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.degrade import degraded, resolve
from topoloom.synth.topology.topology import Topology

BOXES = fabric("dgx-a100-2")


def test_nothing_changed_is_the_same_topology() -> None:
    same = degraded(BOXES)
    assert (same.digest, same.name) == (BOXES.digest, BOXES.name)


@given(st.data())
def test_what_is_left_are_the_other_links_and_the_shares_of_the_slow_ones(data) -> None:
    topology = build(parse("BiRing(6)"))
    pairs = sorted({(min(s, t), max(s, t)) for s, t, _ in topology.links})
    nodes = data.draw(st.sets(st.sampled_from(topology.nodes), max_size=3))
    fates = data.draw(st.lists(st.sampled_from([None, 0, Fraction(1, 3)]), min_size=6, max_size=6))
    lost = [pair for pair, fate in zip(pairs, fates, strict=True) if fate == 0]
    slow = [(t, s, fate) for (s, t), fate in zip(pairs, fates, strict=True) if fate]
    left = degraded(topology, without_nodes=nodes, without_links=lost, slow_links=slow)
    share = {
        frozenset(pair): 1 if fate is None else fate
        for pair, fate in zip(pairs, fates, strict=True)
    }
    expected = [
        (s, t, capacity * share[frozenset((s, t))])
        for s, t, capacity in topology.links
        if share[frozenset((s, t))] and not {s, t} & nodes
    ]
    assert list(left.links) == expected
    assert set(left.nodes) == set(topology.nodes) - nodes
    assert (left.digest == topology.digest) == (not nodes and not lost and not slow)


def test_the_name_says_what_was_changed_whatever_the_order() -> None:
    one = degraded(
        BOXES,
        without_nodes=["0.gpu3"],
        without_links=[("plane1", "0.gpu1")],
        slow_links=[("0.gpu0", "plane0", Fraction(1, 2))],
    )
    other = degraded(
        BOXES,
        without_nodes=["0.gpu3"],
        without_links=[("0.gpu1", "plane1")],
        slow_links=[("plane0", "0.gpu0", Fraction(1, 2))],
    )
    assert (one, one.name) == (other, other.name)
    assert one.name == "dgx-a100-2 without 0.gpu3, without 0.gpu1-plane1, 0.gpu0-plane0 at 1/2"
    many = degraded(fabric("dgx-a100-16"), without_nodes=[f"{box}.gpu0" for box in range(16)])
    assert many.name == "dgx-a100-16 with 16 changes"


def test_what_is_left_is_not_what_the_recipe_of_the_healthy_one_makes() -> None:
    assert degraded(build(parse("BiRing(5)")), without_nodes=[3]).recipe is None


def test_a_capacity_that_no_document_could_hold_is_refused_by_its_place() -> None:
    pair = Topology("ab", [("a", "b", Fraction(1, 10**29)), ("b", "a", 1)])
    with pytest.raises(InvalidTopology, match="30 digits") as caught:
        degraded(pair, slow_links=[("a", "b", Fraction(1, 10))])
    assert caught.value.field == "/slow_links/0"


def test_numbers_are_found_by_their_text() -> None:
    ring = build(parse("BiRing(5)"))
    assert degraded(ring, without_nodes=["3"]) == degraded(ring, without_nodes=[3])
    assert resolve(ring, slow_links=[("1", 0, Fraction(1, 2))]).slow_links == (
        (0, 1, Fraction(1, 2)),
    )


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"without_nodes": ["0.gpu3", "0.gpu9"]}, "/without_nodes/1", "'0.gpu9' is not"),
        ({"without_nodes": ["0.gpu3", "0.gpu3"]}, "/without_nodes/1", "named once"),
        ({"without_links": [("0.gpu0", "none")]}, "/without_links/0", "id of a node"),
        ({"without_links": [("0.gpu0", "0.gpu1")]}, "/without_links/0", "joined by a link"),
        ({"without_links": [("0.gpu0", "0.gpu0")]}, "/without_links/0", "joined by a link"),
        ({"without_links": [("0.gpu0",)]}, "/without_links/0", "a pair"),
        (
            {"without_links": [("0.gpu0", "plane0")], "slow_links": [("plane0", "0.gpu0", 1)]},
            "/slow_links/0",
            "named once",
        ),
        ({"slow_links": [("plane0", "0.gpu0", 1)]}, "/slow_links/0", "between 0 and 1"),
        ({"slow_links": [("plane0", "0.gpu0", 0)]}, "/slow_links/0", "between 0 and 1"),
        ({"slow_links": [("plane0", "0.gpu0", Fraction(-1, 2))]}, "/slow_links/0", "between"),
        ({"without_nodes": BOXES.nodes}, "/nodes", "must not be empty"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_its_place(changes, place, words) -> None:
    with pytest.raises(InvalidTopology, match=words) as caught:
        degraded(BOXES, **changes)
    assert caught.value.field == place


def test_a_fabric_in_pieces_is_noticed() -> None:
    with pytest.raises(Unreachable):
        degraded(fabric("dgx-a100-1"), without_nodes=["0.nvswitch"]).require_connected()


@pytest.mark.parametrize(
    ("changes", "algbw"),
    [
        # 15 GPUs; the box of seven sends 7 * 25 GB/s to the eight others.
        ({"without_nodes": ["0.gpu3"]}, Fraction(15 * 175, 8)),
        # A GPU without its NIC hears the others through NVSwitch alone: 300 GB/s for 15 shards.
        ({"without_links": [("0.gpu0", "plane0")]}, Fraction(16 * 300, 15)),
        # Half a NIC less leaves 312.5 GB/s into that GPU.
        ({"slow_links": [("0.gpu0", "plane0", Fraction(1, 2))]}, Fraction(16 * 625, 30)),
        # One plane carries nothing: four NICs per box.
        ({"without_nodes": ["plane0"]}, Fraction(16 * 100, 8)),
    ],
)
def test_what_a_fault_costs_is_the_closed_form_of_its_cut(changes, algbw) -> None:
    left = degraded(BOXES, **changes)
    assert optimum(left).algbw == algbw
    schedule = make(left, Collective.ALLGATHER, "forestcoll", None)
    require_valid(schedule, left)
    assert tree_inverse_rate(schedule, left) == len(left.compute_nodes) / Fraction(algbw)
