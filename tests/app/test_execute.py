"""`topoloom execute`: a schedule file run between real processes."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.test_docs import DOCS, examples_of, printed
from topoloom.app import extras

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _needs_torch():
    pytest.importorskip("torch", reason="the extra `execute` is not installed")


@pytest.fixture
def schedule_of(topoloom, tmp_path):
    def write(source, collective="allreduce", *options):
        path = tmp_path / "schedule.json"
        done = topoloom(
            "schedule", source, "--collective", collective, "--out", str(path), *options
        )
        assert done.code == 0, done.err
        return str(path)

    return write


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("xml", ["--format", "msccl-xml", "--dialect", "rccl"]),
        ("json", ["--format", "mscclpp-json"]),
        ("zip", ["--format", "chakra-et", "--bytes", "1MiB"]),
    ],
)
def test_every_format_that_is_verified_is_run(topoloom, tmp_path, suffix, options):
    path = str(tmp_path / f"program.{suffix}")
    made = topoloom("schedule", "Kautz(2, 2)", "--collective", "allreduce", "--out", path, *options)
    assert made.code == 0, made.err
    dialect = ["--dialect", "rccl"] if suffix == "xml" else []
    for topology in ([], ["--topology", "Kautz(2, 2)"]):
        done = topoloom("execute", path, "--bytes", "6KiB", "--json", *dialect, *topology)
        assert (done.code, done.err) == (0, "")
        document = json.loads(done.out)
        assert (document["exact"], document["bytes_moved"]) == (True, 2 * 5 * 6144)
        assert (document["topology_digest"] is None) == (not topology)
    refused = topoloom("execute", path, "--topology", "UniRing(6)", *dialect)
    assert refused.code == 2
    assert "no link or way over switches" in refused.err


@pytest.mark.slow
def test_a_schedule_is_run_and_found_exact(topoloom, schedule_of):
    path = schedule_of("Kautz(2, 2)")
    answer = topoloom(
        "execute", path, "--ranks", "6", "--topology", "Kautz(2, 2)", "--bytes", "6KiB",
        "--repeat", "2", "--json",
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert len(document.pop("seconds")) == 2
    assert document.pop("topology_digest").startswith("sha256:")
    assert document == {
        "schema": "execution/1",
        "collective": "allreduce",
        "ranks": 6,
        "bytes": 6144,
        "rounds": 4,
        "messages": 48,
        "bytes_moved": 2 * 5 * 6144,
        "exact": True,
        "mistakes": [],
    }


@pytest.mark.slow
def test_what_came_out_wrong_is_listed_and_the_answer_is_no(topoloom, schedule_of):
    path = Path(schedule_of("UniRing(3)", "allgather"))
    document = json.loads(path.read_text())
    document["steps"].reverse()
    document["steps"][0], document["steps"][1] = document["steps"][1], document["steps"][0]
    lost = document["steps"][-1].pop()
    path.write_text(json.dumps(document))
    answer = topoloom("execute", str(path), "--bytes", "120")
    assert answer.code == 1
    assert (
        f"wrong at rank {lost['target']}: 10 elements of shard {lost['shard']}, from element 0 on"
        in answer.out
    )
    # Against the topology it is not run at all.
    refused = topoloom("execute", str(path), "--topology", "UniRing(3)")
    assert (refused.code, refused.out) == (2, "")
    assert "never arrives" in refused.err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--ranks", "4"), "--ranks: must be 6, the number of ranks of the schedule; not 4"),
        (("--ranks", "0"), "--ranks: must be at least 1"),
        (("--topology", "BiRing(6)"), "FILE: /topology: is another topology than the given one"),
        (("--bytes", "1001"), "--bytes: must be a multiple of 4"),
        (("--bytes", "1TB"), "--bytes: must be at most 715827882 between 6 ranks"),
        (("--bytes", "much"), "--bytes: must be a positive integer"),
        (("--repeat", "0"), "--repeat: must be at least 1"),
        (("--pipeline-chunks", "0"), "--pipeline-chunks: must be at least 1"),
        (("--timeout", "nan"), "--timeout: must be a finite number"),
    ],
)
@pytest.mark.one_in(3)
def test_bad_input_is_said_in_one_line(topoloom, schedule_of, options, complaint):
    file = schedule_of("Kautz(2, 2)")
    answer = topoloom("execute", file, *options)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"topoloom: {complaint.replace('FILE', file)}")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("length", [0, 20, 300, -2])
def test_a_truncated_file_is_refused(topoloom, schedule_of, length):
    path = Path(schedule_of("Kautz(2, 2)"))
    path.write_text(path.read_text()[:length])
    answer = topoloom("execute", str(path))
    assert (answer.code, answer.out) == (2, "")
    rule = "must be JSON" if length else "is empty: give schedule/1, MSCCL XML"
    assert answer.err.startswith(f"topoloom: {path}: {rule}")


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "must hold a send or an edge"),
        ({"steps": [[{"source": 0, "target": 1}]]}, '/schema: must be "schedule/1"'),
        (
            {"schema": "schedule/1", "kind": "steps", "chunks_per_shard": 1,
             "steps": [[{"source": 0, "target": 1}]]},
            "/steps/0/0/shard: must be the id of a compute node",
        ),
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(topoloom, tmp_path, document, complaint):
    path = tmp_path / "strange.json"
    path.write_text(json.dumps(document))
    answer = topoloom("execute", str(path))
    assert answer.code == 2
    assert answer.err.startswith(f"topoloom: {path}: {complaint}")


def test_without_the_extra_one_line_says_what_to_install(topoloom, schedule_of, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    answer = topoloom("execute", schedule_of("Kautz(2, 2)"))
    assert answer == (2, "", "topoloom: needs torch: pip install 'topoloom[execute]'\n")


@pytest.mark.slow
def test_an_interrupt_ends_the_command_without_a_traceback(schedule_of, settings, tmp_path):
    path = schedule_of("Kautz(2, 2)")
    command = [sys.executable, "-m", "topoloom", "execute", path]
    running = subprocess.Popen(
        [*command, "--bytes", "4MiB", "--repeat", "1000"],
        cwd=ROOT,
        env=os.environ | {"TOPOLOOM_DATABASE_URL": settings.database_url, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with running:
        while not list(tmp_path.glob("topoloom-execute-*/*")):
            assert running.poll() is None
            time.sleep(0.01)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert out == ""
    assert err.startswith("topoloom: interrupted")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("topoloom-execute-*"))


@pytest.mark.slow
def test_the_page_shows_what_happens(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    shown = examples_of([DOCS / "how-to" / "run-a-schedule.md"])
    assert len(shown) >= 3
    for command, expected in shown:
        found = printed(topoloom(*shlex.split(command)))
        assert settled(found) == settled(expected), command


def settled(text):
    """Leave out times, and what changes with every better schedule."""
    text = re.sub(r"[\d.]+ m?s( to [\d.]+ m?s)?", "…", text)
    return re.sub(r"\d+ rounds, \d+ messages", "…", text)
