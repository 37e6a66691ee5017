"""Many tuning jobs at once on a service as a process, in short."""

import pytest

from benchmarks.bench_lr_sessions import measured, quantile

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.mark.slow
def test_of_many_jobs_at_once_no_observation_is_lost():
    outcome = measured(jobs=20, seconds=10.0, pace=0.2)
    assert outcome.failed == []
    assert outcome.lost == 0
    assert outcome.answered == len(outcome.plain) + len(outcome.searching) >= 20
    assert quantile(outcome.plain, 0.5) <= quantile(outcome.plain, 0.99) <= outcome.plain[-1]
    assert "0 lost" in next(outcome.lines())
