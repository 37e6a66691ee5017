"""Stored kernels are read without the compiler, and answer as those that were just made."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core import caching

from topoloom.synth.kernels import numba_cache
from topoloom.synth.kernels.numba_cache import load_alone

ROOT = Path(__file__).parent.parent.parent
COMPILER = ("numba.np.arraymath", "numba.np.linalg", "scipy.linalg")
"""Modules that Numba compiles by, and stored kernels run without."""

SEARCH = """
import topoloom
sizes = (97, 3), (331, 3), (67, 5), (134, 4)  # the last is sampled
work = [[str(point) for point in topoloom.frontier(*size).points] for size in sizes]
"""
ELSEWHERE = """
import topoloom
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.atlas.entries import Atlas, Search
from topoloom.synth.discovery.annealing_rounds import Explorer
made = topoloom.schedule("GeneralizedKautz(2, 11)", "allgather")
explorer = Explorer(Search(24, 3, Links.UNIDIRECTIONAL, 0), Atlas(), microseconds=10_000)
work = [
    [str(entry) for entry in explorer.round()],
    str(made), topoloom.verify(made, "GeneralizedKautz(2, 11)"),
    str(topoloom.simulate(made, "GeneralizedKautz(2, 11)", size="1MB")),
    str(topoloom.optimum("mi250-1").passes[0].inverse_rate),
    str(topoloom.schedule("mi250-1", "allreduce")),
]
"""
NEW = """
import numba, numpy as np, topoloom
from topoloom.synth.kernels.scalars import int64
topoloom.measure("DeBruijn(2, 5)")
@numba.njit
def new(values, name):
    words = numba.typed.Dict.empty(numba.types.unicode_type, numba.types.int64)
    words[name] = int64(np.cumsum(np.sort(values))[np.searchsorted(np.unique(values), 3)])
    floats = values.astype(np.float64)
    return words[name], np.dot(floats, floats), values.max(), np.linalg.norm(floats)
work = [float(one) for one in new(np.array([5, 1, 3, 1]), "a")]
"""
END = f"""
import json, sys
print(json.dumps([work, [name for name in {COMPILER} if name in sys.modules]]))
"""


known = pytest.mark.skipif(
    numba.version_info[:2] not in numba_cache.KNOWN, reason="kernels are read the usual way"
)


def run(work: str, *, alone: bool) -> tuple[list[object], list[str]]:
    """Do some work in a process of its own; return it, and what of the compiler was loaded."""
    begin = (
        "from topoloom.synth.kernels.numba_cache import load_alone; assert load_alone()"
        if alone
        else ""
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}\n{work}\n{END}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found, loaded = json.loads(done.stdout)
    return found, loaded


@pytest.mark.slow
@known
def test_stored_kernels_of_frontiers_are_read_without_the_compiler_and_answer_the_same() -> None:
    compiled, _ = run(SEARCH, alone=False)  # all are stored now
    assert run(SEARCH, alone=True) == (compiled, [])


@known
@pytest.mark.slow
def test_kernels_of_schedules_flows_and_annealing_answer_the_same() -> None:
    compiled, _ = run(ELSEWHERE, alone=False)
    assert run(ELSEWHERE, alone=True)[0] == compiled


@pytest.mark.slow
@known
def test_a_new_kernel_is_compiled_after_stored_ones_were_read_alone() -> None:
    found, loaded = run(NEW, alone=True)
    assert found == [2.0, 36.0, 5.0, 6.0]
    assert set(loaded) == set(COMPILER)


@known
@pytest.mark.slow
def test_commands_read_stored_kernels_alone_once_they_import_numba() -> None:
    measured = "import topoloom; work = str(topoloom.measure('Kautz(2, 2)'))"
    command = "from topoloom.app.cli.kernel_loading import prepare_kernels; prepare_kernels()"
    usual, loaded = run(measured, alone=False)
    assert loaded
    assert run(f"{command}; {measured}", alone=False) == (usual, [])


@pytest.fixture
def usual(monkeypatch: pytest.MonkeyPatch):
    """The method of Numba, put back afterwards."""
    monkeypatch.setattr(caching.Cache, "load_overload", numba_cache._usual)
    return numba_cache._usual


def test_a_version_of_numba_that_is_not_known_is_left_as_it_is(usual, monkeypatch) -> None:
    monkeypatch.setattr(numba, "version_info", (99, 0, 0))
    assert not load_alone()
    assert caching.Cache.load_overload is usual


def test_a_method_of_other_steps_is_left_as_it_is(usual, monkeypatch) -> None:
    monkeypatch.setattr(numba_cache, "_usual", lambda self, sig, context: None)
    assert not load_alone()
    assert caching.Cache.load_overload is usual


def test_kernels_of_others_are_read_in_the_usual_way(usual, monkeypatch) -> None:
    assert numba.version_info[:2] not in numba_cache.KNOWN or load_alone()
    assert load_alone() == (caching.Cache.load_overload is not usual)
    monkeypatch.setattr(numba_cache, "_usual", lambda self, sig, context: (sig, context))
    others = SimpleNamespace(_py_func=SimpleNamespace(__module__="somebody.kernels"))
    assert numba_cache._load_overload(others, "sig", "context") == ("sig", "context")
