"""Building is exact, repeatable and bounded."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.synth.catalogue import LARGER, MATCHED
from topoloom.synth.errors import ClaimBroken, InvalidRecipe, OutOfDomain, SynthError
from topoloom.synth.families import FAMILIES, UniRing
from topoloom.synth.limits import MAX_LINKS, MAX_NODES
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import (
    MAX_DEPTH,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    parse,
)

HUGE = 999_999_999_999

TOO_LARGE = [
    "Power(9, Hypercube(30))",
    "Power(999999999999, UniRing(2))",
    "Hypercube(999999999999)",
    "DeBruijn(999999999999, 999999999999)",
    "Kautz(2, 999999999999)",
    "Complete(999999999999)",
    "Complete(2, 999999999999)",
    "Circulant(999999999999, 1)",
    "UniRing(999999999999)",
    "UniRing(2, 999999999999)",
    "GeneralizedKautz(999999999999, 999999999999)",
    "GeneralizedKautzRewired(999999999998, 2)",
    "DegreeExpansion(999999999999, UniRing(2))",
    "LineGraph(64, Complete(3))",
    "LineGraph(17, UniRing(2, 2))",
    "Torus(" + ", ".join(["999999999999"] * 200) + ")",
    "Product(" + ", ".join(["Hypercube(30)"] * 200) + ")",
    "Power(2, " * 23 + "UniRing(2)" + ")" * 23,
    "LineGraph(60, " * 20 + "Complete(4)" + ")" * 20,
    "UniRing(65537)",
    "Complete(1416)",
]


@for_every("text", TOO_LARGE)
def test_what_passes_the_limits_is_refused_at_once_and_names_the_limit(text):
    started = time.process_time()
    for ask in (size, build):
        with pytest.raises(OutOfDomain, match=f"at most ({MAX_NODES} nodes|{MAX_LINKS} links)"):
            ask(parse(text))
    assert time.process_time() - started < 1


@pytest.mark.parametrize("operator", ["Bidirected(", "LineGraph(1, ", "DegreeExpansion(1, "])
def test_the_deepest_recipes_are_answered_in_time_that_grows_with_their_depth(operator):
    started = time.process_time()
    recipe = parse(operator * MAX_DEPTH + "UniRing(5)" + ")" * MAX_DEPTH)
    assert size(recipe)[0] == build(recipe).node_count
    assert time.process_time() - started < 5


def test_the_largest_topologies_build():
    assert build(parse("UniRing(65536)")).node_count == MAX_NODES
    assert build(parse("Hypercube(16)")).link_count == 16 * MAX_NODES
    assert build(parse("Complete(1414)")).link_count == 1414 * 1413


def test_recipes_made_by_hand_may_not_nest_deeper_than_text():
    recipe = UniRing(3)
    for _ in range(MAX_DEPTH):
        recipe = Power(1, recipe)
    assert size(recipe) == (3, 1)
    with pytest.raises(InvalidRecipe, match="deep"):
        Power(1, recipe)


def test_recipes_made_by_hand_may_not_share_parts_without_end():
    recipe = UniRing(3)
    with pytest.raises(InvalidRecipe, match="parts"):
        for _ in range(MAX_DEPTH):
            recipe = Product(recipe, recipe)


@pytest.mark.parametrize("junk", ["UniRing(3)", None, 7, ("UniRing", 3)])
def test_only_recipes_are_built(junk):
    with pytest.raises(InvalidRecipe):
        build(junk)


def test_the_same_recipe_always_gives_the_same_topology():
    recipe = parse("Product(LineGraph(2, Complete(3)), DegreeExpansion(2, BiRing(5)))")
    assert build(recipe).digest == build(parse(str(recipe))).digest


def test_the_arrays_of_a_topology_cannot_be_written():
    graph = build(parse("Torus(4, 4)"))
    with pytest.raises(ValueError, match="read-only"):
        graph.sources[0] = 1


@pytest.mark.parametrize(
    "text",
    [
        "GeneralizedKautz(16, 4096)",
        "GeneralizedKautzRewired(16, 4096)",
        "Hypercube(12)",
        "Torus(8, 8, 8, 8)",
        "Circulant(4096, 1, 2, 3, 4, 5, 6, 7, 8)",
        "DegreeExpansion(4, Torus(32, 32))",
        "LineGraph(5, Complete(5))",
        "Power(3, Complete(16))",
    ],
)
def test_four_thousand_nodes_are_built_in_little_time(text):
    graph = build(parse(text))
    assert graph.node_count >= 1280
    assert _best_seconds(lambda: build(parse(text))) < 0.25


def _best_seconds(work):
    def once():
        started = time.process_time()
        work()
        return time.process_time() - started

    return min(once() for _ in range(3))


def test_a_graph_that_breaks_its_promise_is_not_handed_out(monkeypatch):
    monkeypatch.setattr(UniRing, "links", lambda self: (np.array([0]), np.array([1])))
    with pytest.raises(ClaimBroken, match="regular"):
        build(UniRing(5))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Torus(3, 5)", True),
        ("Power(2, Diamond())", True),
        ("Product(UniRing(3), Hypercube(2))", True),
        ("DegreeExpansion(3, BiRing(5))", True),
        ("LineGraph(1, Complete(4))", True),
        ("LineGraph(1, DegreeExpansion(2, Power(2, BiRing(5))))", True),
        ("LineGraph(2, Complete(4))", False),
        ("LineGraph(1, Torus(3, 5))", False),
        ("LineGraph(1, Product(Complete(3), UniRing(3)))", False),
        ("GeneralizedKautz(2, 9)", False),
        ("Product(UniRing(3), Kautz(2, 3))", False),
    ],
)
def test_vertex_transitivity_is_stated_only_where_it_is_proved(text, known):
    assert traits(parse(text)).vertex_transitive == known


arguments = st.lists(st.integers(0, 20) | st.integers(0, HUGE), max_size=4).map(tuple)


@pytest.mark.slow
@settings(max_examples=500)
@given(st.sampled_from(FAMILIES), arguments)
def test_any_arguments_make_a_member_that_is_built_or_are_refused_with_a_reason(family, arguments):
    try:
        member = family(*arguments)
    except OutOfDomain as error:
        assert error.field in {
            *("arguments", "recipe", "order", "orders", "relations", "loops", "heads", "generators")
        } | {
            *family.signature()
            .replace("?", "")
            .replace("*", "")
            .strip(")")
            .partition("(")[2]
            .split(", ")
        }
        assert error.rule.startswith("must ")
        return
    assert parse(str(member)) == member
    if member.nodes * member.degree <= 50_000:
        assert size(member) == (build(member).node_count, build(member).degree)


recipes = st.recursive(
    st.sampled_from([*MATCHED, *LARGER]),
    lambda inner: st.one_of(
        st.builds(LineGraph, st.integers(1, 3), inner),
        st.builds(DegreeExpansion, st.integers(1, 3), inner),
        st.builds(Power, st.integers(1, 3), inner),
        st.lists(inner, min_size=2, max_size=3).map(lambda factors: Product(*factors)),
    ),
    max_leaves=4,
)


@settings(max_examples=300)
@given(recipes)
def test_any_recipe_is_built_as_promised_or_refused_with_a_reason(recipe):
    try:
        promised = traits(recipe)
    except SynthError as error:
        assert error.field
        assert error.rule
        return
    if promised.nodes * promised.degree <= 50_000:
        graph = build(recipe)
        assert (graph.node_count, graph.degree) == size(recipe)
