"""Members of the catalogue that tests go through, built and measured once each."""

from functools import cache

from tests.cost_oracles import broadcast_cost
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.families import (
    FAMILIES,
    AffinePlane,
    Arrangement,
    BiRing,
    Cayley,
    CayleyAlternating,
    CayleyLinear,
    CayleyMatrix,
    CayleyMetacyclic,
    CayleyNested,
    CayleyPolycyclic,
    CayleySymmetric,
    ChordalRing,
    Circulant,
    CollinearityGraph,
    Complete,
    CompleteBipartite,
    CompleteMultipartite,
    Crown,
    CubeConnectedCycles,
    DeBruijn,
    Digraph,
    DirectedCirculant,
    DoubledOdd,
    FlagGraph,
    FoldedCube,
    GeneralizedDeBruijn,
    GeneralizedDeBruijnRewired,
    GeneralizedHexagon,
    GeneralizedKautz,
    GeneralizedKautzRewired,
    GeneralizedQuadrangle,
    Graph,
    HalvedCube,
    Hypercube,
    Johnson,
    Kautz,
    Kneser,
    Lift,
    ModifiedDeBruijn,
    MooreLineGraph,
    NonincidenceGraph,
    Odd,
    Paley,
    Pancake,
    PolarFly,
    ProjectivePlane,
    RandomRegular,
    RandomRegularTwoWay,
    SlimFly,
    Torus,
    TwistedHypercube,
    TwistedTorus,
    UniRing,
)
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import Base, Recipe
from topoloom.synth.topology.topology import Topology

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
    UniRing(40),
    BiRing(31),
    BiRing(24, 3),
    Complete(10),
    CompleteBipartite(8),
    Circulant(12, 2, 3),
    Circulant(30, 1, 15),
    Circulant(4, 1, 2, 2),
    Circulant(7, 1, 1, 2, 3),
    Circulant(30, 2, 5, 9),
    Circulant(64, 6, 7),
    Circulant(100, 7, 8),
    DirectedCirculant(10, 1, 2, 3, 4, 5, 6, 7, 8),
    DirectedCirculant(21, 3, 7),
    Torus(3, 4, 5),
    Torus(2, 2, 7),
    Torus(6, 2),
    Torus(9),
    Hypercube(6),
    Kautz(2, 5),
    Kautz(3, 3),
    Kautz(4, 2),
    GeneralizedKautz(2, 47),
    GeneralizedKautz(4, 50),
    GeneralizedKautz(5, 30),
    GeneralizedKautz(9, 4),
    GeneralizedKautzRewired(2, 46),
    GeneralizedKautzRewired(4, 64),
    GeneralizedKautzRewired(8, 3),
    DeBruijn(2, 5),
    DeBruijn(4, 2),
    ModifiedDeBruijn(2, 5),
    ModifiedDeBruijn(3, 3),
    Cayley(8, 3, 4, 9, 10, 18, 19),
    Cayley(5, 4, 2, 1, 4, 5),
    CayleyMetacyclic(8, 7, 2, 4, 1, 8),
    CayleyMatrix(2, 2, 3, 0, 1, 1, 1, 1, 4),
    CayleyNested(7, 3, 2, 2, 6, 1, 1, 7, 21),
    CayleyPolycyclic(3, 2, 2, 3, 0, 1, 0, 2, 3, 1, 4),
    CayleyLinear(3, 1, 5, 7),
    CayleyAlternating(5, 1, 3, 20),
    CayleySymmetric(4, 1, 9),
    Lift(4, 1, 1, 2, 0, 3, 1, 0, 0, 2, 1, 1),
    Digraph(4, 1, 2, 2, 3, 3, 0, 0, 1),
    RandomRegular(31, 3, 1),
    RandomRegular(23, 2, 0, 6, 400),
    RandomRegular(7, 6, 0),
    RandomRegularTwoWay(22, 3, 2, 4, 100),
    RandomRegularTwoWay(8, 6, 5),
    GeneralizedDeBruijn(2, 47),
    GeneralizedDeBruijn(4, 50),
    GeneralizedDeBruijn(5, 30),
    GeneralizedDeBruijn(9, 4),
    GeneralizedDeBruijnRewired(3, 46),
    GeneralizedDeBruijnRewired(4, 60),
    GeneralizedDeBruijnRewired(8, 3),
    CompleteMultipartite(4, 3),
    Crown(7),
    Paley(25),
    Paley(17),
    Odd(4),
    DoubledOdd(3),
    DoubledOdd(4),
    Johnson(6, 2),
    Johnson(6, 3),
    Kneser(6, 2),
    Kneser(8, 3),
    Arrangement(4, 3),
    Arrangement(5, 3),
    Arrangement(5, 4),
    FoldedCube(6),
    FoldedCube(7),
    HalvedCube(5),
    ProjectivePlane(4),
    AffinePlane(5),
    NonincidenceGraph(3),
    GeneralizedQuadrangle(2),
    GeneralizedQuadrangle(3),
    GeneralizedHexagon(2),
    FlagGraph(3, 3),
    FlagGraph(4, 2),
    FlagGraph(6, 2),
    CollinearityGraph(4, 2),
    CollinearityGraph(6, 2),
    MooreLineGraph(3),
    SlimFly(3),
    SlimFly(4),
    SlimFly(5),
    PolarFly(4),
    PolarFly(5),
    TwistedTorus(8, 4, 4),
    TwistedTorus(7, 5, 2),
    TwistedHypercube(5),
    ChordalRing(50, 9),
    ChordalRing(30, 15),
    CubeConnectedCycles(3),
    CubeConnectedCycles(4),
    Pancake(4),
    Graph(3, 1, 4, 1),
    Graph(4, 1, 3, 2, 3, 2, 1, 2),
    Graph(3, 1, 0, 2, 2, 1, 0),
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
