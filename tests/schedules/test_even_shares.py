"""Shares of a switch: exact, even, and done in seconds however many units there are."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.trees.switch_removal.even_splitting import even_shares

SECONDS = 20
"""Of computing; it takes one or two, and hours where every unit is handed out by itself."""

ROOMS = st.dictionaries(st.integers(0, 12), st.integers(1, 10**6), min_size=1)


@settings(max_examples=100, deadline=None)
@given(ROOMS, ROOMS, st.integers(1, 50), st.booleans())
def test_shares_use_no_more_than_there_is_and_none_goes_back(into, onward, portion, only_new):
    joined = {(source, target) for source in into for target in onward if source < target}
    shares = even_shares(into, onward, portion, joined, only_new)
    for source, room in into.items():
        assert sum(amount for (u, _), amount in shares.items() if u == source) <= room
    for target, room in onward.items():
        assert sum(amount for (_, t), amount in shares.items() if t == target) <= room
    assert all(u != t and amount > 0 for (u, t), amount in shares.items())
    assert not only_new or not shares.keys() & joined
    open_pairs = {(u, t) for u in into for t in onward if u != t} - (joined if only_new else set())
    left_in = {
        u: room - sum(a for (s, _), a in shares.items() if s == u) for u, room in into.items()
    }
    left_out = {
        t: room - sum(a for (_, s), a in shares.items() if s == t) for t, room in onward.items()
    }
    # Nothing is left over that some open pair could still use.
    assert not any(left_in[u] and left_out[t] for u, t in open_pairs)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("portion", [1, 7, 10**6])
@pytest.mark.parametrize("count", [2, 40, 300])
def test_units_without_number_are_handed_out_in_seconds(count: int, portion: int) -> None:
    into = dict.fromkeys(range(count), 10**12) | {0: 1}
    onward = dict.fromkeys(range(count), 10**12) | {1: 3}
    start = time.process_time()
    shares = even_shares(into, onward, portion, set())
    assert time.process_time() - start < SECONDS
    assert all(sum(a for (u, _), a in shares.items() if u == s) <= into[s] for s in into)
    assert count == 2 or sum(shares.values()) >= (count - 2) * 10**12
