import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom.app.store.database import HEAD
from topoloom.schedules.optimum import collective_optimum
from topoloom.synth.wiring import apply, read_present, uniform

ROOT = Path(__file__).parent.parent.parent


def run(*arguments, home, **environment):
    """Run the command in a process of its own, as a new user."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TOPOLOOM_")}
    return subprocess.run(
        [sys.executable, "-m", "topoloom", *arguments],
        env=inherited | {"XDG_DATA_HOME": str(home)} | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_new_user_gets_a_database_in_the_data_folder(tmp_path):
    done = run("topology", "UniRing(3)", "--format", "edgelist", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 1 1\n1 2 1\n2 0 1\n", "")
    assert (tmp_path / "topoloom" / "topoloom.db").is_file()


def test_an_error_is_one_line_and_exit_code_2(tmp_path):
    done = run("measure", "BiRing(0)", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("topoloom: BiRing(0): ")
    assert done.stderr.count("\n") == 1


def test_a_wrong_setting_is_one_line(tmp_path):
    done = run("measure", "BiRing(5)", home=tmp_path, TOPOLOOM_MAX_NODES="many")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "topoloom: TOPOLOOM_MAX_NODES: must be an integer\n"
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_serve_refuses_a_database_it_cannot_use(tmp_path):
    url = "postgresql://nobody@127.0.0.1:1/none"
    done = run("serve", home=tmp_path, TOPOLOOM_DATABASE_URL=url)
    assert done.returncode == 2
    assert done.stderr.startswith("topoloom: database_url: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error(tmp_path):
    command = f"{sys.executable} -m app topology 'Hypercube(10)' | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ('{"schema":', "")


@pytest.mark.slow
def test_starting_takes_no_kernels_and_no_web_framework(tmp_path):
    code = (
        "import sys; from topoloom.app.cli import run; run(['catalog', 'fabrics']); "
        "print([m for m in ('fastapi', 'numba', 'sqlalchemy', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_documents_go_to_stdout_alone_and_repeat_byte_for_byte(topoloom):
    first = topoloom("optimum", "dgx-a100-2", "--json")
    again = topoloom("optimum", "dgx-a100-2", "--json")
    assert first == again
    assert (first.code, first.err) == (0, "")
    assert json.loads(first.out)["inverse_rate"] == "3/65"


def test_tables_show_the_numbers_of_the_document(topoloom):
    shown = topoloom("measure", "Kautz(2, 2)")
    document = json.loads(topoloom("measure", "Kautz(2, 2)", "--json").out)
    words = shown.out.split()
    assert shown.code == 0
    assert "5/6" in words and document["bounds"]["bandwidth"] == "5/6"
    assert str(document["steps"]) in words
    assert "325 GB/s" in topoloom("optimum", "dgx-a100-2").out


@pytest.mark.one_in(2)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize(
    ("source", "algorithm"),
    [
        ("BiRing(5)", "bfb"),
        ("dgx-a100-2", "forestcoll"),
        ("LineGraph(1, Power(2, UniRing(2)))", "lifted"),
    ],
)
def test_a_schedule_is_written_and_found_valid(topoloom, tmp_path, source, algorithm, collective):
    graph, file = tmp_path / "graph.json", tmp_path / "schedule.json.gz"
    topoloom("topology", source, "--out", str(graph))
    flags = ["--collective", collective, "--algorithm", algorithm, "--node-gbps", "100"]
    made = topoloom("schedule", source, *flags, "--out", str(file))
    assert (made.code, made.err) == (0, "")
    assert json.loads(gzip.decompress(file.read_bytes()))["collective"] == collective
    checked = topoloom("verify", str(file), "--topology", str(graph))
    assert (checked.code, checked.out, checked.err) == (0, "valid\n", "")
    plain = topoloom("schedule", str(graph), *flags)
    assert json.loads(plain.out) == json.loads(gzip.decompress(file.read_bytes()))


def test_the_fewest_trees_within_a_gap_are_reported_with_rate_and_gap(topoloom, tmp_path):
    shown = topoloom("optimum", "dgx-a100-2", "--max-gap", "1/100").out
    assert "trees per root 7" in shown
    assert "1/1260 above the optimum's inverse rate, 3/65" in shown
    file = tmp_path / "few.json"
    made = topoloom(
        "schedule", "dgx-a100-2", "--collective", "allgather",
        "--max-gap", "1/50", "--out", str(file),
    )  # fmt: skip
    assert "1 tree per root, 1/90 above the optimum" in made.out
    assert json.loads(file.read_text())["trees_per_root"] == 1


@pytest.mark.parametrize("command", ["optimum", "schedule"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("max-gap", "-1/100"), ("max-gap", "much"), ("max-gap", "1/0"), ("trees-per-root", "0")],
)
def test_a_bad_gap_or_number_of_trees_is_refused_by_name(topoloom, command, option, value):
    flags = ["--collective", "allgather"] if command == "schedule" else []
    done = topoloom(command, "dgx-a100-2", *flags, f"--{option}={value}")
    assert done.code == 2
    assert done.err.startswith(f"topoloom: --{option}: ")


def test_an_invalid_schedule_is_answered_no_with_every_violation(topoloom, tmp_path):
    made = topoloom("schedule", "UniRing(4)", "--collective", "allgather")
    document = json.loads(made.out)
    document["steps"][0][0]["target"] = 2
    document["steps"][0][1]["target"] = 3
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document))
    checked = topoloom("verify", str(file), "--topology", "UniRing(4)")
    assert checked.code == 1
    assert "/steps/0/0" in checked.out
    assert "/steps/0/1" in checked.out or "violations" in checked.out
    other = topoloom("verify", str(file), "--topology", "UniRing(5)")
    assert other.code in (1, 2)


def test_a_file_that_is_no_schedule_is_bad_input(topoloom, tmp_path):
    file = tmp_path / "graph.json"
    topoloom("topology", "UniRing(4)", "--out", str(file))
    checked = topoloom("verify", str(file), "--topology", "UniRing(4)")
    assert checked.code == 2
    assert "is a topology in the format json, not a schedule" in checked.err


@pytest.mark.parametrize("dialect", ["msccl", "azure", "rccl"])
def test_a_schedule_comes_as_msccl_xml(topoloom, dialect):
    made = topoloom(
        "schedule", "BiRing(4)", "--collective", "allgather",
        "--format", "msccl-xml", "--dialect", dialect,
    )  # fmt: skip
    assert made.code == 0
    assert made.out.startswith("<algo ")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("form", "name", "flags"),
    [
        ("msccl-xml", "a.xml", ["--inplace"]),
        ("mscclpp-json", "a.json", ["--inplace", "--ranks-per-node", "8"]),
        ("mscclpp-json", "a.json.gz", []),
        ("chakra-et", "a.zip", ["--bytes", "1MiB"]),
        ("chakra-et", "a", ["--bytes", "1MiB"]),
    ],
)
def test_an_exported_file_is_verified_as_it_lies_on_disk(topoloom, tmp_path, form, name, flags):
    file, source = tmp_path / name, "dgx-1v"
    made = topoloom(
        "schedule", source, "--collective", "allreduce", "--format", form, *flags,
        "--out", str(file),
    )  # fmt: skip
    assert made.code == 0
    assert all(
        line.startswith("note: Every link has the latency") for line in made.err.splitlines()
    )
    checked = topoloom("verify", str(file), "--topology", source)
    assert (checked.code, checked.out, checked.err) == (0, "valid\n", "")
    other = topoloom("verify", str(file), "--topology", "UniRing(8)")
    assert other.code == 1
    assert "no link or way over switches" in other.out
    if name == "a":
        assert topoloom("verify", str(tmp_path / "a.3.et"), "--topology", source).code == 0
        (tmp_path / "a.7.et").unlink()
        fewer = topoloom("verify", str(file), "--topology", source)
        assert fewer.code == 1
        assert "rank 0 of 7" in fewer.out


def test_a_tuner_table_is_verified(topoloom, tmp_path):
    file = tmp_path / "nccl_tuner.conf"
    flags = ["--collective", "allreduce", "--format", "nccl-tuner-csv", "--alpha-us", "2.5"]
    assert topoloom("schedule", "BiRing(4)", *flags, "--out", str(file)).code == 0
    assert topoloom("verify", str(file), "--topology", "BiRing(4)").out == "valid\n"
    other = topoloom("verify", str(file), "--topology", "BiRing(5)")
    assert (other.code, "5 compute nodes" in other.out) == (1, True)


@pytest.mark.slow
def test_a_damaged_exported_file_is_answered_no(topoloom, tmp_path):
    file = tmp_path / "a.xml"
    flags = ["--collective", "allgather", "--format", "msccl-xml", "--dialect", "rccl"]
    topoloom("schedule", "BiRing(4)", *flags, "--out", str(file))
    verify = ["verify", str(file), "--topology", "BiRing(4)"]
    assert topoloom(*verify, "--dialect", "rccl").code == 0
    file.write_text(file.read_text().replace('dstoff="2"', 'dstoff="1"', 1))
    checked = topoloom(*verify, "--dialect", "rccl")
    assert (checked.code, checked.out.splitlines()[-1]) == (1, "invalid: 1 violation")


@pytest.mark.parametrize(
    ("name", "data"), [("a.zip", b"PK\x03\x04"), ("a.0.et", None), ("a.xml", b"\xff"), ("a", b"")]
)
def test_what_cannot_be_read_as_any_schedule_is_bad_input(topoloom, tmp_path, name, data):
    file = tmp_path / name
    if data is not None:
        file.write_bytes(data)
    checked = topoloom("verify", str(file), "--topology", "BiRing(4)")
    assert (checked.code, checked.err.count("\n")) == (2, 1)


def test_a_patch_plan_starts_from_the_plan_before_it(topoloom, tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert topoloom("patch", "BiRing(6)", "--out", str(first)).code == 0
    again = topoloom("patch", "BiRing(6)", "--current-wiring", str(first))
    assert json.loads(again.out)["summary"]["moves"] == 0
    asked = ("--current-wiring", str(first), "--out", str(second))
    moved = topoloom("patch", "Circulant(6, 1, 2)", *asked)
    assert moved.code == 0
    plan = json.loads(second.read_text())
    panels = uniform(**plan["panels"])
    present = read_present(json.loads(first.read_text()), panels)
    assert apply(plan, present, panels) == read_present(plan, panels)
    assert 0 < plan["summary"]["moves"] < 24


def test_a_patch_plan_reads_the_wiring_of_today_from_csv(topoloom, tmp_path):
    file = tmp_path / "today.csv"
    file.write_text("panel,a,b,remark\n0,0A,1B,\n0,1,2,x\n")
    made = topoloom("patch", "UniRing(3)", "--current-wiring", str(file), "--format", "csv")
    assert made.code == 0
    rows = made.out.strip().splitlines()[1:]
    assert len(rows) == 1
    assert "add" in rows[0]
    file.write_text("a,b\n0,1\n")
    refused = topoloom("patch", "UniRing(3)", "--current-wiring", str(file))
    assert (refused.code, refused.err.count("\n")) == (2, 1)


@pytest.mark.slow
def test_migrate_brings_postgresql_to_head(topoloom, monkeypatch, postgres_url):
    monkeypatch.setenv("TOPOLOOM_DATABASE_URL", postgres_url)
    refused = topoloom("topology", "BiRing(3)")
    assert refused.code == 2
    assert "topoloom db migrate" in refused.err
    assert f"at revision {HEAD}" in topoloom("db", "migrate").out
    made = topoloom("measure", "BiRing(5)", "--json")
    assert json.loads(made.out)["bandwidth"] == "4/5"
    assert topoloom("measure", "BiRing(5)", "--json") == made
    refused = topoloom("db", "migrate", "--revision", "base")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--yes: must be given, because the migration removes all tables" in refused.err
    assert topoloom("measure", "BiRing(5)", "--json") == made
    assert "at revision base" in topoloom("db", "migrate", "--revision", "base", "--yes").out


def test_the_second_answer_does_not_compute(topoloom, monkeypatch):
    first = topoloom("optimum", "Torus(6, 6)")
    monkeypatch.setattr(collective_optimum, "collective_optimum", None)
    assert topoloom("optimum", "Torus(6, 6)") == first
    with pytest.raises(TypeError):
        topoloom("optimum", "Torus(6, 7)")
