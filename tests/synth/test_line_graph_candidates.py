"""Where nothing good is known of a size, line graphs of what labels reach on fewer nodes are."""

from fractions import Fraction

import pytest

from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import LineGraph, parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.line_graph_candidates import target_steps, with_line_graphs
from topoloom.synth.search.recipe_enumeration import Constraints
from topoloom.synth.slack import check_slack_schedule, slack_schedule

# Hosts, ports, and times the bandwidth bound that nothing was below one step above the other.
BEFORE = [(308, 3, "1.27"), (350, 3, "1.14"), (803, 3, "1.11"), (821, 4, "1.10"), (785, 4, "1.05")]


def candidate(text: str) -> Candidate:
    recipe = parse(text)
    return Candidate(recipe, *measure_both(build(recipe)), measured=True)


def asked(found, nodes: int, degree: int, constraints: Constraints = Constraints()):  # noqa: B008
    sizes: list[tuple[int, int]] = []

    def few_step_candidates(fewer: int, most: int) -> tuple[Candidate, ...]:
        sizes.append((fewer, most))
        return ()

    assert (
        with_line_graphs(
            found, constraints, nodes, degree, target_steps(nodes, degree), few_step_candidates
        )
        == found
    )
    return sizes


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(("nodes", "degree", "ratio"), BEFORE)
def test_one_step_above_the_bound_frontiers_are_nearer_the_bandwidth_bound(
    nodes: int, degree: int, ratio: str
) -> None:
    found = frontier(nodes, degree)
    near = [one for one in found.points if one.steps <= found.bounds.steps + 1]
    best = min(near, key=lambda one: max(one.cost.bandwidth, one.transpose.bandwidth))
    graph = build(best.recipe)
    assert (graph.node_count, graph.degree, graph.is_regular) == (nodes, degree, True)
    assert best.within is not None
    for some, cost in ((graph, best.cost), (graph.transpose(), best.transpose)):
        assert check_slack_schedule(some, slack_schedule(some, best.within)) == cost
        assert cost.bandwidth < found.bounds.bandwidth * Fraction(ratio)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree"),
    [(4100, 4), (4200, 3), (5238, 6), pytest.param(6232, 4, marks=pytest.mark.exhaustive)],
)
def test_thousands_of_nodes_are_nearly_even_one_step_above_the_bound(
    nodes: int, degree: int
) -> None:
    found = frontier(nodes, degree)
    near = [one for one in found.points if one.steps <= found.bounds.steps + 1]
    best = min(near, key=lambda one: max(one.cost.bandwidth, one.transpose.bandwidth))
    graph = build(best.recipe)
    if best.within is not None:
        assert check_slack_schedule(graph, slack_schedule(graph, best.within)) == best.cost
    assert best.gap(found.bounds).bandwidth < Fraction(1, 50)


def test_numbers_of_nodes_near_a_multiple_of_the_degree_are_asked_the_nearer_first() -> None:
    assert asked((), 300, 3) == [(100, target_steps(300, 3) - 1)]
    assert [fewer for fewer, _ in asked((), 301, 3)] == [100, 101]
    assert [fewer for fewer, _ in asked((), 302, 3)] == [101, 100]
    assert [fewer for fewer, _ in asked((), 402, 4)] == [100, 101]
    assert [fewer for fewer, _ in asked((), 403, 4)] == [101, 100]


def test_nothing_is_asked_where_it_cannot_help() -> None:
    good = (candidate("Cayley(11, 3, 5, 9, 20, 33, 51)"),)
    assert asked(good, 55, 4) == []
    assert asked((), 55, 4) != []
    assert asked((), 301, 3, Constraints(vertex_transitive=True)) == []
    assert asked((), 301, 3, Constraints(bidirectional=True)) == []
    assert asked((), 301, 3, Constraints(families=frozenset({"Kautz"}))) == []
    assert asked((), 301, 3, Constraints(bases=(parse("Kautz(3, 2)"),))) != []
    assert asked((), 1000, 9) == []
    assert asked((), 4097, 4) != []
    assert asked((), 8193, 4) == []
    assert asked((), 8196, 4) == []
    assert asked((), 8192, 4) != []
    assert asked((), 2049, 4) != []
    assert asked((), 2052, 4) != []
    assert asked((), 17, 3) == []


@pytest.mark.parametrize(("nodes", "degree"), [(300, 3), (120, 4), (200, 2), (210, 5)])
def test_line_graphs_of_what_is_there_keep_the_theorem(nodes: int, degree: int) -> None:
    fewer = nodes // degree
    there = [
        Candidate(one.recipe, one.cost, one.transpose, True, one.within)
        for one in frontier(fewer, degree).points
    ]
    most = target_steps(nodes, degree)
    found = with_line_graphs((), Constraints(), nodes, degree, most, lambda _, steps: [
        one for one in there if one.steps <= steps
    ])  # fmt: skip
    best = min((_worse(one) for one in there if one.steps < most), key=lambda c: c.bandwidth)
    made = [one for one in found if isinstance(one.recipe, LineGraph)]
    assert all(size(one.recipe) == (nodes, degree) for one in made)
    assert min(_worse(one).bandwidth for one in made) <= best.bandwidth + Fraction(1, fewer)


def _worse(one: Candidate) -> Cost:
    return Cost(one.steps, max(cost.bandwidth for cost in one.costs))


def test_enough_steps_are_one_more_than_the_bound_and_two_with_two_ports() -> None:
    for nodes, degree in ((100, 3), (1000, 4), (50, 8)):
        assert (
            target_steps(nodes, degree)
            == lower_bound(nodes, degree, Links.UNIDIRECTIONAL).steps + 1
        )
    assert target_steps(100, 2) == lower_bound(100, 2, Links.UNIDIRECTIONAL).steps + 2


def test_who_brings_a_base_loses_nothing() -> None:
    alone = frontier(308, 3).points
    brought = frontier(308, 3, bases=[parse("RandomRegular(77, 3, 1)")]).points
    assert [one.recipe for one in brought] == [one.recipe for one in alone]
