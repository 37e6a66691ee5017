"""Groups that act freely: they are automorphisms, they are groups, they fix nothing."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

KNOWN = {
    "UniRing(5, 2)": 5,
    "Circulant(12, 2, 3)": 12,
    "Torus(3, 4)": 12,
    "Hypercube(4)": 16,
    "Cayley(8, 3, 2, 1, 9)": 16,
    "CayleyAlternating(4, 1, 5)": 12,
    "Lift(5, 1, 1, 2, 1, 0, 0, 1, 0, 0, 1, 2)": 5,
    "GeneralizedKautz(4, 20)": 5,
    "LineGraph(2, Diamond())": 8,
    "LineGraph(1, UniRing(5, 2))": 5,
    "DegreeExpansion(2, Torus(3, 4))": 24,
    "Power(2, BiRing(5))": 25,
    "Product(UniRing(4), UniRing(8))": 32,
    "Bidirected(GeneralizedKautz(3, 20))": 4,
    "Digraph(4, 1, 2, 2, 3, 3, 0, 0, 1)": 4,
    "Digraph(5, 1, 2, 0, 3, 0, 4, 1, 4, 2, 3)": 1,
}


def arcs(topology, image):
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    return Counter(
        (image[s], image[t], c) for (s, t), c in zip(ends, topology.capacities, strict=True)
    )


def require_free_group(images, topology):
    rows = {tuple(row) for row in images.tolist()}
    identity = tuple(range(topology.node_count))
    assert images[0].tolist() == list(identity)
    assert len(rows) == len(images)
    for row in rows:
        assert arcs(topology, row) == arcs(topology, identity)
        if row != identity:
            assert not any(moved == node for node, moved in enumerate(row))
        for other in rows:
            assert tuple(row[moved] for moved in other) in rows


@pytest.mark.parametrize("text", KNOWN)
def test_translations_are_a_group_of_automorphisms_that_fixes_no_node(text):
    topology = build(parse(text))
    images = semiregular_group(topology)
    assert len(images) == KNOWN[text]
    require_free_group(images, topology)


@settings(max_examples=40)
@given(st.integers(2, 8), st.data())
def test_any_graph_has_such_a_group(nodes, data):
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(1, 2))
    links = data.draw(st.lists(ends.filter(lambda end: end[0] != end[1]), max_size=12))
    topology = Topology(range(nodes), links)
    require_free_group(semiregular_group(topology), topology)


def test_a_recipe_that_lies_is_not_believed():
    chain = Topology(range(4), [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    chain = chain.with_recipe(parse("UniRing(4)"))
    assert semiregular_group(chain).tolist() == [[0, 1, 2, 3]]


def test_switches_are_taken_to_switches():
    links = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3), (3, 1)]
    boxes = Topology(range(4), links, switches=[1, 3])
    assert semiregular_group(boxes).tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert np.array_equal(
        semiregular_group(Topology(range(4), links, switches=[1])), [[0, 1, 2, 3]]
    )
