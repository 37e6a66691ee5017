"""``-`` is standard input where a command reads a file, and standard output where it writes one."""

import io
import sys
import zipfile

import pytest

from topoloom.app import cli

RING = b"0 1 1\n1 2 1\n2 0 1\n"
PLAN = ("patch", "BiRing(5)", "--out", "-")
SCHEDULE = ("schedule", "BiRing(5)", "--collective", "allgather", "--out", "-")
BASELINE = ("compare", "baselines", "BiRing(4)", "--collective", "allreduce", "--bytes", "1K")


@pytest.fixture
def piped(settings, monkeypatch):
    """Run a command line with bytes on standard input; return its exit code and its output."""
    monkeypatch.setenv("TOPOLOOM_DATABASE_URL", settings.database_url)

    def run(content, *arguments):
        out = io.BytesIO()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out))
        code = cli.run(list(arguments))
        sys.stdout.flush()
        return code, out.getvalue()

    return run


@pytest.mark.parametrize(
    ("write", "read", "said"),
    [
        (("topology", "BiRing(5)", "--out", "-"), ("measure", "-"), "5 nodes of degree 2"),
        (
            SCHEDULE,
            ("verify", "-", "--topology", "BiRing(5)"),
            "valid",
        ),
        (
            (*SCHEDULE, "--format", "chakra-et", "--bytes", "1K"),
            ("verify", "-", "--topology", "BiRing(5)"),
            "valid",
        ),
        (
            ("certificate", "write", "Kautz(2, 2)", "--out", "-"),
            ("certificate", "check", "-"),
            "allgather",
        ),
        (PLAN, ("patch", "show", "-"), "10 moves"),
        (PLAN, ("patch", "plan", "BiRing(5)", "--current-wiring", "-", "--format", "csv"), ""),
        (
            (*BASELINE, "--baseline", "nccl-ring", "--out", "-"),
            ("verify", "-", "--topology", "BiRing(4)"),
            "valid",
        ),
        (("cache", "export", "-"), ("cache", "import", "-"), "documents stored"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_one_command_writes_another_reads(piped, write, read, said):
    code, content = piped(b"", *write)
    assert code == 0 and content
    code, shown = piped(content, *read)
    assert code == 0
    assert said in shown.decode()


def test_edges_are_read_from_standard_input_as_a_file_and_in_a_recipe(piped):
    assert b"3 nodes of degree 1" in piped(RING, "measure", "-", "--directed")[1]
    lined = piped(RING, "topology", "LineGraph(1, @-)", "--directed", "--format", "edgelist")
    assert lined == (0, RING)


def test_a_set_of_programs_and_a_picture_go_to_standard_output_alone(piped):
    hosts = ("--nodes", "8", "--degree", "2")
    run = ("--collective", "allreduce", "--bytes", "1K", "--format", "msccl-xml")
    code, content = piped(b"", "files", *hosts, *run, "--out", "-")
    assert code == 0
    assert "files.json" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    code, content = piped(b"", "plot", "frontier", *hosts, "--out", "-")
    assert code == 0 and content.startswith(b"<?xml") and content.endswith(b"</svg>\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("measure", "-"), "topoloom: -: "),
        (("verify", "-", "--topology", "BiRing(4)"), "topoloom: -: is empty"),
        (("faults", "BiRing(4)", "--picture", "-"), "topoloom: -: must be a file"),
        (("db", "backup", "-"), "topoloom: FILE: must be a file"),
    ],
    ids=str,
)
def test_what_cannot_be_a_stream_is_refused_in_one_line(piped, capsys, words, line):
    assert piped(b"", *words) == (2, b"")
    err = capsys.readouterr().err
    assert err.startswith(line) and err.count("\n") == 1
