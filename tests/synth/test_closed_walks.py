"""The bound by closed walks holds for every placing, and says something where degrees do not."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, uniform
from topoloom.synth.wiring.placement.closed_walks import most_kept
from topoloom.synth.wiring.placement.host_placement import plan_placed


@st.composite
def graphs(draw, most=5):
    size = draw(st.integers(2, most))
    entries = draw(st.lists(st.integers(0, 2), min_size=size**2, max_size=size**2))
    graph = np.array(entries, np.int64).reshape(size, size)
    np.fill_diagonal(graph, 0)
    return graph


def kept_at_best(wanted, today):
    """Try every placing of the smaller graph on nodes of the larger one."""
    if len(wanted) > len(today):
        wanted, today = today, wanted
    return max(
        int(np.minimum(wanted, today[np.ix_(hosts, hosts)]).sum())
        for hosts in permutations(range(len(today)), len(wanted))
    )


@settings(max_examples=60)
@given(graphs(), graphs())
def test_no_placing_keeps_more_links_than_closed_walks_allow(wanted, today):
    assert kept_at_best(wanted, today) <= most_kept(wanted, today)
    assert most_kept(wanted, wanted) == wanted.sum()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("UniRing(12)", "three rings"),
        ("BiRing(12)", "three two-way rings"),
        ("Torus(4, 4)", "Circulant(16, 1, 2)"),
    ],
)
def test_regular_graphs_that_are_not_alike_have_a_bound_above_zero(first, second):
    rings = [(4 * r + i, 4 * r + (i + 1) % 4) for r in range(3) for i in range(4)]
    named = {
        "three rings": Topology(range(12), rings),
        "three two-way rings": Topology(range(12), [*rings, *(link[::-1] for link in rings)]),
    }
    today, wanted = (named.get(text) or build(parse(text)) for text in (first, second))
    plant = uniform("per-port", today.node_count, today.degree)
    plan = plan_placed(wanted, plant, plan_moves(today, plant).final)
    assert 0 < plan.lower_bound <= plan.moves
