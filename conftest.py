"""Collect doctests from the modules that have some."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect no doctests where no example stands: the search in a module costs milliseconds."""
    collectors = yield
    if file_path.suffix == ".py" and ">>> " not in file_path.read_text():
        return [one for one in collectors if not isinstance(one, DoctestModule)]
    return collectors
