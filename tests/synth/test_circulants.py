"""Circulants: which offsets are best, and which are offered."""

from itertools import combinations
from math import gcd

import pytest

from tests.cases import for_every
from tests.cost_oracles import broadcast_cost
from tests.synth.catalogue import built
from topoloom.synth.evaluation.cost import Cost, optimal_bandwidth
from topoloom.synth.families import DirectedCirculant, family
from topoloom.synth.families.circulant import Circulant
from topoloom.synth.families.directed_circulant import _sampled
from topoloom.synth.recipes.build import build, size


@for_every("n", range(7, 201))
def test_the_pair_of_neighbouring_offsets_is_best_for_degree_four(n):
    pair = next(recipe.arguments for recipe in Circulant.matching(n, 4) if recipe.claim())
    m = pair[1]
    assert pair == (n, m, m + 1)
    # A ball of radius m holds 2 m (m + 1) + 1 nodes at most, and this m is the least.
    assert 2 * (m - 1) * m + 1 < n <= 2 * m * (m + 1) + 1
    measured = broadcast_cost(build(Circulant(*pair)), roots=[0])
    assert measured == Cost(m, optimal_bandwidth(n))


@pytest.mark.slow
@for_every("n", range(7, 41))
def test_no_pair_of_offsets_beats_the_neighbouring_pair(n):
    pairs = [
        (a, b) for a, b in combinations(range(1, (n - 1) // 2 + 1), 2) if gcd(n, gcd(a, b)) == 1
    ]
    best = min(broadcast_cost(build(Circulant(n, *pair)), roots=[0]) for pair in pairs)
    assert best in [claimed.cost for claimed in _claims(n, 4)]


def _claims(n, degree):
    found = (recipe.claim() for recipe in Circulant.matching(n, degree))
    return [claimed for claimed in found if claimed is not None]


@pytest.mark.parametrize("pair", [(12, 2, 3), (16, 3, 4), (32, 4, 5), (64, 6, 7), (1024, 23, 24)])
def test_known_pairs_are_offered_to_degree_four(pair):
    offered = list(Circulant.matching(pair[0], 4))
    claimed = [recipe.arguments for recipe in offered if recipe.claim()]
    assert Circulant(*pair) in offered
    assert pair in claimed


@for_every("n", [*range(2, 41), 64, 100, 999, 1000])
def test_a_circulant_is_offered_wherever_one_exists(n):
    for degree in range(1, min(n, 17)):
        exists = n * degree % 2 == 0 and (degree >= 2 or n == 2)
        offered = list(Circulant.matching(n, degree))
        assert bool(offered) == exists
        for recipe in offered:
            assert size(recipe) == (n, degree)


def test_the_sample_of_one_way_circulants_is_fixed_and_leads_with_the_fewest_steps():
    member = family("DirectedCirculant")
    offered = list(member.matching(60, 3))
    _sampled.cache_clear()
    assert list(member.matching(60, 3)) == offered
    sampled = _sampled(60, 3)
    steps = [broadcast_cost(build(DirectedCirculant(60, *o)), [0]).steps for o in sampled]
    assert steps == sorted(steps)
    assert min(steps) == min(broadcast_cost(built(recipe), [0]).steps for recipe in offered)


@pytest.mark.parametrize(
    ("nodes", "degree", "steps"), [(8, 2, 3), (12, 4, 2), (24, 4, 3), (26, 3, 4)]
)
def test_small_one_way_circulants_of_fewest_steps_are_offered(nodes, degree, steps):
    offered = family("DirectedCirculant").matching(nodes, degree)
    best = min(broadcast_cost(build(recipe), roots=[0]) for recipe in offered)
    assert best == Cost(steps, optimal_bandwidth(nodes))
