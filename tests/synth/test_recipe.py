"""Recipes print as one canonical line, and the parser reads it back or says where it fails."""

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.synth.catalogue import LARGER, MATCHED
from topoloom.synth.errors import InvalidRecipe, OutOfDomain, SynthError
from topoloom.synth.families import BiRing, Circulant, Diamond, UniRing
from topoloom.synth.recipes.recipe import (
    MAX_DEPTH,
    MAX_TEXT,
    Bidirected,
    DegreeExpansion,
    Inserted,
    LineGraph,
    Power,
    Product,
    Removed,
    Shortened,
    parse,
)

OPERATORS = {
    "LineGraph",
    "DegreeExpansion",
    "Power",
    "Product",
    "Bidirected",
    "Inserted",
    "Removed",
    "Shortened",
}

counts = st.integers(1, 10**12 - 1)
recipes = st.recursive(
    st.sampled_from([*MATCHED, *LARGER]),
    lambda inner: st.one_of(
        st.builds(LineGraph, st.integers(1, 64), inner),
        st.builds(DegreeExpansion, counts, inner),
        st.builds(Power, counts, inner),
        st.builds(Bidirected, inner),
        st.builds(Inserted, counts, counts, counts, inner),
        st.builds(Removed, counts, counts, counts, inner),
        st.builds(Shortened, counts, counts, counts, inner),
        st.lists(inner, min_size=2, max_size=4).map(lambda factors: Product(*factors)),
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
    except (InvalidRecipe, OutOfDomain) as error:
        assert error.field
        assert error.rule


@given(st.text(max_size=60))
def test_any_text_is_a_recipe_or_is_refused(text):
    _parses_or_is_refused(text)


@given(st.lists(st.sampled_from([*OPERATORS, "Torus", "(", ")", ",", "1", "22", " "]), max_size=25))
def test_any_mix_of_tokens_is_a_recipe_or_is_refused(tokens):
    _parses_or_is_refused("".join(tokens))


@given(recipes, st.data())
def test_a_damaged_recipe_is_a_recipe_or_is_refused(recipe, data):
    text = str(recipe)
    cut = data.draw(st.integers(0, len(text)))
    _parses_or_is_refused(text[:cut] + data.draw(st.characters()) + text[cut + 1 :])
    _parses_or_is_refused(text[:cut])


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        ("Diamond()", Diamond()),
        ("LineGraph(UniRing(4))", LineGraph(1, UniRing(4))),
        ("LineGraph(3, Circulant(16, 3, 4))", LineGraph(3, Circulant(16, 3, 4))),
        ("Power(2, Diamond())", Power(2, Diamond())),
        ("DegreeExpansion(2, BiRing(5))", DegreeExpansion(2, BiRing(5))),
        (
            "Product(UniRing(4), UniRing(8))",
            Product(UniRing(4), UniRing(8)),
        ),
        ("UniRing(007)", UniRing(7)),
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
        ("UniRing(1234567890123)", 9),
        ("Torus(4,,4)", 9),
        ("Torus(4,)", 9),
        ("Torus (Diamond())", 8),
        ("Power(2, Rhombus(3))", 10),
        ("Power(2, @my ring)", 10),
        ("Power(2, @)", 10),
        ("Ring\N{SUPERSCRIPT TWO}(4)", 5),
    ],
)
def test_a_refusal_names_the_column(text, column):
    with pytest.raises(InvalidRecipe, match=rf"column {column}: "):
        parse(text)


def test_an_integer_of_too_many_digits_is_refused_with_the_limit():
    assert parse("RandomRegular(20, 3, 999999999999)").seed == 10**12 - 1
    with pytest.raises(InvalidRecipe, match="column 22: must be an integer of at most 12 digits"):
        parse("RandomRegular(20, 3, 1000000000000)")


@pytest.mark.parametrize(
    ("text", "made", "message"),
    [
        ("LineGraph(0, UniRing(4))", lambda: LineGraph(0, UniRing(4)), "times: must be an integer"),
        (
            "LineGraph(65, UniRing(4))",
            lambda: LineGraph(65, UniRing(4)),
            "times: must be at most 64",
        ),
        ("Power(0, UniRing(4))", lambda: Power(0, UniRing(4)), "times: must be an integer"),
        ("Power(UniRing(4))", lambda: Power(UniRing(4)), r"arguments: must fit Power\(times, of\)"),
        ("Power(UniRing(4), 2)", lambda: Power(UniRing(4), 2), "times: must be an integer"),
        ("Power(2, 3)", lambda: Power(2, 3), "of: must be a recipe, not an integer"),
        ("DegreeExpansion(2)", lambda: DegreeExpansion(2), "arguments: must fit DegreeExpansion"),
        ("Product(UniRing(4))", lambda: Product(UniRing(4)), "factors: must be at least 2"),
        ("Product(2, UniRing(4))", lambda: Product(2, UniRing(4)), "factors: must be a recipe"),
        ("UniRing(1)", lambda: UniRing(1), "n: must be at least 2"),
        (
            "UniRing(4, 1, 1)",
            lambda: UniRing(4, 1, 1),
            r"arguments: must fit UniRing\(n, width\?\)",
        ),
        ("Circulant(16, 9)", lambda: Circulant(16, 9), "offsets: must be from 1 to n / 2"),
    ],
)
def test_text_and_python_are_refused_with_the_same_words(text, made, message):
    with pytest.raises(SynthError, match=f"^{message}") as in_text:
        parse(text)
    with pytest.raises(SynthError) as in_python:
        made()
    assert str(in_text.value) == str(in_python.value)
    assert type(in_text.value) is type(in_python.value)


def test_text_and_nesting_are_limited():
    deepest = "Power(1, " * MAX_DEPTH + "Diamond()" + ")" * MAX_DEPTH
    assert str(parse(deepest)) == deepest
    with pytest.raises(InvalidRecipe, match="deep"):
        parse(f"Power(1, {deepest})")
    with pytest.raises(InvalidRecipe, match=str(MAX_TEXT)):
        parse("Torus(" + "2," * MAX_TEXT + "2)")


def test_reading_a_recipe_imports_neither_scipy_nor_numba():
    code = "import sys, topoloom.synth.recipes.recipe; print({'scipy', 'numba'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_recipes_are_values():
    recipe = Power(2, Product(UniRing(4), UniRing(8)))
    assert len({recipe, parse(str(recipe)), pickle.loads(pickle.dumps(recipe))}) == 1
    with pytest.raises(AttributeError):
        recipe.times = 3  # type: ignore[misc]
