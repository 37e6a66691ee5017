"""Settings that all tests share, and the share of similar cases that each suite runs."""

import gc
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.ports import held_port

# The first example of a test may compile kernels, which no deadline should count.
settings.register_profile("no-deadline", deadline=None, max_examples=50)
settings.load_profile("no-deadline")
# Where a change is taken or refused: the same change gets the same answer twice.  Elsewhere every
# run draws examples that no run drew before.
settings.register_profile("gate", deadline=None, max_examples=50, derandomize=True)


@pytest.fixture
def port() -> Iterator[int]:
    """Return a TCP port that a server of the test may listen on."""
    with held_port() as held:
        yield held


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection, and exempt the collected items from later passes.

    The items stay until the end.  Passes over them took a quarter of the time of collecting.
    Most old objects are caches that stay, too: with Python's thresholds full passes took a sixth
    of the time of the tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(2_000, 10, 100)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Distribute the cases of tests marked ``one_in(fast, slow=1)`` over the suites.

    Every case whose number is a multiple of ``fast`` runs by default, every other multiple of
    ``slow`` runs with the slow tests, and the rest runs with the exhaustive tests.
    """
    seen: dict[str, int] = {}
    for item in items:
        if (mark := item.get_closest_marker("one_in")) is None:
            continue
        function = item.nodeid.partition("[")[0]
        number = seen[function] = seen.get(function, -1) + 1
        if number % mark.args[0]:
            chosen = number % mark.kwargs.get("slow", 1) == 0
            item.add_marker(pytest.mark.slow if chosen else pytest.mark.exhaustive)
