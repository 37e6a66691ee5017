"""The figures of the literature, measured on the graphs as built.

Costs are (steps, bandwidth in units of M / B).  Sources: arXiv:2202.03356 for the rows of its
tables and for BFB on tori, hypercubes and circulants; the others follow from its theorems.
"""

from fractions import Fraction

import pytest

from tests.cost_oracles import broadcast_cost
from topoloom.synth.evaluation.cost import Claim, Cost
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.claims import claim
from topoloom.synth.recipes.recipe import parse

FIGURES = [
    # recipe, nodes, degree, steps, bandwidth
    ("GeneralizedKautz(4, 1024)", 1024, 4, 5, Fraction(341, 256)),
    ("LineGraph(3, Circulant(16, 3, 4))", 1024, 4, 6, Fraction(261, 256)),
    ("Power(2, Product(UniRing(4), UniRing(8)))", 1024, 4, 20, Fraction(1023, 1024)),
    ("Hypercube(10)", 1024, 10, 10, Fraction(1023, 1024)),
    ("Torus(50, 50)", 2500, 4, 50, Fraction(2499, 2500)),
    ("CompleteBipartite(4)", 8, 4, 2, Fraction(7, 8)),
    ("LineGraph(1, CompleteBipartite(4))", 32, 4, 3, Fraction(1)),
    ("LineGraph(2, CompleteBipartite(4))", 128, 4, 4, Fraction(33, 32)),
    ("LineGraph(3, CompleteBipartite(4))", 512, 4, 5, Fraction(133, 128)),
    ("Circulant(12, 2, 3)", 12, 4, 2, Fraction(11, 12)),
    ("Circulant(16, 3, 4)", 16, 4, 3, Fraction(15, 16)),
    ("LineGraph(1, Circulant(16, 3, 4))", 64, 4, 4, Fraction(1)),
    ("LineGraph(2, Circulant(16, 3, 4))", 256, 4, 5, Fraction(65, 64)),
    ("Circulant(64, 6, 7)", 64, 4, 6, Fraction(63, 64)),
    ("Circulant(128, 8, 9)", 128, 4, 8, Fraction(127, 128)),
    ("GeneralizedKautz(4, 64)", 64, 4, 3, Fraction(21, 16)),
    ("GeneralizedKautz(4, 256)", 256, 4, 4, Fraction(85, 64)),
    ("Diamond()", 8, 2, 3, Fraction(7, 8)),
]


@pytest.mark.parametrize(
    ("text", "nodes", "degree", "steps", "bandwidth"), FIGURES, ids=[row[0] for row in FIGURES]
)
def test_the_published_figure_is_measured_on_the_graph_and_its_transpose(
    text, nodes, degree, steps, bandwidth
):
    recipe = parse(text)
    assert size(recipe) == (nodes, degree)
    found = measure_both(build(recipe))
    assert found == (Cost(steps, bandwidth), Cost(steps, bandwidth))


@pytest.mark.parametrize(
    ("text", "nodes", "degree", "steps", "bandwidth"),
    [row for row in FIGURES if row[1] <= 64],
    ids=[row[0] for row in FIGURES if row[1] <= 64],
)
def test_the_slow_oracle_agrees(text, nodes, degree, steps, bandwidth):
    assert broadcast_cost(build(parse(text))) == Cost(steps, bandwidth)


@pytest.mark.parametrize("text", [row[0] for row in FIGURES])
def test_what_the_theorems_claim_of_a_published_graph_is_its_figure(text):
    claimed = claim(parse(text))
    published = next(
        Cost(steps, bandwidth) for name, _, _, steps, bandwidth in FIGURES if name == text
    )
    if text.startswith("GeneralizedKautz"):
        assert claimed is None
    else:
        assert claimed is not None
        assert claimed.exact
        assert claimed.cost == published


@pytest.mark.parametrize(
    ("text", "steps", "published", "bandwidth"),
    [
        ("LineGraph(1, Diamond())", 4, Fraction(1), Fraction(15, 16)),
        ("LineGraph(7, Diamond())", 10, Fraction(575, 512), Fraction(527, 512)),
        ("LineGraph(2, Power(2, Diamond()))", 8, Fraction(257, 256), Fraction(1)),
    ],
)
def test_line_graphs_of_this_diamond_do_better_than_published(text, steps, published, bandwidth):
    recipe = parse(text)
    assert claim(recipe) == Claim(steps, published, exact=False)
    assert measure_both(build(recipe)) == (Cost(steps, bandwidth), Cost(steps, bandwidth))
