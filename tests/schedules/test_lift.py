"""Lifted schedules: valid on every expansion, at the cost that the theorems state."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.schedule_oracles import gather_works
from tests.schedules.lifted_recipes import NESTED, RECIPES, lifted, require_claimed
from topoloom.schedules.generate.collectives import reverse
from topoloom.schedules.steps import lift
from topoloom.schedules.verify import violations
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import (
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    parse,
)


@pytest.mark.slow
@for_every("transposed", [False, True])
@for_every("text", RECIPES)
def test_a_lifted_schedule_is_valid_and_costs_what_is_claimed(text, transposed):
    recipe = parse(text)
    _, _, cost = lifted(recipe, transposed)
    require_claimed(recipe, transposed, cost)


@pytest.mark.slow
@for_every("text", RECIPES)
def test_reversed_the_transposed_one_is_a_reduce_scatter(text):
    topology = build(parse(text))
    scatter = reverse(lift.allgather(parse(text), transposed=True), topology)
    assert violations(scatter, topology) == []


@for_every("text", [text for text in RECIPES if size(parse(text))[0] <= 24])
def test_a_plain_player_of_chunks_agrees(text):
    assert gather_works(lift.allgather(parse(text)))


def test_every_operator_is_lifted_below_every_other():
    def operators(recipe):
        inner = getattr(recipe, "factors", None) or (getattr(recipe, "of", None),)
        found = [type(recipe)]
        for part in inner:
            if part is not None and not isinstance(part, Base):
                found += operators(part)
        return found

    below = {pair for text in NESTED for pair in pairwise(operators(parse(text)))}
    kinds = (LineGraph, DegreeExpansion, Power, Product, Bidirected)
    for outer in kinds:
        assert {inner for above, inner in below if above is outer}, outer
        assert {above for above, inner in below if inner is outer}, outer


BASES = [
    "UniRing(2)",
    "UniRing(3)",
    "UniRing(4, 2)",
    "BiRing(3)",
    "BiRing(5)",
    "Complete(3)",
    "Complete(4)",
    "CompleteBipartite(2)",
    "Diamond()",
    "Kautz(2, 2)",
    "DeBruijn(2, 2)",
    "GeneralizedKautz(2, 5)",
    "GeneralizedDeBruijn(3, 5)",
]
MOST = 150


def _grown(parts):
    counts = st.integers(1, 3)
    return st.one_of(
        st.builds(LineGraph, counts, parts),
        st.builds(DegreeExpansion, counts, parts),
        st.builds(Power, counts, parts),
        st.builds(Product, parts, parts),
        st.builds(Bidirected, parts),
    )


def _small(recipe):
    try:
        nodes, degree = size(recipe)
    except OutOfDomain:
        return False
    return nodes <= MOST and degree <= 12


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.recursive(st.sampled_from(BASES).map(parse), _grown, max_leaves=4).filter(_small),
    st.booleans(),
)
def test_any_recipe_is_lifted_at_the_claimed_cost(recipe, transposed):
    _, _, cost = lifted(recipe, transposed)
    require_claimed(recipe, transposed, cost)
