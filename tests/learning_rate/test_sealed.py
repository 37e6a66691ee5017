"""The package is sealed: it imports nothing else of ours, and heavy things late."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_pytorch_and_scikit_learn_are_not_imported_before_use():
    program = (
        "import sys, topoloom.learning_rate, topoloom.learning_rate.callbacks;"
        "print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
