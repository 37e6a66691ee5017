"""What is lifted, and what is refused."""

import pytest

from tests.schedules.lifted_recipes import lifted
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.steps import bfb, lift
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.claims import claim
from topoloom.synth.recipes.recipe import parse


def test_a_base_is_left_as_it_is():
    topology = build(parse("GeneralizedKautz(3, 20)"))
    schedule = lift.allgather(topology.recipe)
    assert step_cost(schedule, topology) == measure(topology)
    assert schedule.chunks_per_shard == bfb.allgather(topology).chunks_per_shard


def test_the_same_recipe_gives_the_same_bytes():
    once, again = (lift.allgather(parse("Power(2, DeBruijn(2, 3))")) for _ in range(2))
    assert [a.tobytes() for a in once.steps] == [b.tobytes() for b in again.steps]


def test_a_degree_too_large_for_breadth_first_broadcast_can_be_lifted():
    recipe = parse("DegreeExpansion(40, Complete(3))")
    _, topology, cost = lifted(recipe)
    assert topology.degree == 80
    assert cost == claim(recipe).cost
    with pytest.raises(NoSchedule):
        bfb.allgather(topology)


def test_a_topology_must_be_what_its_recipe_makes():
    ring = build(parse("LineGraph(1, UniRing(5, 2))"))
    assert violations(lift.allgather_on(ring), ring) == []
    lies = ("UniRing(5)", "UniRing(2)", "LineGraph(1, BiRing(5))", "LineGraph(1, UniRing(10))")
    for recipe in (None, *map(parse, lies)):
        with pytest.raises(NoSchedule) as caught:
            lift.allgather_on(ring.with_recipe(recipe))
        assert caught.value.field == "/algorithm"


def test_the_name_of_a_topology_says_nothing_of_how_it_is_made():
    ring = build(parse("LineGraph(1, UniRing(5, 2))"))
    assert violations(lift.allgather_on(ring.renamed("BiRing(10)")), ring) == []
    with pytest.raises(NoSchedule):
        lift.allgather_on(ring.with_recipe(None).renamed("LineGraph(1, UniRing(5, 2))"))


def test_limits_are_kept_before_any_work():
    with pytest.raises(TooLarge, match="/topology: needs"):
        lift.allgather(parse("LineGraph(6, Complete(5))"))
    with pytest.raises(TooLarge, match="/topology: needs"):
        # Each half a dimension of its own: twice as many sends as pairs of ranks.
        lift.allgather(parse("Power(4, DeBruijn(2, 3))"))
    with pytest.raises(OutOfDomain):
        lift.allgather(parse("LineGraph(1, DeBruijn(2, 3))"))
