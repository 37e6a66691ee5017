"""Messages are measured between real processes."""

import pytest

pytest.importorskip("torch")

from topoloom.app.cli.commands.probe import document_of
from topoloom.schedules.errors import ExecutionFailed, NoSchedule, TooLarge
from topoloom.schedules.execute.link_probe import (
    MAX_ATTEMPTS,
    SHAPES,
    between_processes,
    rows_that_grow,
)
from topoloom.schedules.simulate.fit_link_costs import fit


@pytest.mark.slow
def test_every_shape_is_measured_with_every_other_rank():
    rows = between_processes(3, repeat=2)
    shapes = [(row.messages, row.chunks, row.size_bytes) for row in rows]
    assert shapes == [*SHAPES, *SHAPES]
    assert all(0 < row.seconds < 10 for row in rows)
    found = fit(rows)
    assert found.link_bytes_per_second > 10**6


def test_processes_that_take_too_long_are_ended():
    with pytest.raises(ExecutionFailed, match=r"did not end within 0\.01 s") as caught:
        between_processes(2, timeout_seconds=0.01)
    assert caught.value.field == "/timeout_seconds"


@pytest.mark.parametrize("ranks", [1, 129])
def test_as_many_processes_as_make_sense_are_started(ranks):
    with pytest.raises(TooLarge) as caught:
        between_processes(ranks)
    assert caught.value.field == "/ranks"


def test_a_median_needs_a_round_trip():
    with pytest.raises(NoSchedule) as caught:
        between_processes(2, repeat=0)
    assert caught.value.field == "/repeat"


def idle():
    return [2 * (1e-4 + size / 1e9) for _, _, size in SHAPES]


def busy():
    """Return times of a machine that another program kept busy while short messages went."""
    return [2 * (1e-4 if size > 1 << 16 else 1e-2) for _, _, size in SHAPES]


def test_round_trips_go_on_until_times_grow_with_the_bytes():
    moments, told = iter([busy, busy, *[idle] * 8]), []
    rows = rows_that_grow(lambda: next(moments)(), 2, tell=told.append)
    assert told == [True, False]
    assert fit(rows).link_bytes_per_second > 0


def test_a_machine_that_stays_busy_is_asked_a_limited_number_of_times():
    told = []
    rows = rows_that_grow(busy, 1, tell=told.append)
    assert told == [True] * (MAX_ATTEMPTS - 1) + [False]
    with pytest.raises(ExecutionFailed) as caught:
        document_of(rows)
    assert caught.value.field == "/repeat"
