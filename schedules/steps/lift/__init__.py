"""Schedules of expanded topologies, lifted from schedules of the smaller topologies.

Every operator of `synth.recipes.expansions` has a module here that turns an allgather on the
operand into an allgather on the result, at the cost its theorem states.  Bases run breadth-first
broadcast (`schedules.steps.bfb`) or another given allgather.  An inner part of a recipe runs
breadth-first broadcast where that costs less than the lifted schedule.

A lifted schedule costs exactly `synth.recipes.claims.claim` of the recipe where the claim is
exact, and at most the claim elsewhere.  Lifting needs no search of the large graph.  On some graphs
a lifted schedule costs less than breadth-first broadcast
(see `schedules.steps.lift.cartesian_product.power`).
"""

from collections.abc import Callable
from typing import TypeAlias, cast

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps import bfb
from topoloom.schedules.steps.lift import (
    bidirected,
    cartesian_product,
    degree_expansion,
    line_graph,
)
from topoloom.schedules.steps.send_arrays import arrivals, normalized_schedule, require_send_limit
from topoloom.schedules.verify import step_cost
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.evaluation.measure import MAX_DEGREE, measure
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.recipe import (
    Altered,
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)
from topoloom.synth.topology.topology import Topology

__all__ = ["Gather", "allgather", "allgather_on", "claim_on"]


Gather: TypeAlias = Callable[[Topology], StepSchedule]
"""A generator of allgathers."""


def allgather(
    recipe: Recipe, *, transposed: bool = False, gather: Gather = bfb.allgather
) -> StepSchedule:
    """Return the allgather on the topology of a recipe, lifted from the recipe's bases.

    Args:
        recipe: Its topology is strongly connected.
        transposed: Lift to the transposed topology; the reverse of the result is a reduce-scatter.
        gather: Allgather generator for every base, such as `bfb.allgather` or `slack.allgather`.

    Returns:
        Runs on ``build(recipe)`` or its transpose; sends are ordered by step, target,
        shard and first chunk.

    Raises:
        InvalidRecipe, OutOfDomain: The recipe cannot be built.
        NoSchedule: `bfb.allgather` refuses a base: too many links enter a node.
        TooLarge: More sends or chunks than `bfb.MAX_SENDS` and `bfb.MAX_CHUNKS`.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.

    O(sends) array operations; each piece of a split shard is one send.

    *Other allgathers than breadth-first broadcast.*  The proofs of the operators hold; let T be
    the steps of the base and T_B its bandwidth.

    - Line graph: T + 1 and at most T_B + 1/N, by induction over the sends.
    - Cartesian product: the sum of the steps, and the optimum if all factors reach theirs.  All
      chunks of a shard must arrive together, as in slack schedules with one piece per shard;
      other factors run breadth-first broadcast instead.
    - Cartesian power by dimensions: any base.
    - Degree expansion by n: T_B + (n - 1)/(nN), since the copies add the same load to every link
      of one step.  That step follows the one after which all neighbors hold the shard, so there
      may be T + 1 steps.
    - Bidirected: d/N times the sum over steps of the larger load of the two directions.  This is
      T_B only where the loads agree step by step; slack schedules of the whole graph are mostly
      better.

    References:
        Zhao et al., arXiv:2202.03356: line graph, degree and Cartesian expansion.

    >>> from topoloom.schedules.verify import step_cost
    >>> from topoloom.synth.recipes.claims import claim
    >>> from topoloom.synth.recipes.recipe import parse
    >>> recipe = parse("LineGraph(2, CompleteBipartite(4))")
    >>> step_cost(allgather(recipe), build(recipe)), claim(recipe).exact
    (Cost(steps=4, bandwidth=Fraction(33, 32)), True)
    >>> claim(recipe).cost
    Cost(steps=4, bandwidth=Fraction(33, 32))
    """
    nodes, _ = size(recipe)
    require_send_limit(nodes * (nodes - 1))
    _built(recipe, transposed).require_connected()
    return normalized_schedule(_lifted(recipe, transposed, gather), _built(recipe, transposed))


def allgather_on(topology: Topology) -> StepSchedule:
    """Return the lifted allgather on a topology that carries its recipe.

    `build` attaches the recipe, and a transpose keeps it.  The recipe must produce this topology
    or its transpose.

    Raises:
        NoSchedule: The topology carries no recipe, or the recipe of another topology.
        TooLarge, Unreachable, InvalidTopology: As `allgather`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> ring = build(parse("LineGraph(2, UniRing(5))"))
    >>> len(allgather_on(ring).steps), len(allgather_on(ring.transpose()).steps)
    (4, 4)
    >>> allgather_on(ring.with_recipe(None))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /algorithm: lifted needs a topology that \
carries its recipe
    """
    recipe, transposed = _recipe_of(topology)
    return allgather(recipe, transposed=transposed)


def claim_on(topology: Topology) -> Claim | None:
    """Return the claimed cost of breadth-first broadcast on the topology.

    The lifted schedule costs as much where the claim is exact, and at most as much elsewhere.
    Domain and errors as `allgather_on`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> claim_on(build(parse("LineGraph(1, Complete(4))")))
    Claim(steps=2, bandwidth=Fraction(1, 1), exact=True)
    """
    recipe, transposed = _recipe_of(topology)
    return claim_transpose(recipe) if transposed else claim(recipe)


def _recipe_of(topology: Topology) -> tuple[Recipe, bool]:
    """Return the recipe of a topology, and whether the topology is its transpose."""
    recipe = cast("Recipe | None", topology.recipe)
    if recipe is None:
        raise NoSchedule("/algorithm", "lifted needs a topology that carries its recipe")
    try:
        fits = size(recipe) == (topology.node_count, topology.degree)
        forward = build(recipe) if fits else None
    except SynthError as error:
        raise NoSchedule("/algorithm", f"lifted needs a recipe that builds: {error}") from None
    if forward == topology:
        return recipe, False
    if forward is not None and forward.transpose() == topology:
        return recipe, True
    raise NoSchedule("/algorithm", "lifted needs the topology that its recipe makes")


def _built(recipe: Recipe, turned: bool) -> Topology:
    topology = build(recipe)
    return topology.transpose() if turned else topology


def _lifted(recipe: Recipe, turned: bool, gather: Gather) -> StepSchedule:
    """Return an allgather on the topology of a recipe, or if ``turned`` on its transpose."""
    match recipe:
        case Base() | Altered():
            return gather(_built(recipe, turned))
        case LineGraph(times, of):
            below = LineGraph(times - 1, of) if times > 1 else of
            return line_graph.lift(_part(below, turned, gather), build(below), turned)
        case DegreeExpansion(1, of) | Power(1, of):
            return _lifted(of, turned, gather)
        case DegreeExpansion(factor, of):
            return degree_expansion.lift(_part(of, turned, gather), _built(of, turned), factor)
        case Power(times, of):
            return _lifted_product(_factors(of) * times, turned, gather)
        case Product(factors):
            parts = [part for of in factors for part in _factors(of)]
            return _lifted_product(parts, turned, gather)
        case Bidirected(of):
            whole = build(recipe)
            if whole == build(of):
                return _lifted(of, turned, gather)
            return bidirected.lift(_part(of, False, gather), _part(of, True, gather), whole)


def _part(recipe: Recipe, turned: bool, gather: Gather) -> StepSchedule:
    """Return the schedule to lift: as `_lifted`, or breadth-first broadcast if that is better.

    Better means less in steps or bandwidth and more in neither.
    """
    schedule, graph = _lifted(recipe, turned, gather), _built(recipe, turned)
    if isinstance(recipe, Base | Altered) or graph.in_degrees.max() > MAX_DEGREE:
        return schedule
    found, measured = step_cost(schedule, graph), measure(graph)
    no_worse = measured.steps <= found.steps and measured.bandwidth <= found.bandwidth
    return bfb.allgather(graph) if no_worse and measured != found else schedule


def _factors(recipe: Recipe) -> list[Recipe]:
    """Return the recipe's factors if it is a product at the optimum, else the recipe itself.

    Division among all dimensions at once cuts shards into coarser chunks.
    """
    match recipe:
        case Power(times, of) if claim(recipe) is not None:
            return _factors(of) * times
        case Product(factors) if claim(recipe) is not None:
            return [part for of in factors for part in _factors(of)]
        case _:
            return [recipe]


def _lifted_product(factors: list[Recipe], turned: bool, gather: Gather) -> StepSchedule:
    parts = {of: (_built(of, turned), _part(of, turned, gather)) for of in dict.fromkeys(factors)}
    if len(parts) == 1:
        graph, schedule = parts[factors[0]]
        if not _optimal(schedule, graph):
            return cartesian_product.power(schedule, len(factors))
    for of, (graph, schedule) in parts.items():
        if not arrivals(schedule).together:
            parts[of] = graph, bfb.allgather(graph)
    return cartesian_product.product([parts[of] for of in factors])


def _optimal(schedule: StepSchedule, graph: Topology) -> bool:
    return step_cost(schedule, graph).bandwidth == optimal_bandwidth(graph.node_count)
