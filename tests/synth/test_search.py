"""The frontier is never empty, holds measured points only, and reaches what is published."""

import random
import re
import subprocess
import sys
from collections.abc import Iterable
from fractions import Fraction

import pytest

from tests.cost_oracles import broadcast_cost
from tests.label_oracles import proved_cost
from topoloom.synth.algebra.primes import divisors
from topoloom.synth.errors import ImpossibleRequest, InvalidRecipe
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.families import GeneralizedKautz
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import Recipe, parse
from topoloom.synth.search.candidates import Candidate, measured_unless_dominated, undominated
from topoloom.synth.search.frontier import Frontier, Point, frontier
from topoloom.synth.slack import SlackSchedule, check_slack_schedule, slack_schedule
from topoloom.synth.topology.topology import Topology

UNI, BI = Links.UNIDIRECTIONAL, Links.BIDIRECTIONAL

# Steps and bandwidth known for directed links before this program (arXiv:2202.03356, and
# its rules applied to its bases); each must be matched or beaten.
PUBLISHED = [
    (12, 4, [(2, Fraction(11, 12))]),
    (16, 2, [(4, Fraction(1)), (5, Fraction(15, 16))]),
    (32, 4, [(3, Fraction(1)), (4, Fraction(31, 32))]),
    (64, 4, [(3, Fraction(21, 16)), (4, Fraction(1)), (6, Fraction(63, 64))]),
    (128, 4, [(4, Fraction(33, 32)), (5, Fraction(1)), (8, Fraction(127, 128))]),
    (256, 4, [(4, Fraction(85, 64)), (5, Fraction(65, 64)), (7, Fraction(1))]),
    (512, 4, [(5, Fraction(133, 128)), (6, Fraction(129, 128)), (9, Fraction(1))]),
    (1000, 4, [(5, Fraction(333, 250)), (12, Fraction(1)), (19, Fraction(999, 1000))]),
    (
        1024,
        4,
        [
            (5, Fraction(341, 256)),
            (6, Fraction(261, 256)),
            (8, Fraction(257, 256)),
            (11, Fraction(1)),
            (20, Fraction(1023, 1024)),
        ],
    ),
    (1024, 2, [(10, Fraction(1123, 1000)), (62, Fraction(1023, 1024))]),
]

# Reached by a minute of random search each before there was an atlas: to be met or beaten
# on the graph and on its transpose.
FLOOR = [
    (16, 4, UNI, [(2, Fraction(1)), (3, Fraction(15, 16))]),
    (32, 4, UNI, [(3, Fraction(31, 32))]),
    (64, 4, UNI, [(3, Fraction(17, 16)), (4, Fraction(63, 64))]),
    (128, 4, UNI, [(4, Fraction(127, 128))]),
    (256, 4, UNI, [(4, Fraction(69, 64)), (5, Fraction(255, 256))]),
    (512, 4, UNI, [(5, Fraction(129, 128)), (6, Fraction(511, 512))]),
    (1000, 4, UNI, [(6, Fraction(999, 1000))]),
    (1024, 4, UNI, [(5, Fraction(277, 256)), (6, Fraction(1023, 1024))]),
    (2048, 4, UNI, [(6, Fraction(517, 512)), (7, Fraction(2047, 2048))]),
    (1024, 8, UNI, [(5, Fraction(1023, 1024))]),
    (1024, 2, UNI, [(16, Fraction(1023, 1024))]),
    (32, 4, BI, [(4, Fraction(31, 32))]),
    (64, 4, BI, [(5, Fraction(63, 64))]),
    (128, 4, BI, [(6, Fraction(127, 128))]),
    (256, 4, BI, [(7, Fraction(255, 256))]),
    (1024, 4, BI, [(8, Fraction(1023, 1024))]),
]


def no_worse(one: Point, other: Point) -> bool:
    pairs = ((one.cost, other.cost), (one.transpose, other.transpose))
    return all(a.steps <= b.steps and a.bandwidth <= b.bandwidth for a, b in pairs)


def check(found: Frontier, links: Links, parallel: bool = False) -> None:
    """Everything a frontier promises that needs no measuring."""
    assert found.points
    steps = [point.steps for point in found.points]
    assert steps == sorted(steps)
    for point in found.points:
        assert size(point.recipe) == (found.nodes, found.degree)
        assert links is UNI or traits(point.recipe).bidirectional
        assert parallel or not traits(point.recipe).parallel
        assert found.bounds.steps <= point.cost.steps
        assert found.bounds.bandwidth <= point.cost.bandwidth
        assert not any(no_worse(other, point) for other in found.points if other is not point)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("degree", range(1, 17))
def test_small_sizes_with_a_graph_have_a_frontier(degree: int, links: Links) -> None:
    # Above 8 nodes every number of nodes with a third of the degrees; the exhaustive test has all.
    sizes = [n for n in range(degree + 1, 33) if n <= 8 or (n + degree) % 3 == 0]
    require_frontiers(sizes, degree, links)


@pytest.mark.exhaustive
@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("degree", range(1, 17))
def test_every_small_size_with_a_graph_has_a_frontier(degree: int, links: Links) -> None:
    require_frontiers(range(degree + 1, 33), degree, links)


def require_frontiers(sizes: Iterable[int], degree: int, links: Links) -> None:
    """Check the frontier of every size, or that it is refused where no graph exists."""
    for nodes in sizes:
        exists = links is UNI or (nodes * degree % 2 == 0 and (degree > 1 or nodes == 2))
        if exists:
            check(frontier(nodes, degree, links), links)
        else:
            with pytest.raises(ImpossibleRequest):
                frontier(nodes, degree, links)


@pytest.mark.slow
@pytest.mark.parametrize("links", Links)
def test_every_degree_has_a_frontier_at_random_larger_sizes(links: Links) -> None:
    rng = random.Random(7)
    for _ in range(12):
        nodes, degree = 2 * rng.randint(20, 600), rng.randint(2, 16)
        check(frontier(nodes, degree, links), links)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("nodes", [2, 3, 5, 8])
def test_with_parallel_links_degrees_beyond_the_nodes_are_served(nodes: int, links: Links) -> None:
    for degree in range(nodes, 17):
        if links is UNI or nodes * degree % 2 == 0:
            check(frontier(nodes, degree, links, parallel_links=True), links, parallel=True)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize(
    ("nodes", "degree"),
    [(9, 2), (12, 4), (20, 3), (27, 4), (31, 2), (36, 6), (53, 4), (62, 3), (64, 4)],
)
def test_every_number_is_what_the_slow_measurement_says(
    nodes: int, degree: int, links: Links
) -> None:
    for point in frontier(nodes, degree, links).points:
        assert slowly(point) == (point.cost, point.transpose)


def slowly(point: Point) -> tuple[Cost, Cost]:
    """Return the costs of both directions by code that shares nothing with the search."""
    topology = build(point.recipe)
    both = topology, topology.transpose()
    if point.within is None:
        return broadcast_cost(both[0]), broadcast_cost(both[1])
    gather, scatter = (proved(graph, slack_schedule(graph, point.within)) for graph in both)
    return gather, scatter


def proved(graph: Topology, found: SlackSchedule) -> Cost:
    (by_node,) = found.unfolded()
    ends = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    return Cost(*proved_cost(ends, by_node.T.tolist(), found.loads))


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "degree", "rows"), PUBLISHED)
@pytest.mark.one_in(3)
def test_the_published_frontier_is_reached(nodes, degree, rows) -> None:
    points = frontier(nodes, degree).points
    for steps, bandwidth in rows:
        assert any(
            cost.steps <= steps and cost.bandwidth <= bandwidth
            for cost in (point.cost for point in points)
        ), (steps, bandwidth)


def checked(point: Point) -> tuple[Cost, Cost]:
    """Return the costs of both directions, over all destinations."""
    topology = build(point.recipe)
    if point.within is None:
        return measure_both(topology)
    turned = topology.transpose()
    return (
        check_slack_schedule(topology, slack_schedule(topology, point.within)),
        check_slack_schedule(turned, slack_schedule(turned, point.within)),
    )


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("nodes", "degree", "links", "rows"), FLOOR)
def test_what_random_search_reaches_in_a_minute_is_reached_over_all_destinations(
    nodes, degree, links, rows
) -> None:
    found = [checked(point) for point in frontier(nodes, degree, links).points]
    for steps, bandwidth in rows:
        assert any(
            all(cost.steps <= steps and cost.bandwidth <= bandwidth for cost in both)
            for both in found
        ), (steps, bandwidth)


def test_twelve_hosts_of_four_ports_meet_both_bounds() -> None:
    found = frontier(12, 4)
    assert [point.cost for point in found.points] == [found.bounds] == [Cost(2, Fraction(11, 12))]


def test_bounds_of_bidirectional_links_are_their_own() -> None:
    assert frontier(64, 4, BI).bounds == lower_bound(64, 4, BI) == Cost(4, Fraction(63, 64))
    assert frontier(64, 4, UNI).bounds == Cost(3, Fraction(63, 64))


def test_the_same_question_gets_the_same_answer() -> None:
    assert frontier(96, 6) == frontier(96, 6)


@pytest.mark.parametrize(
    ("nodes", "degree", "links", "parallel", "field"),
    [
        (1, 1, UNI, False, "nodes"),
        (0, 1, UNI, False, "nodes"),
        (-4, 2, UNI, False, "nodes"),
        (20_000, 2, UNI, False, "nodes"),
        (8, 0, UNI, False, "degree"),
        (8, -1, UNI, False, "degree"),
        (8, 8, UNI, False, "degree"),
        (100, 65, UNI, False, "degree"),
        (9, 3, BI, False, "degree"),
        (4, 1, BI, False, "degree"),
        (3, 5, BI, True, "degree"),
    ],
)
def test_impossible_requests_name_the_field(nodes, degree, links, parallel, field) -> None:
    with pytest.raises(ImpossibleRequest) as caught:
        frontier(nodes, degree, links, parallel_links=parallel)
    assert caught.value.field == field


def families_in(recipe: Recipe) -> set[str]:
    return set(re.findall(r"[A-Za-z]+(?=\(\d|\(\))", str(recipe))) - {
        "LineGraph", "Power", "DegreeExpansion"
    }  # fmt: skip


@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize(("nodes", "degree"), [(24, 4), (64, 4), (60, 2)])
def test_only_wanted_topologies_are_returned(nodes: int, degree: int, links: Links) -> None:
    free = frontier(nodes, degree, links)
    named = {"Circulant", "BiRing", "Torus"}
    chosen = frontier(nodes, degree, links, families=named)
    check(chosen, links)
    assert all(families_in(point.recipe) <= named for point in chosen.points)
    alike = frontier(nodes, degree, links, vertex_transitive=True)
    check(alike, links)
    assert all(traits(point.recipe).vertex_transitive for point in alike.points)
    for limited in (chosen, alike):
        for point in limited.points:
            assert any(no_worse(other, point) for other in free.points)


def test_line_graphs_whose_nodes_look_alike_are_found_where_only_such_are_wanted() -> None:
    point, *_ = frontier(20, 4, vertex_transitive=True).points
    assert (str(point.recipe), point.cost) == ("Kautz(4, 2)", Cost(2, Fraction(1)))
    found = frontier(30, 3, vertex_transitive=True).points
    assert "LineGraph(1, Odd(3))" in {str(point.recipe) for point in found}


def test_steps_beyond_the_limit_are_left_out() -> None:
    free = frontier(256, 4)
    most = free.points[0].cost.steps
    short = frontier(256, 4, max_steps=most)
    assert short.points == tuple(
        p for p in free.points if max(p.cost.steps, p.transpose.steps) <= most
    )


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"max_steps": 3}, "max_steps"),
        ({"max_steps": 5, "families": ["Circulant"]}, "max_steps"),
        ({"families": ["Hypercube"]}, "families"),
        ({"families": []}, "families"),
        ({"families": ["GeneralizedKautz"], "vertex_transitive": True}, "families"),
    ],
)
def test_limits_that_leave_nothing_are_refused_by_name(limits, field) -> None:
    with pytest.raises(ImpossibleRequest) as caught:
        frontier(257, 4, **limits)
    assert caught.value.field == field
    with pytest.raises(InvalidRecipe, match="Rhombus"):
        frontier(257, 4, families=["Rhombus"])


@pytest.mark.parametrize(
    ("steps", "bandwidth", "back", "status", "gap"),
    [
        (3, "7/8", (3, "7/8"), "optimal", Cost(0, Fraction(0))),
        (3, "1", (3, "7/8"), "steps-optimal", Cost(0, Fraction(1, 7))),
        (3, "7/8", (4, "7/8"), "bandwidth-optimal", Cost(1, Fraction(0))),
        (5, "1", (3, "7/8"), "best-known", Cost(2, Fraction(1, 7))),
    ],
)
def test_optimal_is_said_only_where_bounds_are_met_both_ways(
    steps, bandwidth, back, status, gap
) -> None:
    turned = Cost(back[0], Fraction(back[1]))
    point = Point(parse("Diamond()"), Cost(steps, Fraction(bandwidth)), turned)
    bounds = lower_bound(8, 2)
    assert point.status(bounds) == status
    assert point.gap(bounds) == gap


def candidate(text: str, steps: int, bandwidth: str, turned: tuple[int, str] | None = None):
    cost = Cost(steps, Fraction(bandwidth))
    other = Cost(turned[0], Fraction(turned[1])) if turned else cost
    return Candidate(parse(text), cost, other)


def test_a_point_better_on_the_transpose_only_is_kept() -> None:
    one = candidate("UniRing(4)", 3, "3/4", turned=(4, "1"))
    two = candidate("UniRing(5)", 4, "1", turned=(3, "3/4"))
    assert set(undominated([one, two])) == {one, two}


def test_of_equal_points_the_simplest_recipe_is_kept() -> None:
    plain = candidate("GeneralizedKautz(4, 64)", 3, "21/16")
    made = candidate("LineGraph(2, Complete(5))", 3, "21/16")
    assert undominated([made, plain]) == (plain,)


def test_a_graph_that_cannot_compete_is_not_measured_in_full() -> None:
    strong = Candidate(parse("Complete(9)"), *[Cost(1, Fraction(1, 9))] * 2)
    assert measured_unless_dominated(GeneralizedKautz(2, 61), [strong]) == ()
    (alone,) = measured_unless_dominated(GeneralizedKautz(2, 61), [])
    assert alone.costs == measure_both(build(parse("GeneralizedKautz(2, 61)")))


def test_divisors_are_complete() -> None:
    for number in range(1, 200):
        assert divisors(number) == [d for d in range(2, number) if number % d == 0]


@pytest.mark.slow
def test_a_frontier_loads_nothing_that_only_discovery_and_schedules_need():
    code = (
        "import sys\nfrom topoloom.synth.search.frontier import frontier\nfrontier(47, 4)\n"
        "heavy = {'scipy.sparse', 'scipy.optimize', 'igraph', 'matplotlib', 'schedules'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
