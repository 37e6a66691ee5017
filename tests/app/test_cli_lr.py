"""`topoloom lr …` against the database, and against a service."""

import csv
import io
import json

import pytest

from tests.app.lr_jobs import action_of
from tests.app.test_service_process import service
from tests.learning_rate.trainers import Toy

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ASKED = ("--min-lr", "1e-4", "--max-lr", "1", "--total-steps", "520", "--warmup-steps", "8",
         "--anchor", "none", "--candidates", "3", "--max-overhead", "0.3")  # fmt: skip


@pytest.fixture(params=["database", "service"])
def lr(request, topoloom, tmp_path):
    """Run `topoloom lr`, against the test's database or a service of its own."""
    if request.param == "database":
        yield lambda *arguments: topoloom("lr", *arguments)
        return
    with service(tmp_path / "service.db") as base:
        yield lambda *arguments: topoloom("lr", *arguments, "--url", base)


def created(lr, *more):
    answer = lr("create", *ASKED, *more, "--json")
    assert (answer.code, answer.err) == (0, "")
    return json.loads(answer.out)


def trained(lr, document):
    """Train to the end, one command for each report."""
    toy, action = Toy(), document["action"]
    number = document["sequence"]
    while action["do"] != "stop":
        losses, number = toy.carry_out(action_of(action)), number + 1
        said = ("--losses", ",".join(map(repr, losses))) if losses else ()
        answer = lr("observe", document["id"], "--lease", document["lease"],
                    "--sequence", str(number), *said, "--json")  # fmt: skip
        assert answer.code == 0, answer.err
        action = json.loads(answer.out)["action"]
    return number


@pytest.mark.slow
def test_a_job_is_trained_from_a_shell_alone(lr, tmp_path):
    document = created(lr, "--name", "from a shell")
    last = trained(lr, document)
    shown = lr("show", document["id"][:12])
    assert shown.code == 0
    assert "finished: 520 of 520 steps kept" in shown.out
    assert f"sequence {last}, next: stop finished" in shown.out
    assert shown.out.count("chosen") >= 1
    assert "from a shell" in lr("list").out
    rows = list(csv.DictReader(io.StringIO(lr("history", document["id"], "--format", "csv").out)))
    assert sum(row["kept"] == "1" for row in rows) == 520
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    picture = tmp_path / "lr.svg"
    assert lr("history", document["id"], "--format", "svg", "--out", str(picture)).code == 0
    assert "<svg" in picture.read_text()


@pytest.mark.one_in(2)
def test_sessions_are_shown_cancelled_attached_to_and_deleted(lr):
    document = created(lr)
    identity, lease = document["id"], document["lease"]
    assert lr("next", identity).out == "sequence 0, next: save safe-0\n"
    assert json.loads(lr("next", identity, "--json").out) == document["action"]
    saved = lr("observe", identity, "--lease", lease, "--sequence", "1")
    assert saved.out == "sequence 1, next: set_lr 0.00125, 1 steps\n"
    told = lr("observe", identity, "--lease", lease, "--sequence", "2", "--losses", "nan")
    assert told.out == "sequence 2, next: set_lr 0.0025, 1 steps\n"
    back = json.loads(lr("attach", identity, "--lease", lease, "--sequence", "0", "--json").out)
    assert (back["sequence"], back["action"]) == (0, document["action"])
    assert json.loads(lr("history", identity).out)["entries"] == []
    assert lr("cancel", identity).out == "sequence 0, next: nothing: cancelled\n"
    assert lr("delete", identity).out == f"deleted: {identity}\n"
    assert json.loads(lr("list", "--json").out) == {"items": [], "next_cursor": None}


@pytest.mark.slow
def test_the_length_of_a_run_changes_from_a_shell(lr):
    document = created(lr)
    mine = (document["id"], "--lease", document["lease"])
    assert lr("observe", *mine, "--sequence", "1").code == 0
    told = lr("extend", *mine, "--sequence", "2", "--total-steps", "2000")
    assert "0 of 2000 steps kept" in told.out
    assert "sequence 2, next: set_lr" in told.out
    shown = json.loads(lr("extend", *mine, "--sequence", "3", "--json").out)
    assert shown["options"]["total_steps"] == 2000  # during warm-up there is nothing to decay


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", *ASKED, "--min-lr", "2"), "--min-lr: must be less than --max-lr"),
        (("observe", "ID", "--lease", "x", "--sequence", "1"), "another trainer"),
        (("observe", "ID", "--lease", "LEASE", "--sequence", "3"), "must be 1"),
        (
            ("observe", "ID", "--lease", "LEASE", "--sequence", "1", "--losses", "a"),
            "--losses: must be a number",
        ),
        (
            ("observe", "ID", "--lease", "LEASE", "--sequence", "1", "--losses", "1"),
            "--losses: must be empty after save",
        ),
        (
            ("extend", "ID", "--lease", "LEASE", "--sequence", "1", "--total-steps", "1"),
            "--total-steps: must be 9 to",
        ),
        (("attach", "ID"), "another trainer holds the session"),
        (("next", "0" * 64), "no lr-session is stored"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(topoloom, arguments, told):
    def lr(*given):
        return topoloom("lr", *given)

    document = created(lr)
    words = {"ID": document["id"], "LEASE": document["lease"]}
    answer = lr(*[words.get(word, word) for word in arguments])
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert answer.err.count("\n") == 1


def test_a_service_that_is_not_there_is_said_in_one_line(topoloom):
    answer = topoloom("lr", "list", "--url", "http://127.0.0.1:1")
    assert answer.code == 2
    assert "does not answer" in answer.err
    assert topoloom("lr", "list", "--url", "nonsense").code == 2
