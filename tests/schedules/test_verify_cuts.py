"""The cut behind every optimum proves it, by code that did not find it."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify.cuts import cut_inverse_rate
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

FABRICS = ["dgx-1v", "dgx-a100-1", "dgx-a100-2", "dgx-h100-2", "gb200-nvl72", "mi250-1", "mi250-2"]


def equal(topology):
    return dict.fromkeys(topology.compute_nodes, 1)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("inward", [False, True])
@pytest.mark.parametrize("trees_per_root", [None, 1, 2, 7])
@pytest.mark.parametrize("name", FABRICS)
def test_the_bottleneck_proves_the_optimum(name, trees_per_root, inward):
    topology = fabric(name)
    best = optimum(topology, trees_per_root, inward=inward)
    proven = cut_inverse_rate(
        topology, best.bottleneck, equal(topology), trees_per_root=trees_per_root, inward=inward
    )
    assert proven == best.inverse_rate


@st.composite
def switched(draw):
    count, switches = draw(st.integers(2, 4)), draw(st.integers(0, 2))
    nodes = range(count + switches)
    rooms = st.fractions(min_value=Fraction(1, 4), max_value=4, max_denominator=4)
    cycle = [(node, (node + 1) % len(nodes)) for node in nodes]
    pairs = st.sampled_from([(s, t) for s in nodes for t in nodes if s != t])
    more = draw(st.lists(pairs, max_size=8))
    links = [(s, t, draw(rooms)) for s, t in cycle + more]
    return Topology(nodes, links, switches=range(count, count + switches))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(topology=switched(), trees_per_root=st.none() | st.integers(1, 5))
def test_no_other_cut_proves_more(topology, trees_per_root):
    best = optimum(topology, trees_per_root)
    subsets = chain.from_iterable(
        combinations(topology.nodes, size) for size in range(1, len(topology.nodes))
    )
    proven = []
    for inside in subsets:
        ranks = set(topology.compute_nodes)
        if ranks & set(inside) and ranks - set(inside):
            proven.append(
                cut_inverse_rate(topology, inside, equal(topology), trees_per_root=trees_per_root)
            )
    assert max(proven) <= best.inverse_rate
    assert max(proven) == best.inverse_rate or best.trimmed


@pytest.mark.parametrize("inside", [[], [0, 1, 2], ["s"]])
def test_a_set_without_data_or_with_every_rank_proves_nothing(inside):
    rows = [(rank, "s", 1) for rank in range(3)] + [("s", rank, 1) for rank in range(3)]
    topology = Topology([0, 1, 2, "s"], rows, switches=["s"])
    with pytest.raises(InvalidSchedule, match="/bottleneck/nodes"):
        cut_inverse_rate(topology, inside, equal(topology))
