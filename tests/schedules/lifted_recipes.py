"""Recipes of every operator on many bases, and their schedules, checked."""

from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.steps import lift
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.claims import claim, claim_transpose

LINE_GRAPHS = [
    "LineGraph(1, Complete(2))",
    "LineGraph(1, UniRing(5))",
    "LineGraph(2, UniRing(3, 2))",
    "LineGraph(2, Kautz(2, 2))",
    "LineGraph(3, CompleteBipartite(2))",
    "LineGraph(1, BiRing(3, 2))",
    "LineGraph(2, Circulant(7, 2))",
    "LineGraph(1, Circulant(12, 2, 3))",
    "LineGraph(1, GeneralizedKautz(3, 20))",
]
DEGREE_EXPANSIONS = [
    "DegreeExpansion(1, BiRing(5))",
    "DegreeExpansion(2, UniRing(3))",
    "DegreeExpansion(3, UniRing(4))",
    "DegreeExpansion(3, BiRing(5))",
    "DegreeExpansion(4, Complete(3))",
    "DegreeExpansion(2, Kautz(2, 2))",
    "DegreeExpansion(2, UniRing(4, 2))",
    "DegreeExpansion(3, DeBruijn(2, 3))",
    "DegreeExpansion(2, GeneralizedKautz(3, 10))",
]
PRODUCTS = [
    "Power(1, BiRing(5))",
    "Power(2, BiRing(5))",
    "Power(3, UniRing(3))",
    "Power(4, Complete(2))",
    "Power(2, UniRing(4, 2))",
    "Power(2, DeBruijn(2, 3))",
    "Power(2, Kautz(2, 2))",
    "Power(3, GeneralizedKautz(2, 5))",
    "Product(UniRing(4), UniRing(8))",
    "Product(UniRing(3), BiRing(4))",
    "Product(Complete(4), Diamond(), UniRing(2))",
    "Product(Kautz(2, 2), BiRing(4))",
    "Product(DeBruijn(2, 3), Complete(3))",
    "Product(UniRing(4, 2), BiRing(5))",
    "Product(Kautz(2, 2), Kautz(2, 2))",
]
BIDIRECTED = [
    "Bidirected(UniRing(6))",
    "Bidirected(BiRing(6))",
    "Bidirected(UniRing(3, 2))",
    "Bidirected(Kautz(2, 3))",
    "Bidirected(GeneralizedKautz(2, 17))",
    "Bidirected(DeBruijn(2, 3))",
    "Bidirected(Cayley(5, 2, 4, 5, 16))",
]
NESTED = [
    "LineGraph(2, LineGraph(1, Complete(4)))",
    "LineGraph(1, Power(2, Complete(3)))",
    "LineGraph(1, Power(2, Kautz(2, 2)))",
    "LineGraph(1, DegreeExpansion(2, UniRing(2)))",
    "LineGraph(1, Bidirected(UniRing(5)))",
    "LineGraph(1, Product(BiRing(3), UniRing(4)))",
    "DegreeExpansion(2, LineGraph(1, Complete(3)))",
    "DegreeExpansion(2, Power(2, Complete(3)))",
    "DegreeExpansion(2, Power(2, DeBruijn(2, 2)))",
    "DegreeExpansion(2, Bidirected(GeneralizedKautzRewired(2, 10)))",
    "DegreeExpansion(2, DegreeExpansion(2, BiRing(3)))",
    "Power(2, LineGraph(1, Diamond()))",
    "Power(2, DegreeExpansion(2, UniRing(3)))",
    "Power(2, Power(2, BiRing(3)))",
    "Power(2, Product(BiRing(3), UniRing(2)))",
    "Power(2, Bidirected(Cayley(5, 2, 4, 5, 16)))",
    "Product(Power(2, UniRing(3)), BiRing(4))",
    "Product(Product(UniRing(2), BiRing(3)), DegreeExpansion(2, UniRing(2)))",
    "Product(LineGraph(1, Power(2, Kautz(2, 2))), BiRing(3))",
    "Product(UniRing(2), LineGraph(1, UniRing(2)))",
    "Product(Power(2, DeBruijn(2, 2)), BiRing(3))",
    "Bidirected(LineGraph(2, Diamond()))",
    "Bidirected(Power(2, UniRing(3)))",
    "Bidirected(Product(UniRing(3), BiRing(4)))",
]
RECIPES = [*LINE_GRAPHS, *DEGREE_EXPANSIONS, *PRODUCTS, *BIDIRECTED, *NESTED]


def lifted(recipe, transposed=False):
    """Return the lifted schedule, what it runs on, and its cost; the checker finds no fault."""
    topology = build(recipe)
    topology = topology.transpose() if transposed else topology
    schedule = lift.allgather(recipe, transposed=transposed)
    assert schedule.collective is Collective.ALLGATHER
    assert violations(schedule, topology) == []
    return schedule, topology, step_cost(schedule, topology)


def require_claimed(recipe, transposed, cost):
    claimed = (claim_transpose if transposed else claim)(recipe)
    assert claimed is None or claimed.covers(cost), (cost, claimed)
