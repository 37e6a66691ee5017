"""Exchanges of three colors."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.wiring.coloring.thetas import turned_thetas


@st.composite
def full(draw, most_nodes, most_colours):
    """A union of permutations, each a colour of its edges, and the colours that edges prefer."""
    size = draw(st.integers(2, most_nodes))
    count = draw(st.integers(1, most_colours))
    matchings = [draw(st.permutations(range(size))) for _ in range(count)]
    sources, targets = np.tile(np.arange(size), count), np.array(matchings).ravel()
    colours = np.repeat(np.arange(count), size)
    order = np.lexsort((targets, sources))
    sources, targets, colours = sources[order], targets[order], colours[order]
    keys = sources * size + targets
    pairs = [
        [source * size + target for source, target in enumerate(draw(st.permutations(range(size))))]
        for _ in range(count)
    ]
    likes = np.stack([np.isin(keys, wanted) for wanted in pairs], axis=1)
    return size, sources, targets, colours, likes


@settings(deadline=None)
@given(full(9, 5))
def test_thetas_keep_a_colouring_proper_and_gain_what_they_say(instance):
    size, sources, targets, colours, likes = instance
    edges = np.arange(len(colours))
    before = int(likes[edges, colours].sum())
    gained = turned_thetas(size, sources, targets, colours, likes)
    assert gained >= 0 and int(likes[edges, colours].sum()) == before + gained
    for ends in (sources, targets):
        assert len(set(zip(ends.tolist(), colours.tolist(), strict=True))) == len(colours)
    assert turned_thetas(size, sources, targets, colours, likes) == 0


@pytest.mark.parametrize("count", [3, 4, 6])
def test_a_theta_finds_what_no_exchange_of_two_colours_does(count):
    # Two nodes are joined by three edges whose colours went round, and so are two others: an
    # exchange of two colours gains one edge and loses none, a theta gains all three.
    sources = targets = np.repeat([0, 1], count)
    wanted = np.tile(np.r_[1, 2, 0, np.arange(3, count)], 2)
    colours = np.tile(np.arange(count), 2)
    likes = np.eye(count, dtype=bool)[wanted]
    for one, other in combinations(range(3), 2):
        two = [edge for edge in range(count) if colours[edge] in (one, other)]
        gain = sum(int(likes[e, one + other - colours[e]]) for e in two)
        assert gain == 1
    assert turned_thetas(2, sources, targets, colours, likes) == 6
    assert (colours == wanted).all()
