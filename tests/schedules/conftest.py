"""Processes that execute schedules, started once for all tests that share them."""

from collections.abc import Iterator

import pytest

from topoloom.schedules.execute import Team


@pytest.fixture(scope="session")
def team() -> Iterator[Team]:
    """Return 16 processes; to start them takes four seconds."""
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    with Team(16, timeout_seconds=120) as found:
        yield found
