import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.wiring.coloring.bipartite import edge_colours
from topoloom.synth.wiring.coloring.exchanges import (
    exchange,
    kept_colours,
    resettle,
    successive,
)


@st.composite
def coloured(draw, most_nodes=7, most_colours=5):
    """A sorted bipartite multigraph of partial permutations, and preferred colours for it."""
    size = draw(st.integers(1, most_nodes))
    count = draw(st.integers(1, most_colours))
    edges, preferred = [], []
    for _ in range(count):
        ends = zip(draw(st.permutations(range(size))), range(size), strict=True)
        edges += list(ends)[: draw(st.integers(0, size))]
        pairs = zip(draw(st.permutations(range(size))), range(size), strict=True)
        preferred.append([s * size + t for s, t in list(pairs)[: draw(st.integers(0, size))]])
    table = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return size, table[:, 0].copy(), table[:, 1].copy(), [
        np.array(sorted(keys), dtype=np.int64) for keys in preferred
    ]  # fmt: skip


def assert_proper(sources, targets, colours, count):
    assert ((0 <= colours) & (colours < count)).all()
    for ends in (sources, targets):
        seen = list(zip(ends.tolist(), colours.tolist(), strict=True))
        assert len(set(seen)) == len(seen)


@given(coloured())
def test_a_colouring_is_proper_and_uses_as_many_colours_as_the_degree(instance):
    size, sources, targets, _ = instance
    degree = max(np.bincount(sources, minlength=1).max(), np.bincount(targets, minlength=1).max())
    assert_proper(sources, targets, edge_colours(size, sources, targets), max(degree, 1))


@given(coloured())
def test_matchings_one_after_the_other_make_a_proper_colouring(instance):
    size, sources, targets, preferred = instance
    assert_proper(
        sources, targets, successive(size, sources, targets, preferred), len(preferred)
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("improve", [exchange, resettle])
@given(instance=coloured())
def test_improving_keeps_a_colouring_proper_and_keeps_no_fewer_preferred_colours(improve, instance):
    size, sources, targets, preferred = instance
    colours = edge_colours(size, sources, targets)
    keys = sources * size + targets
    before = kept_colours(keys, colours, preferred)
    improve(size, sources, targets, colours, preferred)
    assert_proper(sources, targets, colours, len(preferred))
    assert kept_colours(keys, colours, preferred) >= before


def test_exchange_is_best_possible_for_two_colours():
    # Two cycles of length four; the first is coloured as no edge of it prefers.
    sources = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    targets = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    preferred = [np.array([0, 5, 10, 15]), np.array([1, 4, 11, 14])]
    colours = np.array([1, 0, 0, 1, 0, 1, 1, 0])
    exchange(4, sources, targets, colours, preferred)
    assert kept_colours(sources * 4 + targets, colours, preferred) == 8
