"""What a person meets at a terminal, and a program behind a pipe."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_architecture import commands
from topoloom.app.cli import app, completion
from topoloom.app.cli.command_groups import HELP_PANELS, RENAMED, click_group
from topoloom.app.cli.effective_settings import without_password
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.store.artifacts import KINDS

ROOT = Path(__file__).parent.parent.parent
COMMANDS = dict(commands(click_group(app)))
HOSTS = ("--nodes", "12", "--degree", "4")
DESIGN = ("design", *HOSTS, "--collective", "allreduce", "--bytes", "1MB")
TABLES = {
    "design": DESIGN,
    "frontier": ("frontier", *HOSTS),
    "measure": ("measure", "Kautz(2, 2)"),
    "sweep": ("sweep", "sizes", "--nodes", "6:8", "--degree", "2"),
    "list": ("list", "topologies"),
    "families": ("catalog", "families"),
    "fabrics": ("catalog", "fabrics"),
    "presets": ("catalog", "presets"),
    "config": ("config",),
}


def on_a_terminal(url, *arguments, columns=80, **environment):
    """Return what a command prints where stdout and stderr are a terminal of some width."""
    code = (
        f"import pty, sys; sys.exit(pty.spawn({[sys.executable, '-m', 'app', *arguments]!r}) >> 8)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={
            **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")},
            "TOPOLOOM_DATABASE_URL": url,
            "COLUMNS": str(columns),
            "TERM": "xterm",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.replace("\r\n", "\n")


def test_the_version_is_printed(topoloom):
    assert re.fullmatch(r"topoloom \d+\.\d+\.\d+\S*, kernels \S+\n", topoloom("--version").out)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_command_explains_itself_on_80_columns_by_h_and_by_help(topoloom, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    short, long = topoloom(*name.split(), "-h"), topoloom(*name.split(), "--help")
    assert short == long
    assert (short.code, short.err) == (0, "")
    assert "Usage: topoloom" in short.out
    assert max(map(len, short.out.splitlines())) <= 80
    if name:
        spelled = [one for option in COMMANDS[name].params for one in option.opts if "--" in one]
        assert all(re.search(f"^  .*{one}( |$)", short.out, re.MULTILINE) for one in spelled)


def test_the_help_shows_every_command_in_exactly_one_group_at_most_thirty(topoloom):
    placed = [name for names in HELP_PANELS.values() for name in names]
    assert sorted(placed) == sorted(click_group(app).commands)
    assert len(placed) <= 30
    shown = topoloom("--help").out
    places = [shown.index(f"─ {panel} ─") for panel in HELP_PANELS]
    assert places == sorted(places)
    for panel, following in zip(places, [*places[1:], len(shown)], strict=True):
        names = list(HELP_PANELS.values())[places.index(panel)]
        lines = shown[panel:following].splitlines()
        found = [line.split()[1] for line in lines if re.match("│ [a-z]", line)]
        assert found == list(names)


@pytest.mark.parametrize(("old", "new"), [*RENAMED.items(), ("atlas", "atlas export")])
@pytest.mark.one_in(4)
def test_the_name_of_a_command_before_it_moved_works_with_one_note(topoloom, old, new):
    now, before = topoloom(*new.split(), "--help"), topoloom(*old.split(), "--help")
    if old == "atlas":  # a group today; it wrote the atlas when no command of it was named
        now, before = topoloom(*new.split(), "--nodes", "8"), topoloom(old, "--nodes", "8")
    assert (before.code, before.out) == (now.code, now.out)
    assert now.err == ""
    assert before.err.startswith(f"note: `topoloom {old}` is now `topoloom {new}`")
    assert before.err.count("\n") == 1


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_comes_as_csv_of_rows_of_equal_length(topoloom, kind):
    topoloom("measure", "Kautz(2, 2)")
    answer = topoloom(*TABLES[kind], "--csv")
    assert (answer.code, answer.err) == (0, "")
    rows = list(csv.reader(io.StringIO(answer.out)))
    assert len(rows) > 1
    assert all(len(row) == len(rows[0]) for row in rows)
    assert all(re.fullmatch("[a-z_]+", name) for name in rows[0])


def test_the_csv_of_a_design_has_its_exact_numbers(topoloom):
    document = json.loads(topoloom(*DESIGN, "--json").out)
    rows = list(csv.DictReader(io.StringIO(topoloom(*DESIGN, "--csv").out)))
    points = [row for row in rows if row["kind"] == "point"]
    assert [row["topology_id"] for row in points] == [
        entry["topology_id"] for entry in document["frontier"]
    ]
    for row, entry in zip(points, document["frontier"], strict=True):
        assert Fraction(row["bandwidth"]) == Fraction(entry["bandwidth"])
        assert (float(row["seconds"]), row["recipe"]) == (entry["seconds"], entry["recipe"])
    assert {row["name"] for row in rows if row["kind"] == "baseline"} == {
        f"{entry['name']} (baseline)" for entry in document["baselines"]
    }


@pytest.mark.slow
def test_a_piped_table_is_neither_folded_nor_cut_and_has_no_colours(
    settings, topoloom, monkeypatch
):
    recipe = "LineGraph(3, Lift(4, 3, 2, 2, 0, 1, 0, 4, 1, 1, 1, 5, 0, 3, 0, 6, 1, 3, 1, 7))"
    topoloom("topology", recipe)
    done = subprocess.run(
        [sys.executable, "-m", "topoloom", "list", "topologies"],
        cwd=ROOT,
        env=os.environ | {"TOPOLOOM_DATABASE_URL": settings.database_url, "COLUMNS": "40"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert f"recipe {recipe}" in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("columns", [60, 90])
def test_a_table_fits_the_terminal_and_its_headings_are_bold(settings, topoloom, columns):
    topoloom("topology", "Cayley(64, 35, 16, 64, 182, 815, 1023)")
    shown = on_a_terminal(settings.database_url, "list", "topologies", columns=columns)
    assert shown.startswith("\x1b[1mid")
    lines = re.sub(r"\x1b\[\d+m", "", shown).splitlines()
    assert max(map(len, lines)) <= columns
    plain = on_a_terminal(
        settings.database_url, "list", "topologies", columns=columns, NO_COLOR="1"
    )
    assert plain.splitlines() == lines


@pytest.mark.slow
def test_a_design_fits_eighty_columns_without_a_broken_name(settings, topoloom):
    hosts = ("--nodes", "62", "--degree", "3")
    asked = ("design", *hosts, "--collective", "allreduce", "--bytes", "1MB")
    document = json.loads(topoloom(*asked, "--json").out)
    shown = on_a_terminal(settings.database_url, *asked, NO_COLOR="1")
    lines = [line for line in shown.splitlines() if not line.startswith("topology ")]
    assert max(map(len, lines)) <= 80
    for entry in (*document["frontier"], *document["baselines"], *document["assumed"]):
        assert sum(line.startswith(f"{entry['name']} ") for line in lines) >= 1
    assert lines[0].startswith(f"{document['best']['name']} takes ")


@pytest.mark.slow
def test_notes_and_errors_break_between_words(settings):
    swept = ("sweep", "iteration", "vit-22b", "--topology", "Complete(8)", "--degree", "7")
    unknown = ("topology", "BiRing(4)", "--format", "nosuch")
    for asked in ((*swept, "--links", "bidirectional"), unknown):
        shown = on_a_terminal(settings.database_url, *asked, NO_COLOR="1")
        start = max(shown.find("note: "), shown.find("topoloom: "))
        *lines, _ = shown[start:].splitlines()
        assert len(lines) > 3 and 60 < max(map(len, lines)) <= 80


@pytest.mark.parametrize("chosen", [(), ("--json",), ("--format", "json")], ids=str)
@pytest.mark.one_in(3)
@pytest.mark.slow
def test_a_patch_plan_is_a_table_on_a_terminal_and_a_document_elsewhere(settings, topoloom, chosen):
    document = topoloom("patch", "BiRing(5)", *chosen).out
    assert json.loads(document)["schema"] == "patch-plan/1"
    shown = on_a_terminal(settings.database_url, "patch", "BiRing(5)", *chosen)
    if chosen:
        assert document in shown
        return
    assert "10 moves: 0 removed, 10 added" in shown and "panel-0" in shown
    assert f"topoloom patch render {json.loads(document)['id'][:12]} --format csv" in shown


@pytest.mark.slow
def test_what_is_beyond_a_page_is_reached_by_the_command_that_is_said(topoloom):
    for nodes in range(3, 8):
        topoloom("topology", f"BiRing({nodes})", "--out", os.devnull)
    whole = json.loads(topoloom("list", "topologies", "--json").out)["items"]
    assert [item["request"]["recipe"] for item in whole] == [
        f"BiRing({n})" for n in range(7, 2, -1)
    ]
    found, command = [], "list topologies --limit 2"
    while command:
        answer = topoloom(*command.split(), "--csv")
        found += [row["id"] for row in csv.DictReader(io.StringIO(answer.out))]
        command = answer.err.strip().removeprefix("more: topoloom ")
    assert found == [item["id"] for item in whole]


def about_answers(client):
    """Ask for answers about stored answers."""
    asked = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    schedule = client.post("/v1/schedules", json=asked).json()["id"]
    pair = {"schedules": [schedule, schedule]}
    client.post("/v1/verifications", json={"schedule_id": schedule})
    client.post("/v1/simulations", json={"schedule_id": schedule, "bytes": 1})
    client.post("/v1/comparisons", json=pair)
    client.post("/v1/plots/load", json={"schedule_id": schedule})


# Exports are read where the documents are that they are of.
LISTED = [plural.replace("_", "-") for kind, plural in KINDS.items() if kind != "export"]


@pytest.mark.slow
@pytest.mark.parametrize("plural", LISTED)
def test_every_kind_of_document_is_listed_as_the_service_lists_it(topoloom, client, plural):
    topoloom(*DESIGN)
    topoloom("measure", "BiRing(5)")
    topoloom("optimum", "BiRing(5)")
    topoloom("patch", "BiRing(5)", "--out", os.devnull)
    topoloom("iteration", "vit-22b", "--nodes", "8", "--degree", "2", "--topology", "BiRing(8)")
    topoloom("design", "--box", "mi300x", *DESIGN[1:])
    about_answers(client)
    topoloom("sweep", "sizes", "--nodes", "6", "--degree", "2")
    shown = topoloom("list", plural)
    assert (shown.code, shown.err) == (0, "")
    rows = shown.out.splitlines()[1:]
    listed = json.loads(topoloom("list", plural, "--json").out)
    assert len(rows) == len(listed["items"]) > 0
    for row, item in zip(rows, listed["items"], strict=True):
        assert row.startswith(item["id"][:12])
    path = {"verifications": "verify"}.get(plural, plural)
    assert client.get(f"/v1/{path}").json() == listed


def test_settings_are_shown_with_their_source_and_without_passwords(topoloom, monkeypatch):
    monkeypatch.setenv("TOPOLOOM_MAX_NODES", "77")
    rows = {
        row["variable"]: row for row in csv.DictReader(io.StringIO(topoloom("config", "--csv").out))
    }
    assert (rows["TOPOLOOM_MAX_NODES"]["value"], rows["TOPOLOOM_MAX_NODES"]["source"]) == (
        "77",
        "environment",
    )
    assert rows["TOPOLOOM_PORT"]["source"] == "default"
    lines = topoloom("config").out.splitlines()
    assert lines.index("  TOPOLOOM_MAX_NODES=77") < lines.index("defaults:")
    assert lines.index("defaults:") < lines.index("  TOPOLOOM_PORT=8765")
    assert all(len(line) <= 80 for line in lines if "=sqlite:" not in line)
    monkeypatch.setenv("TOPOLOOM_DATABASE_URL", "postgresql+psycopg://ann:hush@db/topoloom")
    for form in ((), ("--csv",), ("--json",)):
        shown = topoloom("config", *form)
        assert shown.code == 0
        assert "hush" not in shown.out and "ann:***@db" in shown.out


@given(st.text("abc:@/?#%", max_size=9), st.sampled_from(["postgresql", "postgresql+psycopg"]))
def test_no_password_is_ever_shown(secret, scheme):
    hidden = without_password(f"{scheme}://ann:SECRET{secret}SECRET@db.example/topoloom")
    assert "SECRET" not in hidden and hidden.endswith("@db.example/topoloom")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("topoloom schedule x --algorithm sh", ["shortest-paths"]),
        ("topoloom design --links bi", ["bidirectional"]),
        ("topoloom design --family Gen", ["GeneralizedKautz", "GeneralizedDeBruijn"]),
        ("topoloom design --preset mix", ["mixtral-8x7b-ep"]),
        ("topoloom measure dgx-h", ["dgx-h100-N"]),
        ("topoloom list pa", ["patch-plans"]),
        ("topoloom sched", ["schedule"]),
    ],
)
@pytest.mark.one_in(3)
def test_a_shell_is_told_what_may_follow(settings, typed, expected):
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        env=os.environ
        | {
            "TOPOLOOM_DATABASE_URL": settings.database_url,
            "_TOPOLOOM_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert set(expected) <= set(done.stdout.split()), done


def test_names_of_stored_topologies_are_completed(topoloom):
    topoloom("topology", "BiRing(5)", "--out", os.devnull)
    assert completion.sources("BiR")[0] == "BiRing("
    topoloom("topology", "mi250-2", "--out", os.devnull)
    assert "mi250-2" in completion.sources("mi250-2")


def test_a_schedule_says_how_fast_it_is_beside_the_name_of_its_file(topoloom, tmp_path):
    file = str(tmp_path / "a.json")
    answer = topoloom("schedule", "dgx-a100-2", "--collective", "allgather", "--out", file)
    assert answer.err == ""
    found = dict(line.split(maxsplit=1) for line in answer.out.splitlines()[1:])
    # The optimum of this fabric is 1040/3 GB/s.
    assert found == {
        "algbw": "346.6667 GB/s",
        "busbw": "325.0000 GB/s",
        "gap": "none, optimal for large data",
    }


def test_a_schedule_says_the_time_of_a_size_and_how_far_off_the_optimum_it_is(topoloom, tmp_path):
    file, source = str(tmp_path / "a.json"), "Kautz(2, 2)"
    flags = ("--collective", "allreduce", "--bytes", "1MiB", "--alpha-us", "2", "--node-gbps", "80")
    lines = topoloom("schedule", source, *flags, "--out", file).out.splitlines()[1:]
    found = dict(line.split(maxsplit=1) for line in lines)
    # T_B is 1 each way, beside (N - 1) / N = 5/6: 2 * (2 us * 2 + 1 MiB / 10 GB/s).
    assert found["algbw"] == "5.0000 GB/s"
    assert found["busbw"] == f"{5 * 2 * 5 / 6:.4f} GB/s"
    assert found["gap"] == "1/5 = 0.2000 above the optimum for large data"
    assert found["time"] == f"{(8e-6 + 2 * 2**20 / 1e10) * 1e6:.4g} us for 1MiB, 2 us per hop"


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
@pytest.mark.parametrize("source", ["BiRing(5)", "Kautz(2, 2)"])
def test_the_time_of_much_data_is_the_one_of_algbw(topoloom, tmp_path, source, collective):
    flags = ("--collective", collective, "--bytes", "900GB", "--alpha-us", "0.000001")
    done = topoloom("schedule", source, *flags, "--out", str(tmp_path / "a.json"))
    found = dict(line.split(maxsplit=1) for line in done.out.splitlines()[1:])
    seconds = float(found["time"].split()[0])
    assert seconds == pytest.approx(900 / float(found["algbw"].split()[0]), rel=1e-3)


@pytest.mark.slow
def test_a_document_on_stdout_has_nothing_beside_it(topoloom, settings):
    answer = topoloom("schedule", "BiRing(5)", "--collective", "allgather")
    assert answer.err == ""
    assert json.loads(answer.out)["schema"] == "schedule/1"
    flags = ("schedule", "BiRing(5)", "--collective", "allgather")
    assert "algbw" in on_a_terminal(settings.database_url, *flags)


@given(
    st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=60), min_size=1),
    st.integers(30, 200),
)
def test_a_folded_table_keeps_every_character(names, width):
    columns = (Column("name", "name", left=True), Column("n", "n"))
    table = Table(columns, [{"name": name, "n": 1} for name in names])
    folded = "".join(re.sub(r"( +1)?\n", "", table.text(width).split("\n", 1)[1] + "\n"))
    assert folded == "".join(names)
    assert all(len(line) <= width for line in table.text(width).splitlines())
    assert len(table.text().splitlines()) == len(names) + 1


def test_a_narrow_table_drops_columns_in_their_order_then_folds_between_words():
    columns = (
        Column("name", "name", left=True),
        Column("asked", "asked", left=True),
        Column("T_B", "cost", drop=1),
        Column("id", "id", drop=2),
    )
    row = {"name": "directedcirculant-8x2-2f11", "asked": "nodes 8, degree 2", "cost": "7/8"}
    table = Table(columns, [row | {"id": "0123456789ab"}])
    headings = [table.text(width).split("\n")[0].split() for width in (80, 60, 50, 40)]
    assert headings == [
        ["name", "asked", "T_B", "id"],
        ["name", "asked", "id"],
        ["name", "asked"],
        ["name", "asked"],
    ]
    assert table.text(42).splitlines()[1:] == [
        "directedcirculant-8x2-2f11  nodes 8,",
        "                            degree 2",
    ]


@pytest.mark.parametrize("links", ["unidirectional", "bidirectional"])
def test_a_frontier_is_explained_by_its_bounds_and_by_what_its_points_cost(topoloom, links):
    asked = ("frontier", "--nodes", "62", "--degree", "3", "--links", links)
    document = json.loads(topoloom(*asked, "--json").out)
    shown = topoloom(*asked, "--explain").out
    assert shown.startswith(topoloom(*asked).out)
    steps = document["bounds"]["steps"]
    ball = {"unidirectional": [1, 4, 13, 40, 121], "bidirectional": [1, 4, 10, 22, 46, 94]}[links]
    assert ball[steps - 1] < 62 <= ball[steps]
    assert f"in {steps - 1} a host reaches at most {ball[steps - 1]} hosts" in shown
    assert "no topology has T_B below 61/62 = 0.9839" in shown
    for entry in document["frontier"]:
        assert f"recipe: {entry['recipe']}" in shown
        if entry["algorithm"] == "slack":
            assert f"by a slack schedule within {entry['within_steps']} steps" in shown
    refused = topoloom(*asked, "--explain", "--json")
    assert refused.code == 2
    assert "--explain" in refused.err
