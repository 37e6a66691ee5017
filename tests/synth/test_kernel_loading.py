"""Kernels that are compiled are loaded without what compiles, and answer as ever."""

import json
import subprocess
import sys

import pytest

from synth.kernel_loading import is_known

QUESTION = """
import json, sys
{before}
from synth.search import frontier
points = [str(point) for point in frontier(62, 3).points]
print(json.dumps([points, sorted(set(sys.modules) & {"numba.np.arraymath", "scipy.linalg"})]))
"""
AS_NUMBA_DOES = "import synth.kernel_loading; synth.kernel_loading._KNOWN = ('none',)"


def asked(before: str = "") -> list[list[str]]:
    """Ask in a process of its own; return the points and which heavy modules were imported."""
    text = QUESTION.replace("{before}", before)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True)
    return json.loads(run.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not is_known(), reason="another version of numba, which is left alone")
def test_compiled_kernels_load_without_linear_algebra_and_answer_the_same():
    compiled, _ = asked()
    assert asked() == [compiled, []]
    assert asked(AS_NUMBA_DOES) == [compiled, ["numba.np.arraymath", "scipy.linalg"]]


def test_what_is_not_compiled_yet_is_compiled_as_before(tmp_path):
    module = tmp_path / "fresh_kernel.py"
    module.write_text(
        "import numpy as np\nfrom numba import njit\n\n"
        "@njit(cache=True)\ndef total(numbers):\n"
        "    return np.searchsorted(numbers, numbers.sum())\n"
    )
    text = (
        "import numpy as np, synth.measure, fresh_kernel\n"
        "print(fresh_kernel.total(np.array([1, 2, 3])), len(fresh_kernel.total.stats.cache_hits))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{text}"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for _ in range(2)
    ]
    assert said == ["3 0\n", "3 1\n"]
