"""From a built wheel only `topoloom` arrives, and it works beside folders of the same names."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FOLDERS = ("app", "learning_rate", "migrations", "schedules", "synth")
SOURCES = ("LICENSE", "README.md", "pyproject.toml", "docs", "topoloom", *FOLDERS)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy, so that no earlier build can leak into it."""
    source = tmp_path_factory.mktemp("source")
    stale = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=stale)
        else:
            shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", source]
    subprocess.run([*command, source], check=True)
    (built,) = source.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel into a new environment that borrows the dependencies of this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    names = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", "venv", names))
    # A path in a .pth file: the editable installation that stands there is not activated.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    python = home / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*command, wheel], check=True)
    return home / "bin"


@pytest.fixture
def project(tmp_path):
    """A training project with packages of its own that have our names."""
    for name in FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('of the project')\n")
    return tmp_path


def run(project, *command):
    settings = {"PATH": os.environ["PATH"], "HOME": str(project), "PYTHONPATH": str(project)}
    done = subprocess.run(command, cwd=project, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_but_topoloom_is_installed_at_top_level(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top.partition("-")[0] for top in tops} == {"topoloom"}
    for folder in FOLDERS:
        assert f"topoloom/{folder}/__init__.py" in names
    assert "topoloom/migrations/versions/0001_documents.py" in names
    assert "topoloom/synth/atlas/atlas.tsv" in names


def test_the_wheel_has_every_page_and_every_shown_picture_of_the_documentation(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("topoloom/docs/")}
    pages = sorted((ROOT / "docs").rglob("*.md"))
    shown = re.compile(r"!\[[^]]*\]\(([^)]+)\)|<img src=\"([^\"]+)\"")
    files = {
        (page.parent / (one[1] or one[2])).resolve()
        for page in pages
        for one in shown.finditer(page.read_text())
    }
    needed = {path.relative_to(ROOT).as_posix() for path in (*pages, *files)}
    assert len(files) > 10
    assert {f"topoloom/{name}" for name in needed} <= names


def test_every_promised_name_works_beside_folders_of_our_names(installed, project):
    program = (
        "import topoloom, topoloom.learning_rate as rates, topoloom.learning_rate.callbacks as on\n"
        "for package in (topoloom, rates, on):\n"
        "    for name in package.__all__: getattr(package, name)\n"
        "graph = topoloom.build('Complete(4)')\n"
        "print(graph.node_count, topoloom.__file__)\n"
    )
    count, file = run(project, installed / "python", "-c", program).split()
    assert count == "4" and Path(file).is_relative_to(installed.parent)


def test_the_console_script_works_beside_folders_of_our_names(installed, project):
    # The database is created by the migrations of the wheel.
    assert "Complete(4)" in run(project, installed / "topoloom", "topology", "Complete(4)")
    assert run(project, installed / "python", "-m", "topoloom", "--version")
