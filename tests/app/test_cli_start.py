"""How soon the command line answers what it knows, and what it loads for that."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom.app.cli.command_groups import ABOUT_TOPOLOGIES, click_group, serving, whole
from topoloom.app.cli.commands import topologies
from topoloom.app.store.embedded_reader import open_embedded

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("numba", "scipy", "networkx", "numpy", "sqlalchemy", "alembic", "fastapi", "matplotlib")
RUN = (
    "import sys; from topoloom.app.cli import run; code = run(sys.argv[1:]); "
    f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr); sys.exit(code)"
)
DESIGN = ("design", "--nodes", "12", "--degree", "4", "--collective", "allreduce", "--bytes", "1MB")
KNOWN = [
    DESIGN,
    ("design", "--nodes", "8", "--degree", "2", "--preset", "resnet50-ddp", "--csv"),
    ("frontier", "--nodes", "12", "--degree", "4"),
    ("frontier", "--nodes", "12", "--degree", "4", "--json"),
    ("measure", "Circulant(12, 2, 3)"),
    ("optimum", "dgx-a100-2", "--json"),
    ("topology", "Kautz(2, 2)"),
]
NEW = [DESIGN, ("optimum", "dgx-a100-2"), ("measure", "Circulant(12, 2, 3)")]
LIGHT = [
    ("--version",),
    ("-h",),
    ("design", "-h"),
    ("plot", "sizes", "--help"),
    ("config",),
    ("design", "--nodes", "1", "--degree", "4", "--collective", "allreduce", "--bytes", "1MB"),
]


def run(url, *arguments):
    """Run a command in a process of its own; return it, and what heavy modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=ROOT,
        env=os.environ | {"TOPOLOOM_DATABASE_URL": url, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done, done.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", KNOWN, ids=" ".join)
@pytest.mark.one_in(3)
def test_a_known_answer_is_given_before_anything_heavy_is_loaded(topoloom, settings, arguments):
    first = topoloom(*arguments)
    assert first.code == 0, first
    again, loaded = run(settings.database_url, *arguments)
    assert (again.returncode, again.stdout) == (0, first.out)
    assert loaded == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", LIGHT, ids=" ".join)
@pytest.mark.one_in(3)
def test_what_needs_no_answer_loads_nothing_heavy(settings, arguments):
    done, loaded = run(settings.database_url, *arguments)
    assert done.returncode == (2 if "1" in arguments else 0), done.stderr
    assert loaded == "[]"


@pytest.mark.slow
def test_commands_about_topologies_are_served_without_the_others_and_alike():
    names = {one.name or one.callback.__name__ for one in topologies.app.registered_commands}
    assert names == ABOUT_TOPOLOGIES
    for name in sorted(names):
        alone = serving([name]).commands
        every = click_group(whole()).commands
        assert set(alone) == names < set(every)
        taken = [
            [(one.name, one.opts, one.required, one.default) for one in command.params]
            for command in (alone[name], every[name])
        ]
        assert taken[0] == taken[1]
        assert alone[name].help == every[name].help
    for arguments in ([], ["-h"], ["plot"], ["frontiers"], ["--version", "frontier"]):
        assert serving(arguments) is click_group(whole())
    check = "import sys; from topoloom.app.cli import run; run(['frontier', '-h']); assert %s"
    unasked = "'topoloom.app.cli.commands.plots' not in sys.modules"
    subprocess.run([sys.executable, "-c", check % unasked], cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize("arguments", NEW, ids=" ".join)
@pytest.mark.one_in(5)
def test_a_new_answer_is_stored_in_a_new_file_without_sqlalchemy(tmp_path, arguments):
    url = f"sqlite:///{tmp_path / 'new.db'}"
    done, loaded = run(url, *arguments)
    assert done.returncode == 0 and "sqlalchemy" not in loaded, done
    again, loaded = run(url, *arguments)
    assert (again.stdout, loaded) == (done.stdout, "[]")


@pytest.mark.parametrize("listing", ["families", "fabrics", "presets"])
@pytest.mark.one_in(3)
def test_lists_of_names_load_no_kernels(settings, listing):
    _, loaded = run(settings.database_url, "catalog", listing)
    assert loaded in ("[]", "['numpy']")


def test_the_embedded_database_is_read_as_the_store_reads_it(topoloom, context, settings):
    document = json.loads(topoloom(*DESIGN, "--json").out)
    best = document["best"]["topology_id"]
    with open_embedded(settings.database_url) as embedded:
        for kind, identity in (("design", document["id"]), ("topology", best)):
            found = embedded.get(kind, identity)
            assert found == context.store.get(kind, identity)
        assert embedded.get("design", best) is None
        assert "Circulant" in " ".join(embedded.topology_names(10)) or embedded.topology_names(10)


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///:memory:", "sqlite:////nowhere/none.db", "postgresql://a@b/c", "?"],
)
def test_what_is_no_file_at_the_newest_revision_is_left_to_the_store(url):
    with open_embedded(url) as embedded:
        assert embedded is None


def test_a_file_without_tables_or_of_another_kind_is_left_to_the_store(tmp_path):
    for content in (b"", b"no database"):
        (tmp_path / "a.db").write_bytes(content)
        with open_embedded(f"sqlite:///{tmp_path / 'a.db'}") as embedded:
            assert embedded is None


def test_a_file_of_the_name_of_a_fabric_goes_before_what_is_stored(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = json.loads(topoloom("measure", "BiRing(5)", "--json").out)
    topoloom("topology", "BiRing(6)", "--out", "ring.json")
    (tmp_path / "ring.json").rename(tmp_path / "BiRing(5)")
    after = json.loads(topoloom("measure", "BiRing(5)", "--json").out)
    assert (before["nodes"], after["nodes"]) == (5, 6)
