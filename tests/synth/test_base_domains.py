"""Every family refuses what it is not defined on, and names the argument."""

import pytest

from tests.cases import for_every
from tests.synth.catalogue import LARGER, MATCHED
from topoloom.synth.errors import InvalidRecipe, OutOfDomain
from topoloom.synth.families import FAMILIES, CompleteBipartite, family
from topoloom.synth.recipes.build import size

MEMBERS = [*MATCHED, *LARGER]

NO_FIELDS = [((0,), "q"), ((1,), "q"), ((6,), "q"), ((10**30,), "q"), ((2, 2), "arguments")]

# (arguments, field of the refusal)
OUTSIDE = {
    "UniRing": [((), "arguments"), ((0,), "n"), ((1,), "n"), ((4, 0), "width")],
    "BiRing": [((), "arguments"), ((0,), "n"), ((2,), "n"), ((4, 0), "width")],
    "Complete": [((), "arguments"), ((0,), "n"), ((1,), "n"), ((4, 0), "width")],
    "CompleteBipartite": [((), "arguments"), ((0,), "d"), ((2, 2), "arguments")],
    "Circulant": [
        ((), "arguments"),
        ((8,), "offsets"),
        ((0, 1), "n"),
        ((1, 1), "n"),
        ((8, 0), "offsets"),
        ((8, 5), "offsets"),
        ((8, 1, 5), "offsets"),
        ((8, 1, 3, 2), "offsets"),
        ((8, 4, 3), "offsets"),
        ((8, 2, 4), "offsets"),
    ],
    "DirectedCirculant": [
        ((), "arguments"),
        ((8,), "offsets"),
        ((0, 1), "n"),
        ((1, 1), "n"),
        ((8, 0), "offsets"),
        ((8, 8), "offsets"),
        ((8, 3, 2), "offsets"),
        ((9, 3, 6), "offsets"),
    ],
    "Torus": [((), "sides"), ((0,), "sides"), ((4, 1), "sides"), ((4, 4, 0), "sides")],
    "Hypercube": [((), "arguments"), ((0,), "k"), ((2, 2), "arguments")],
    "Kautz": [((2,), "arguments"), ((1, 3), "d"), ((2, 0), "k"), ((2, 2, 2), "arguments")],
    "GeneralizedKautz": [((2,), "arguments"), ((2, 1), "n"), ((0, 5), "d"), ((1, 3), "d")],
    "GeneralizedKautzRewired": [
        ((2,), "arguments"),
        ((2, 1), "n"),
        ((1, 3), "d"),
        ((2, 3), "n"),  # a Kautz digraph: no loop
        ((4, 3), "n"),  # one loop, and none to join it to
    ],
    "DeBruijn": [((2,), "arguments"), ((1, 3), "d"), ((2, 1), "k"), ((2, 2, 2), "arguments")],
    "ModifiedDeBruijn": [((2,), "arguments"), ((1, 3), "d"), ((3, 1), "k")],
    "Diamond": [((1,), "arguments"), ((8, 2), "arguments")],
    "Cayley": [
        ((8, 3), "arguments"),
        ((8, 3, 2), "generators"),
        ((0, 0, 2, 1), "order"),
        ((8, 2, 2, 1), "r"),
        ((8, 3, 2, 16), "generators"),
        ((8, 3, 2, 0, 9), "loops"),
        ((8, 3, 2, 2, 4), "generators"),
        ((10**6, 1, 1, 1), "order"),
    ],
    "CayleyMetacyclic": [
        ((8, 7, 2), "arguments"),
        ((8, 7, 2, 1, 1), "c"),
        ((8, 1, 0, 0, 1), "order"),
    ],
    "CayleyMatrix": [
        ((2, 2), "arguments"),
        ((2, 0, 3, 1), "k"),
        ((1, 2, 3, 0, 1, 1, 1, 1), "m"),
        ((2, 2, 3, 0, 1, 1, 1), "entries_and_generators"),
        ((2, 2, 2, 0, 1, 1, 1, 1), "a"),
        ((2, 2, 3, 0, 2, 1, 1, 1), "entry"),
        ((2, 16, 2, *range(300)), "order"),
    ],
    "CayleyNested": [((7, 3, 2, 2, 6), "arguments"), ((7, 3, 2, 3, 6, 1, 1), "r")],
    "CayleyPolycyclic": [
        ((), "arguments"),
        ((0, 1), "k"),
        ((17, 1), "k"),
        ((2, 4), "relations"),
        ((2, 4, 1, 2, 3, 1, 4), "orders"),
        ((2, 4, 2, 2), "relations"),
        ((2, 4, 2, 2, 4, 1, 4), "relations"),
        ((2, 4, 2, 1, 3, 1, 4), "relations"),
        ((2, 5, 2, 0, 2, 1, 5), "relations"),
        ((2, 4, 2, 2, 0, 1, 4), "relations"),
        ((2, 4, 2, 2, 3), "generators"),
        ((2, 4, 2, 2, 3, 8), "generators"),
        ((2, 10**6, 10**6, 0, 1, 1), "order"),
    ],
    "CayleyLinear": [
        ((), "arguments"),
        ((4, 1), "p"),
        ((3,), "generators"),
        ((3, 24), "generators"),
    ],
    "CayleyAlternating": [((), "arguments"), ((8, 1), "n"), ((4, 12), "generators")],
    "CayleySymmetric": [((), "arguments"), ((2, 1), "n"), ((4, 24), "generators")],
    "Lift": [
        ((4, 1, 1), "arguments"),
        ((4, 1, 1, 0, 0, 1), "order"),
        ((4, 1, 1, 2), "heads_and_voltages"),
        ((4, 1, 1, 2, 0, 1), "heads_and_voltages"),
        ((4, 1, 1, 2, 2, 1, 0, 1), "heads"),
        ((4, 1, 1, 2, 1, 4, 0, 1), "voltages"),
        ((4, 1, 1, 2, 1, 1, 1, 1), "heads"),
        ((4, 1, 1, 2, 1, 2, 0, 2), "generators"),
    ],
    "Digraph": [
        ((1, 0), "n"),
        ((3,), "targets"),
        ((3, 1, 2), "targets"),
        ((3, 1, 2, 3), "targets"),
        ((3, 1, 2, 2), "loops"),
        ((3, 1, 2, 1), "heads"),
        ((4, 1, 0, 3, 2), "generators"),
    ],
    "GeneralizedDeBruijn": [((2,), "arguments"), ((2, 1), "n"), ((0, 5), "d"), ((1, 2), "d")],
    "GeneralizedDeBruijnRewired": [
        ((2,), "arguments"),
        ((2, 1), "n"),
        ((1, 3), "d"),
    ],
    "CompleteMultipartite": [((3,), "arguments"), ((2, 4), "parts"), ((3, 1), "part_size")],
    "Crown": [((), "arguments"), ((2,), "n")],
    "Paley": [*NO_FIELDS, ((4,), "q"), ((7,), "q"), ((11,), "q")],
    "Odd": [((), "arguments"), ((1,), "k"), ((-4,), "k")],
    "DoubledOdd": [((), "arguments"), ((1,), "k")],
    "Johnson": [((5,), "arguments"), ((5, 1), "k"), ((5, 3), "n"), ((0, -2), "k")],
    "Kneser": [((5,), "arguments"), ((5, 1), "k"), ((6, 3), "n")],
    "Arrangement": [((5,), "arguments"), ((5, 1), "k"), ((4, 4), "n")],
    "FoldedCube": [((), "arguments"), ((2,), "k")],
    "HalvedCube": [((), "arguments"), ((2,), "k")],
    "ProjectivePlane": NO_FIELDS,
    "AffinePlane": NO_FIELDS,
    "NonincidenceGraph": NO_FIELDS,
    "GeneralizedQuadrangle": NO_FIELDS,
    "GeneralizedHexagon": NO_FIELDS,
    "FlagGraph": [((3,), "arguments"), ((5, 2), "gonality"), ((2, 2), "gonality"), ((3, 6), "q")],
    "CollinearityGraph": [((4,), "arguments"), ((3, 2), "gonality"), ((6, 1), "q")],
    "MooreLineGraph": [((), "arguments"), ((2,), "d"), ((57,), "d")],
    "SlimFly": [*NO_FIELDS, ((2,), "q")],
    "PolarFly": NO_FIELDS,
    "TwistedTorus": [
        ((4, 4), "arguments"),
        ((2, 4, 1), "a"),
        ((4, 1, 1), "b"),
        ((4, 4, 0), "twist"),
        ((4, 4, 3), "twist"),
    ],
    "TwistedHypercube": [((), "arguments"), ((2,), "k")],
    "ChordalRing": [
        ((8,), "arguments"),
        ((4, 3), "n"),
        ((9, 3), "n"),
        ((12, 1), "w"),
        ((12, 4), "w"),
        ((12, 7), "w"),
    ],
    "CubeConnectedCycles": [((), "arguments"), ((2,), "k")],
    "Pancake": [((), "arguments"), ((2,), "n")],
    "RandomRegular": [
        ((5, 2), "arguments"),
        ((1, 1, 0), "n"),
        ((16_385, 2, 0), "n"),
        ((5, 5, 0), "d"),
        ((5, 0, 0), "d"),
        ((5, 2, -1), "seed"),
        ((9, 2, 0, -1), "depth"),
        ((9, 2, 0, 10), "depth"),
        ((9, 2, 0, 0, 1), "depth"),
        ((9, 1, 0, 3, 1), "exchanges"),
        ((9, 2, 0, 3, -1), "exchanges"),
        ((16_384, 8, 0, 6, 11), "exchanges"),
    ],
    "RandomRegularTwoWay": [
        ((6, 3), "arguments"),
        ((5, 3, 0), "d"),
        ((4, 1, 0), "d"),
        ((9, 2, 0, 3, 1), "exchanges"),
        ((6, 3, 0, 0, 1), "depth"),
    ],
    "Graph": [
        ((), "arguments"),
        ((1, 1), "n"),
        ((65_537, 1), "n"),
        ((3,), "gaps"),
        ((3, 0), "gaps"),
        ((3, 1, 3), "gaps"),
        ((3, 1, 8), "gaps"),
        ((1500, *[1] * 1499), "recipe"),
    ],
}


@for_every("member", FAMILIES)
def test_every_family_is_tested_with_arguments_inside_and_outside_its_domain(member):
    assert OUTSIDE[member.__name__]
    assert any(type(recipe) is member for recipe in MEMBERS)


@for_every(
    ("name", "arguments", "field"),
    [(name, *case) for name, cases in OUTSIDE.items() for case in cases],
)
def test_every_family_refuses_what_it_is_not_defined_on(name, arguments, field):
    made = family(name)
    with pytest.raises(OutOfDomain) as caught:
        made(*arguments)
    assert caught.value.field == field
    assert caught.value.rule.startswith("must ")


@pytest.mark.parametrize("value", [True, 4.0, "4", None])
def test_arguments_are_integers_even_after_an_equal_one_was_seen(value):
    for seen in (1, 4):
        size(CompleteBipartite(seen))
    with pytest.raises(OutOfDomain, match="d: must be an integer"):
        CompleteBipartite(value)


def test_an_unknown_family_is_an_invalid_recipe_with_the_nearest_or_the_command_that_lists_all():
    for name, hint in (("diamond", "mean Diamond"), ("Rhombus", "catalog families"), ("", "all")):
        with pytest.raises(InvalidRecipe, match=hint):
            family(name)
