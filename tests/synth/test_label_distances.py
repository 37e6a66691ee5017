"""Distances of labels: what a search from every root and all walks on from there say."""

from typing import Any

import numpy as np
import pytest

from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.problem import slack_problem
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology


def problem_without_symmetry(graph: Topology, pieces: int = 1) -> Any:
    return slack_problem(graph, np.arange(graph.node_count)[None], pieces)


def slow(problem: Any) -> tuple[Any, Any]:
    """Return distances and heights: relaxed along every link until nothing changes."""
    tail = problem.tail
    nodes, rows = len(tail), len(problem.roots)
    links = [(int(v), w) for w in range(nodes) for v in tail[w] if v >= 0]
    distance = np.full((nodes, rows), nodes)
    distance[problem.roots, np.arange(rows)] = 0
    height = np.zeros((nodes, rows), int)
    for some, changes in ((distance, _nearer), (height, _higher)):
        while True:
            before = some.copy()
            for v, w in links:
                changes(distance, height, v, w)
            if (before == some).all():
                break
    return distance, height


def _nearer(distance: Any, height: Any, v: int, w: int) -> None:
    np.minimum(distance[w], distance[v] + 1, out=distance[w])


def _higher(distance: Any, height: Any, v: int, w: int) -> None:
    on = distance[w] == distance[v] + 1
    height[v] = np.where(on, np.maximum(height[v], height[w] + 1), height[v])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(12))
def test_distances_and_heights_are_those_of_walks_at_random_sizes(seed):
    draw = np.random.default_rng(seed)
    nodes, degree = int(draw.integers(9, 400)), int(draw.integers(2, 6))
    links = Links.BIDIRECTIONAL if seed % 2 and nodes * degree % 2 == 0 else Links.UNIDIRECTIONAL
    problem = problem_without_symmetry(random_regular(nodes, degree, seed, links))
    for found, right in zip(distances(problem), slow(problem), strict=True):
        assert (found == right).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe, pieces",
    [
        ("BiRing(300)", 1),
        ("GeneralizedKautz(3, 100)", 3),
        ("Torus(20, 15)", 1),
        ("GeneralizedKautz(3, 290)", 1),
    ],
)
def test_of_long_ways_and_of_several_pieces_they_are_the_same(recipe, pieces):
    problem = problem_without_symmetry(build(parse(recipe)), pieces)
    for found, right in zip(distances(problem), slow(problem), strict=True):
        assert (found == right).all()


@pytest.mark.slow
def test_a_root_from_which_the_way_is_longer_than_from_the_first_is_no_different():
    # A tail of 70 links hangs on a random graph of 300 nodes, its first and last end two-way.
    graph = random_regular(300, 3, 1)
    ends = [(link.source, link.target) for link in graph.links]
    path = [(at, at + 1) for at in range(299, 369)] + [(369, 5)]
    problem = problem_without_symmetry(Topology(range(370), [*ends, *path]))
    found, right = distances(problem), slow(problem)
    assert right[0].max() > 63
    for one, other in zip(found, right, strict=True):
        assert (one == other).all()


def test_with_symmetry_there_is_a_column_for_every_orbit():
    graph = build(parse("Torus(20, 15)"))
    problem = slack_problem(graph, semiregular_group(graph))
    for found, right in zip(distances(problem), slow(problem), strict=True):
        assert found.shape == (300, 1)
        assert (found == right).all()
