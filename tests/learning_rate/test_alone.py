"""The tuner is of use without the service: its imports, and its own distribution."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ROOT = Path(__file__).parent.parent.parent
SEARCH = """
import sys
from topoloom.learning_rate import InProcess, Options
tuner = InProcess(Options(1e-3, 1.0, 600))
for _ in range(2000):
    action = tuner.action
    if action.do == "stop":
        break
    steps = range(action.steps) if action.do in ("set_lr", "go_on") else ()
    tuner.observe([2.0 - 0.001 * (tuner.state.spent + step) for step in steps])
assert tuner.state.step == 600 and any(stage.attempts for stage in tuner.state.history)
"""
HEAVY = ("fastapi", "sqlalchemy", "networkx", "numba", "pydantic", "typer", "topoloom.app")


def run(program, folder=ROOT, python=sys.executable, **settings):
    done = subprocess.run(
        [python, "-c", program], cwd=folder, env=os.environ | settings, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_whole_search_loads_nothing_of_the_service():
    told = run(SEARCH + f"print([name for name in {HEAVY} if name in sys.modules])")
    assert told == "[]\n"


def test_the_promised_names_are_there():
    import topoloom
    from topoloom import learning_rate

    assert {"Options", "tune", "TuningCallback", "RemoteTuner"} <= set(learning_rate.__all__)
    assert all(getattr(learning_rate, name) for name in learning_rate.__all__)
    assert learning_rate.RemoteTuner is topoloom.RemoteTuner
    with pytest.raises(AttributeError, match="no attribute 'tuna'"):
        _ = learning_rate.tuna


def test_both_distributions_state_one_version_and_need_the_same():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    alone = tomllib.loads((ROOT / "learning_rate" / "pyproject.toml").read_text())["project"]
    assert alone["version"] == whole["version"]
    assert alone["requires-python"] == whole["requires-python"]
    extras = whole["optional-dependencies"]
    known = {*whole["dependencies"], *extras["tune"]}
    assert set(alone["dependencies"]) <= known
    assert alone["optional-dependencies"]["torch"] == extras["execute"]
    for name in ("huggingface", "lightning"):
        assert set(alone["optional-dependencies"][name]) <= set(extras[name])


def test_the_distribution_names_every_package_of_the_folder():
    stated = tomllib.loads((ROOT / "learning_rate" / "pyproject.toml").read_text())
    folders = {path.parent for path in (ROOT / "learning_rate").rglob("__init__.py")}
    names = {".".join(("topoloom", *folder.relative_to(ROOT).parts)) for folder in folders}
    assert set(stated["tool"]["setuptools"]["packages"]) == names


@pytest.mark.slow
def test_installed_alone_it_searches_and_says_what_it_lacks(tmp_path):
    """Its folder is the only one of ours on the path, beside the dependencies."""
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(ROOT / "learning_rate", source, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target]
    subprocess.run([*command, source], check=True)
    assert {path.name.partition("-")[0] for path in target.iterdir()} == {
        "topoloom", "topoloom_learning_rate",
    }  # fmt: skip
    assert [path.name for path in (target / "topoloom").iterdir()] == ["learning_rate"]
    program = (
        "import sys\n"
        # Isolated: neither this folder nor the editable installation is on the path.
        f"sys.path[:0] = [{str(target)!r}]; sys.path += [{sysconfig.get_path('purelib')!r}]\n"
        "sys.meta_path = [one for one in sys.meta_path if 'editable' not in repr(one)]\n"
        + SEARCH
        + "from topoloom.learning_rate import TuningCallback, tune, errors\n"
        "import topoloom.learning_rate as alone\n"
        "try: alone.RemoteTuner\n"
        "except errors.MissingExtra as error: print(error)\n"
        "print(alone.__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lacks, file = done.stdout.splitlines()
    assert lacks == "/RemoteTuner: needs the client: pip install topoloom"
    assert Path(file).is_relative_to(target)
