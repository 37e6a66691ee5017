"""Collect doctests from the modules that have some."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect no doctests where no example stands: the search in a module costs milliseconds.

    But import every package first: otherwise pytest imports a module that its package imports, too,
    a second time, with classes of its own.
    """
    collectors = yield
    has_doctests = file_path.name == "__init__.py" or ">>> " in file_path.read_text()
    if file_path.suffix == ".py" and not has_doctests:
        return [one for one in collectors if not isinstance(one, DoctestModule)]
    return collectors
