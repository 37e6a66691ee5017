"""What the clauses of `benchmarks.two_steps` mean, and what the solver finds with them."""

from fractions import Fraction
from importlib.util import find_spec

import pytest

from benchmarks.two_steps import ask, odd_prime_cycles, permutation, uneven
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.search.frontier import frontier
from topoloom.synth.topology.topology import Topology

needs_solver = pytest.mark.skipif(find_spec("pysat") is None, reason="python-sat is not installed")


def _tails(graph: Topology) -> list[list[int]]:
    tails: list[list[int]] = [[] for _ in range(graph.node_count)]
    for tail, head in graph.to_networkx().edges():
        tails[graph.position[head]].append(graph.position[tail])
    return tails


@pytest.mark.parametrize(("nodes", "degree"), [(6, 2), (8, 3), (9, 3), (10, 3), (13, 4), (16, 5)])
def test_a_digraph_is_even_in_two_steps_where_no_node_is_uneven(nodes: int, degree: int) -> None:
    best = Cost(2, Fraction(nodes - 1, nodes))
    for seed in range(150):
        graph = random_regular(nodes, degree, seed=seed)
        assert (not list(uneven(_tails(graph)))) is (measure(graph) == best)


@pytest.mark.parametrize(("nodes", "degree"), [(8, 3), (10, 3), (13, 4), (14, 4), (15, 4), (21, 5)])
def test_no_node_is_uneven_where_a_frontier_is_even_in_two_steps(nodes: int, degree: int) -> None:
    best = Cost(2, Fraction(nodes - 1, nodes))
    found = [one for one in frontier(nodes, degree, schedule="bfb").points if one.cost == best]
    assert not list(uneven(_tails(build(found[0].recipe))))


def test_permutations_of_odd_prime_order_are_those_of_equal_cycles() -> None:
    assert len(list(odd_prime_cycles(16))) == 12
    assert permutation(6, [3, 2]) == [1, 2, 0, 4, 3, 5]


@needs_solver
@pytest.mark.parametrize(("nodes", "degree", "cycles"), [(8, 3, [1]), (15, 4, [3] * 5)])
def test_what_is_known_to_exist_is_found(nodes: int, degree: int, cycles: list[int]) -> None:
    assert ask(nodes, degree, cycles, 100, both=False).startswith("[[")


@needs_solver
def test_sixteen_hosts_have_no_symmetry_of_order_five() -> None:
    assert ask(16, 4, [5, 5, 5], 100, both=False) == "none"
