import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.wiring.colouring import edge_colours
from synth.wiring.recolouring import complete, exchange, granted, resettle, successive


@st.composite
def coloured(draw, most_nodes=7, most_colours=5):
    """A bipartite multigraph, sorted, made of partial permutations, and wishes for it."""
    size = draw(st.integers(1, most_nodes))
    count = draw(st.integers(1, most_colours))
    edges, wished = [], []
    for _ in range(count):
        ends = zip(draw(st.permutations(range(size))), range(size), strict=True)
        edges += list(ends)[: draw(st.integers(0, size))]
        wish = zip(draw(st.permutations(range(size))), range(size), strict=True)
        wished.append([s * size + t for s, t in list(wish)[: draw(st.integers(0, size))]])
    table = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return size, table[:, 0].copy(), table[:, 1].copy(), [
        np.array(sorted(keys), dtype=np.int64) for keys in wished
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


@given(coloured(), st.integers(0, 2**31))
def test_chains_complete_any_partial_proper_colouring(instance, seed):
    size, sources, targets, wished = instance
    whole = edge_colours(size, sources, targets)
    partial = np.where(np.random.default_rng(seed).random(len(whole)) < 0.5, whole, -1)
    before = partial.copy()
    assert_proper(sources, targets, complete(size, len(wished), sources, targets, partial), 99)
    assert (partial == before).all()


@given(coloured())
def test_all_wishes_of_a_whole_proper_colouring_are_granted(instance):
    size, sources, targets, wished = instance
    whole = edge_colours(size, sources, targets)
    assert (complete(size, len(wished), sources, targets, whole) == whole).all()


@given(coloured())
def test_matchings_one_after_the_other_make_a_proper_colouring(instance):
    size, sources, targets, wished = instance
    assert_proper(
        sources, targets, successive(size, sources, targets, wished), len(wished)
    )  # fmt: skip


@pytest.mark.parametrize("improve", [exchange, resettle])
@given(instance=coloured())
def test_improving_keeps_a_colouring_proper_and_grants_no_fewer_wishes(improve, instance):
    size, sources, targets, wished = instance
    colours = edge_colours(size, sources, targets)
    keys = sources * size + targets
    before = granted(keys, colours, wished)
    improve(size, sources, targets, colours, wished)
    assert_proper(sources, targets, colours, len(wished))
    assert granted(keys, colours, wished) >= before


def test_exchange_is_best_possible_for_two_colours():
    # Two cycles of length four; the first is coloured against all wishes.
    sources = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    targets = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    wished = [np.array([0, 5, 10, 15]), np.array([1, 4, 11, 14])]
    colours = np.array([1, 0, 0, 1, 0, 1, 1, 0])
    exchange(4, sources, targets, colours, wished)
    assert granted(sources * 4 + targets, colours, wished) == 8
