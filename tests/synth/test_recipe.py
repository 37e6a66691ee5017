"""Recipes print as one canonical line, and the parser reads it back or says where it fails."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import InvalidRecipe
from synth.recipe import (
    MAX_DEPTH,
    MAX_TEXT,
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    parse,
)

OPERATORS = {"LineGraph", "DegreeExpansion", "Power", "Product", "Bidirected"}

names = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,12}", fullmatch=True).filter(
    lambda name: name not in OPERATORS
)
numbers = st.integers(0, 10**12 - 1)
bases = st.builds(Base, names, st.lists(numbers, max_size=4).map(tuple))
counts = st.integers(1, 10**12 - 1)
recipes = st.recursive(
    bases,
    lambda inner: st.one_of(
        st.builds(LineGraph, counts, inner),
        st.builds(DegreeExpansion, counts, inner),
        st.builds(Power, counts, inner),
        st.builds(Bidirected, inner),
        st.builds(Product, st.lists(inner, min_size=2, max_size=4).map(tuple)),
    ),
    max_leaves=8,
)


@given(recipes)
def test_a_printed_recipe_parses_to_itself(recipe):
    assert parse(str(recipe)) == recipe


@given(recipes, st.data())
def test_blanks_between_the_parts_do_not_matter(recipe, data):
    blanks = st.sampled_from(["", " ", "\t", "\n  "])
    spaced = "".join(
        f"{data.draw(blanks)}{part}{data.draw(blanks)}" if part in "()," else part
        for part in str(recipe).replace(" ", "")
    )
    assert parse(spaced) == recipe


def _parses_or_is_refused(text):
    try:
        assert parse(str(parse(text))) == parse(text)
    except InvalidRecipe as error:
        assert error.field == "recipe"
        assert error.rule


@given(st.text(max_size=60))
def test_any_text_is_a_recipe_or_an_invalid_recipe(text):
    _parses_or_is_refused(text)


@given(st.lists(st.sampled_from([*OPERATORS, "Torus", "(", ")", ",", "1", "22", " "]), max_size=25))
def test_any_mix_of_tokens_is_a_recipe_or_an_invalid_recipe(tokens):
    _parses_or_is_refused("".join(tokens))


@given(recipes, st.data())
def test_a_damaged_recipe_is_a_recipe_or_an_invalid_recipe(recipe, data):
    text = str(recipe)
    cut = data.draw(st.integers(0, len(text)))
    _parses_or_is_refused(text[:cut] + data.draw(st.characters()) + text[cut + 1 :])
    _parses_or_is_refused(text[:cut])


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        ("Diamond()", Base("Diamond")),
        ("LineGraph(UniRing(4))", LineGraph(1, Base("UniRing", (4,)))),
        ("LineGraph(3, Circulant(16, 3, 4))", LineGraph(3, Base("Circulant", (16, 3, 4)))),
        ("Power(2, Diamond())", Power(2, Base("Diamond"))),
        ("DegreeExpansion(2, BiRing(5))", DegreeExpansion(2, Base("BiRing", (5,)))),
        (
            "Product(UniRing(4), UniRing(8))",
            Product((Base("UniRing", (4,)), Base("UniRing", (8,)))),
        ),
        ("UniRing(007)", Base("UniRing", (7,))),
    ],
)
def test_the_documented_forms_parse(text, recipe):
    assert parse(text) == recipe


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("(", 1),
        ("UniRing", 8),
        ("UniRing(4", 10),
        ("UniRing(4))", 11),
        ("UniRing(-4)", 9),
        ("UniRing(4.5)", 10),
        ("UniRing(1234567890123)", 21),
        ("LineGraph(0, UniRing(4))", 11),
        ("Power(UniRing(4))", 7),
        ("DegreeExpansion(2)", 18),
        ("Product(UniRing(4))", 19),
        ("Torus(4,,4)", 9),
        ("Torus(4,)", 9),
        ("Torus (Diamond())", 8),
        ("Ring\N{SUPERSCRIPT TWO}(4)", 5),
    ],
)
def test_a_refusal_names_the_column(text, column):
    with pytest.raises(InvalidRecipe, match=rf"column {column}: "):
        parse(text)


def test_text_and_nesting_are_limited():
    deepest = "Power(1, " * MAX_DEPTH + "Diamond()" + ")" * MAX_DEPTH
    assert str(parse(deepest)) == deepest
    with pytest.raises(InvalidRecipe, match="deep"):
        parse(f"Power(1, {deepest})")
    with pytest.raises(InvalidRecipe, match=str(MAX_TEXT)):
        parse("Torus(" + "2," * MAX_TEXT + "2)")


def test_recipes_are_values():
    recipe = parse("Power(2, Product(UniRing(4), UniRing(8)))")
    assert len({recipe, parse(str(recipe))}) == 1
    with pytest.raises(AttributeError):
        recipe.times = 3  # type: ignore[misc]
