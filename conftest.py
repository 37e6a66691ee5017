"""Collect doctests from the modules that have some."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect no doctests where no example runs: the search in a module costs milliseconds.

    But import every package first: otherwise pytest imports a module that its package imports, too,
    a second time, with classes of its own.
    """
    collectors = yield
    if file_path.suffix != ".py" or file_path.name == "__init__.py":
        return collectors
    examples = (line for line in file_path.read_text().splitlines() if ">>> " in line)
    if any("doctest: +SKIP" not in line for line in examples):
        return collectors
    return [one for one in collectors if not isinstance(one, DoctestModule)]
