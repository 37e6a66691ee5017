"""Processes that execute schedules, started once for all tests that share them."""

from collections.abc import Iterator

import pytest

from topoloom.schedules.execute import Team


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that share the processes next to each other.

    Scattered over the suite they would start the processes in every worker of pytest-xdist.
    """
    items.sort(key=lambda item: "team" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def team() -> Iterator[Team]:
    """Return 16 processes; to start them takes seconds."""
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    with Team(16, timeout_seconds=120) as found:
        yield found
