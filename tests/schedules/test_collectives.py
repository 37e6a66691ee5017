from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    ring,
    scatter_works,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import reverse
from topoloom.schedules.model.schedule import REDUCE, Collective
from topoloom.schedules.verify import step_cost, tree_inverse_rate, violations
from topoloom.synth.topology.topology import Topology

UNEQUAL = Topology(
    range(3), [(0, 1, 1), (0, 1, 3), (1, 2, 2), (2, 0, 1), (2, 0, Fraction(1, 2)), (1, 0, 5)]
)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(6), st.integers(1, 3))
def test_a_reversed_allgather_of_the_transpose_is_a_reduce_scatter(topology, chunks):
    turned = topology.transpose()
    gather = shortest_steps(turned, chunks)
    scatter = reverse(gather, topology)
    assert scatter.collective is Collective.REDUCE_SCATTER
    assert scatter.topology == topology.digest
    assert scatter_works(scatter)
    assert violations(scatter, topology) == []
    assert step_cost(scatter, topology) == step_cost(gather, turned)
    assert all((step["op"] == REDUCE).all() for step in scatter.steps)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(6))
def test_reversed_trees_are_as_fast_and_lead_to_the_root(topology):
    turned = topology.transpose()
    gather = shortest_trees(turned, (2, 1))
    scatter = reverse(gather, topology)
    assert violations(scatter, topology) == []
    assert tree_inverse_rate(scatter, topology) == tree_inverse_rate(gather, turned)
    for tree in scatter.trees:
        assert tree.edges[0][-1] == tree.root


def test_trees_through_switches_are_reversed_path_by_path():
    boxes = two_boxes()
    scatter = reverse(shortest_trees(boxes.transpose()), boxes)
    assert violations(scatter, boxes) == []
    assert any(len(edge) == 3 for tree in scatter.trees for edge in tree.edges)


def test_reversing_twice_gives_the_schedule_back():
    for topology in (ring(4), UNEQUAL):
        gather = shortest_steps(topology, 2)
        again = reverse(reverse(gather, topology.transpose()), topology)
        assert again.collective is gather.collective and again.topology == gather.topology
        for one, other in zip(gather.steps, again.steps, strict=True):
            assert one.tolist() == other.tolist()


def test_parallel_links_of_unequal_capacity_keep_their_load():
    turned = UNEQUAL.transpose()
    gather = shortest_steps(turned, 4)
    assert step_cost(reverse(gather, UNEQUAL), UNEQUAL) == step_cost(gather, turned)


def test_the_input_is_not_modified():
    turned = ring(4).transpose()
    gather = shortest_steps(turned)
    before = [step.copy() for step in gather.steps]
    reverse(gather, ring(4))
    assert all((a == b).all() for a, b in zip(before, gather.steps, strict=True))


def test_only_a_schedule_of_the_transpose_is_reversed():
    with pytest.raises(NoSchedule) as caught:
        reverse(shortest_steps(ring(4)), ring(4))
    assert caught.value.field == "/topology"
    square = bidirectional_ring(4)
    with pytest.raises(NoSchedule) as caught:
        reverse(every_schedule(square)["steps-allreduce"], square)
    assert caught.value.field == "/collective"
