"""Settings that all tests share, and which of many alike run by default."""

import pytest
from hypothesis import settings

# The first example of a test may compile kernels, which no deadline should count.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
# Where a change is taken or refused: the same change gets the same answer twice.  Elsewhere every
# run draws examples that no run drew before.
settings.register_profile("gate", deadline=None, derandomize=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow all but every nth case of the tests that are marked with ``one_in(n)``."""
    met: dict[str, int] = {}
    for item in items:
        if (mark := item.get_closest_marker("one_in")) is None:
            continue
        of = item.nodeid.partition("[")[0]
        number = met[of] = met.get(of, -1) + 1
        if number % mark.args[0]:
            item.add_marker(pytest.mark.slow)
