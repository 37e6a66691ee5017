"""What is fitted to measured times, and what a table must hold."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.simulate.fit_link_costs import MAX_ROWS, Row, fit

SENT = [
    *((1 << power, 1, 1) for power in range(6, 23, 2)),
    *((1 << 16, messages, messages) for messages in (2, 8, 16)),
    *((1 << 16, 1, chunks) for chunks in (4, 64)),
]
costs = st.integers(0, 400).map(lambda tenths: tenths / 10)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 400), costs, costs, st.integers(1, 4000))
def test_what_times_were_made_of_is_found_again(alpha, overhead, chunk, gbps):
    rate = gbps * 10**9 / 8
    rows = []
    for size, messages, chunks in SENT:
        fixed = (alpha + messages * overhead + chunks * chunk) / 10**6
        rows.append(Row(size, fixed + size / rate, messages, chunks))
    found = fit(rows)
    assert float(found.alpha_seconds * 10**6) == pytest.approx(alpha, rel=1e-4, abs=1e-4)
    assert float(found.overhead_seconds * 10**6) == pytest.approx(overhead, rel=1e-4, abs=1e-4)
    assert float(found.chunk_seconds * 10**6) == pytest.approx(chunk, rel=1e-4, abs=1e-4)
    assert float(found.link_bytes_per_second) == pytest.approx(rate, rel=1e-3)
    assert found.largest_error < 1e-6


def test_where_messages_do_not_vary_their_cost_is_latency():
    rows = [Row(size, 25e-6 + size / 1e9) for size in (64, 4096, 1 << 20)]
    found = fit(rows)
    assert (found.overhead_seconds, found.chunk_seconds) == (0, 0)
    assert found.alpha_seconds == Fraction(25, 10**6)


def test_no_cost_is_below_nothing():
    # Two messages take less than one: noise, and no gain.
    rows = [Row(64, 1e-5), Row(64, 9e-6, 2, 2), Row(1 << 20, 1e-3), Row(1 << 20, 9e-4, 2, 2)]
    found = fit(rows)
    assert min(found.alpha_seconds, found.overhead_seconds, found.chunk_seconds) >= 0
    assert found.largest_error > 0


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([], "/measured"),
        ([Row(1, 1.0)], "/measured"),
        ([Row(1, 1.0)] * (MAX_ROWS + 1), "/measured"),
        ([Row(5, 1.0), Row(5, 2.0)], "/measured"),
        ([Row(5, 1.0), Row(0, 2.0)], "/measured/1"),
        ([Row(5, 1.0), Row(6, 2.0, 0)], "/measured/1"),
        ([Row(5, 1.0), Row(6, 2.0, 3, 2)], "/measured/1"),
        ([Row(5, 0.0), Row(6, 2.0)], "/measured/0/seconds"),
        ([Row(5, 1.0), Row(6, float("inf"))], "/measured/1/seconds"),
        ([Row(5, 1.0), Row(6, float("nan"))], "/measured/1/seconds"),
        ([Row(5, 2.0), Row(500, 0.5)], "/measured"),
    ],
)
def test_a_table_of_which_nothing_can_be_said_is_refused(rows, field):
    with pytest.raises(NoSchedule) as caught:
        fit(rows)
    assert caught.value.field == field
