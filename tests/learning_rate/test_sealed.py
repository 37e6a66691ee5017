"""The package is sealed: it imports nothing else of ours, and heavy things late."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import house
from tests.test_architecture import OURS

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted((ROOT / "schedules" / "learning_rate").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_it_imports_nothing_else_of_ours(path):
    ours = {name for name in house.read(path).imports if name.partition(".")[0] in OURS}
    assert all(name.startswith("schedules.learning_rate.") for name in ours)


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 12


def test_pytorch_and_scikit_learn_are_not_imported_before_use():
    program = (
        "import sys, schedules.learning_rate, schedules.learning_rate.callbacks;"
        "print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
