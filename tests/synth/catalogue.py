"""Members of the catalogue that tests go through, built and measured once each."""

from functools import cache

from synth.bases import FAMILIES
from synth.build import build
from synth.cost import Cost
from synth.recipe import Base, Recipe
from synth.topology import Topology
from tests.cost_oracles import broadcast_cost

MATCHED: list[Base] = sorted(
    {
        recipe
        for family in FAMILIES
        for nodes in range(2, 13)
        for degree in range(1, 6)
        for recipe in family.matching(nodes, degree)
    },
    key=str,
)

SMALL: list[Base] = [recipe for recipe in MATCHED if max(recipe.arguments, default=0) <= 9]

LARGER: list[Base] = [
    Base("UniRing", (40,)),
    Base("BiRing", (31,)),
    Base("BiRing", (24, 3)),
    Base("Complete", (10,)),
    Base("CompleteBipartite", (8,)),
    Base("Circulant", (12, 2, 3)),
    Base("Circulant", (30, 1, 15)),
    Base("Circulant", (4, 1, 2, 2)),
    Base("Circulant", (7, 1, 1, 2, 3)),
    Base("Circulant", (30, 2, 5, 9)),
    Base("Circulant", (64, 6, 7)),
    Base("Circulant", (100, 7, 8)),
    Base("DirectedCirculant", (10, 1, 2, 3, 4, 5, 6, 7, 8)),
    Base("DirectedCirculant", (21, 3, 7)),
    Base("Torus", (3, 4, 5)),
    Base("Torus", (2, 2, 7)),
    Base("Torus", (6, 2)),
    Base("Torus", (9,)),
    Base("Hypercube", (6,)),
    Base("Kautz", (2, 5)),
    Base("Kautz", (3, 3)),
    Base("Kautz", (4, 2)),
    Base("GeneralizedKautz", (2, 47)),
    Base("GeneralizedKautz", (4, 50)),
    Base("GeneralizedKautz", (5, 30)),
    Base("GeneralizedKautz", (9, 4)),
    Base("GeneralizedKautzRewired", (2, 46)),
    Base("GeneralizedKautzRewired", (4, 64)),
    Base("GeneralizedKautzRewired", (8, 3)),
    Base("DeBruijn", (2, 5)),
    Base("DeBruijn", (4, 2)),
    Base("ModifiedDeBruijn", (2, 5)),
    Base("ModifiedDeBruijn", (3, 3)),
    Base("Cayley", (8, 3, 4, 9, 10, 18, 19)),
    Base("Cayley", (5, 4, 2, 1, 4, 5)),
    Base("CayleyMetacyclic", (8, 7, 2, 4, 1, 8)),
    Base("CayleyMatrix", (2, 2, 3, 0, 1, 1, 1, 1, 4)),
    Base("CayleyNested", (7, 3, 2, 2, 6, 1, 1, 7, 21)),
    Base("CayleyLinear", (3, 1, 5, 7)),
    Base("CayleyAlternating", (5, 1, 3, 20)),
    Base("CayleySymmetric", (4, 1, 9)),
    Base("Lift", (4, 1, 1, 2, 0, 3, 1, 0, 0, 2, 1, 1)),
    Base("Digraph", (4, 1, 2, 2, 3, 3, 0, 0, 1)),
    Base("GeneralizedDeBruijn", (2, 47)),
    Base("GeneralizedDeBruijn", (4, 50)),
    Base("GeneralizedDeBruijn", (5, 30)),
    Base("GeneralizedDeBruijn", (9, 4)),
    Base("GeneralizedDeBruijnRewired", (3, 46)),
    Base("GeneralizedDeBruijnRewired", (4, 60)),
    Base("GeneralizedDeBruijnRewired", (8, 3)),
    Base("CompleteMultipartite", (4, 3)),
    Base("Crown", (7,)),
    Base("Paley", (25,)),
    Base("Paley", (17,)),
    Base("Odd", (4,)),
    Base("DoubledOdd", (3,)),
    Base("DoubledOdd", (4,)),
    Base("Johnson", (6, 2)),
    Base("Johnson", (6, 3)),
    Base("Kneser", (6, 2)),
    Base("Kneser", (8, 3)),
    Base("Arrangement", (4, 3)),
    Base("Arrangement", (5, 3)),
    Base("Arrangement", (5, 4)),
    Base("FoldedCube", (6,)),
    Base("FoldedCube", (7,)),
    Base("HalvedCube", (5,)),
    Base("ProjectivePlane", (4,)),
    Base("AffinePlane", (5,)),
    Base("NonincidenceGraph", (3,)),
    Base("GeneralizedQuadrangle", (2,)),
    Base("GeneralizedQuadrangle", (3,)),
    Base("GeneralizedHexagon", (2,)),
    Base("FlagGraph", (3, 3)),
    Base("FlagGraph", (4, 2)),
    Base("FlagGraph", (6, 2)),
    Base("CollinearityGraph", (4, 2)),
    Base("CollinearityGraph", (6, 2)),
    Base("MooreLineGraph", (3,)),
    Base("SlimFly", (3,)),
    Base("SlimFly", (4,)),
    Base("SlimFly", (5,)),
    Base("PolarFly", (4,)),
    Base("PolarFly", (5,)),
    Base("TwistedTorus", (8, 4, 4)),
    Base("TwistedTorus", (7, 5, 2)),
    Base("TwistedHypercube", (5,)),
    Base("ChordalRing", (50, 9)),
    Base("ChordalRing", (30, 15)),
    Base("CubeConnectedCycles", (3,)),
    Base("CubeConnectedCycles", (4,)),
    Base("Pancake", (4,)),
]


@cache
def built(recipe: Recipe) -> Topology:
    """Return the topology of a recipe."""
    return build(recipe)


@cache
def cost_of(recipe: Recipe) -> Cost:
    """Return the cost on the graph, by the slow oracle."""
    return broadcast_cost(built(recipe))


@cache
def transpose_cost_of(recipe: Recipe) -> Cost:
    """Return the cost on the transposed graph, by the slow oracle."""
    return broadcast_cost(built(recipe).transpose())
