"""Families that installed packages bring: found, loaded late, searched, and refused if broken."""

import os
import subprocess
import sys
import tomllib
from importlib import invalidate_caches
from pathlib import Path

import pytest

from topoloom.synth.entry_points import GROUP, family_entry_points, version_suffix
from topoloom.synth.errors import BrokenFamily
from topoloom.synth.families.plugins import installed_families

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_family"


def install(folder, module, text, points):
    """Lay a package down as pip does: its module, and what its metadata says of it."""
    (folder / f"{module}.py").write_text(text)
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")


@pytest.fixture
def example(tmp_path):
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    text = (EXAMPLE / "own_family.py").read_text()
    install(tmp_path, "own_family", text, project["entry-points"][GROUP])
    return tmp_path


def run(site, script):
    path = os.pathsep.join([str(site), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_example_package_brings_a_family_that_is_searched_expanded_parsed_and_part_of_ids(
    example,
):
    # The package first: it imports the catalogue, which must not yet ask for it.
    said = run(
        example,
        "import own_family\n"
        "from topoloom.app.config import KERNEL_VERSION\n"
        "from topoloom.synth.families import FAMILIES, family\n"
        "from topoloom.synth.recipes.build import build\n"
        "from topoloom.synth.recipes.recipe import parse\n"
        "from topoloom.synth.search.frontier import frontier\n"
        "print(FAMILIES[-1].__name__, family('Consecutive') is own_family.Consecutive)\n"
        "for nodes in (40, 120):\n"
        "    for point in frontier(nodes, 3, families=['Consecutive'], schedule='bfb').points:\n"
        "        print(point.recipe)\n"
        "print(build(parse('Consecutive(40, 3, 13)')).is_regular)\n"
        "print(KERNEL_VERSION)\n",
    )
    assert said[0] == "Consecutive True"
    assert any(line.startswith("Consecutive(40, 3, ") for line in said)
    assert any(line.startswith("LineGraph(1, Consecutive(40, 3, ") for line in said)
    assert said[-2] == "True"
    version, mark_, there = said[-1].partition("+")
    assert version.isdigit() and mark_ and len(there) == 8


@pytest.mark.slow
def test_its_members_are_what_they_promise(example):
    said = run(
        example,
        "from own_family import Consecutive\n"
        "from topoloom.synth.recipes.build import build, traits\n"
        "count = 0\n"
        "for nodes in range(3, 40):\n"
        "    for degree in range(2, 6):\n"
        "        for member in Consecutive.matching(nodes, degree):\n"
        "            graph = build(member)\n"
        "            graph.require_connected()\n"
        "            assert graph.is_regular and not graph.has_parallel_links\n"
        "            assert (graph.node_count, graph.degree) == member.size() == (nodes, degree)\n"
        "            count += 1\n"
        "print(count)\n",
    )
    assert int(said[0]) > 50


def test_without_such_packages_nothing_is_marked():
    family_entry_points.cache_clear()
    if not family_entry_points():
        assert version_suffix() == ""
        assert installed_families(()) == ()


FAMILY = """
from topoloom.synth.families import Base

class Good(Base):
    '''Good(n): a family.'''
    n: int
    title = "good"
    source = "here"
    def check_domain(self): pass
    def size(self): return self.n, 1
    def links(self): raise NotImplementedError

class Silent(Good):
    title = None

class Half(Base):
    '''Half(n): without size.'''

other = Good
number = 7
"""


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("Good", "some_families:Missing", "importable"),
        ("Good", "no_such_module:Good", "importable"),
        ("number", "some_families:number", "a subclass of synth.families.Base"),
        ("Half", "some_families:Half", "a subclass of synth.families.Base"),
        ("Better", "some_families:other", "named as its class"),
        ("Silent", "some_families:Silent", "title and source"),
        ("Torus", "some_families:Good", "named as its class"),
    ],
)
def test_what_is_no_family_is_refused_by_its_name(tmp_path, monkeypatch, name, value, rule):
    install(tmp_path, "some_families", FAMILY, {name: value})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_families", raising=False)
    invalidate_caches()
    family_entry_points.cache_clear()
    try:
        with pytest.raises(BrokenFamily, match=rule) as caught:
            installed_families(())
        assert caught.value.field == name
        assert value in caught.value.rule
    finally:
        family_entry_points.cache_clear()
        sys.modules.pop("some_families", None)


def test_a_name_that_is_taken_is_refused_and_a_free_one_loaded(tmp_path, monkeypatch):
    install(tmp_path, "some_families", FAMILY, {"Good": "some_families:Good"})
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    family_entry_points.cache_clear()
    try:
        (good,) = installed_families({"Torus"})
        assert good(5).size() == (5, 1)
        assert version_suffix().startswith("+")
        with pytest.raises(BrokenFamily, match="named as no other family"):
            installed_families({"Good"})
    finally:
        family_entry_points.cache_clear()
        sys.modules.pop("some_families", None)
