"""The check of labels finds what is wrong, and refuses what is out of its domain."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schedule_oracles import two_boxes
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.errors import ClaimBroken, NotMeasurable, OutOfDomain, SynthError, Unreachable
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack import MAX_PIECES, check_slack_schedule, slack_schedule
from topoloom.synth.topology.topology import Topology


def faulty():
    graph = random_regular(10, 3, 1)
    good = slack_schedule(graph, 4)
    assert good.cost == check_slack_schedule(graph, good)
    early, late, none = good.arrival.copy(), good.arrival.copy(), good.arrival.copy()
    first = good.arrival[0] == 2
    early[0, np.flatnonzero(first)[0]] = 1
    late[0, np.flatnonzero(first)[0]] = len(good.loads) + 1
    none[0, 0] = 1
    less = (*good.loads[:-1], good.loads[-1] - Fraction(1, 3))
    return graph, {
        "before any tail has it": replace(good, arrival=early),
        "after the last step": replace(good, arrival=late),
        "nowhere at first": replace(good, arrival=none),
        "more than links carry": replace(good, loads=less),
        "a root left out": replace(good, roots=good.roots[1:], arrival=good.arrival[1:]),
        "too few labels": replace(good, arrival=good.arrival[:, :-1]),
        "a root twice": replace(good, roots=np.append(good.roots[:-1], good.roots[0])),
    }


GRAPH, FAULTY = faulty()


@pytest.mark.parametrize("labels_", FAULTY.values(), ids=FAULTY)
def test_labels_that_prove_nothing_are_found_out(labels_):
    with pytest.raises(ClaimBroken):
        check_slack_schedule(GRAPH, labels_)


def test_labels_of_another_graph_are_found_out():
    with pytest.raises(ClaimBroken):
        check_slack_schedule(random_regular(10, 3, 2), slack_schedule(GRAPH, 4))


@given(st.data())
def test_a_changed_label_is_found_out_or_still_proves_the_cost(data):
    good = slack_schedule(GRAPH, 5)
    row, node = data.draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))
    arrival = good.arrival.copy()
    arrival[row, node] = data.draw(st.integers(0, len(good.loads)))
    changed = replace(good, arrival=arrival)
    try:
        assert check_slack_schedule(GRAPH, changed) == good.cost
    except ClaimBroken:
        return
    # The plainest reading of the theorem agrees: every cell has an open link.
    for link in GRAPH.links:
        assert arrival[link.source, link.source] == 0
    into = {u: [link.source for link in GRAPH.links if link.target == u] for u in range(10)}
    for root, u in product(range(10), range(10)):
        assert root == u or min(arrival[root, w] for w in into[u]) < arrival[root, u]


# Domains.


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"steps": 1}, "steps"),
        ({"steps": 10_000}, "steps"),
        ({"steps": 5, "pieces": 0}, "pieces"),
        ({"steps": 5, "pieces": MAX_PIECES + 1}, "pieces"),
        ({"steps": 5, "moves": -1}, "moves"),
        ({"steps": 5, "seed": -1}, "seed"),
    ],
)
def test_numbers_out_of_their_domain_are_refused_by_name(arguments, field):
    with pytest.raises(OutOfDomain) as caught:
        slack_schedule(GRAPH, **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("graph", "error"),
    [
        (two_boxes(), NotMeasurable),
        (build(parse("Complete(11)")), NotMeasurable),
        (Topology(range(3), [(0, 1), (1, 2), (2, 1)]), Unreachable),
        (Topology(range(1), []), SynthError),
    ],
)
def test_graphs_that_labels_do_not_serve_are_refused(graph, error):
    with pytest.raises(error):
        slack_schedule(graph, 3)
