"""Jobs and sweeps on the command line, on the database and at a service."""

import json
import threading
import time

import pytest
import uvicorn

from topoloom.app.api.main import create_app
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.store.database import open_database


@pytest.fixture
def jobs(settings):
    engine = open_database(settings.database_url)
    yield Jobs(engine)
    engine.dispose()


@pytest.fixture
def address(settings):
    """Run a service that leaves jobs to others, in a thread."""
    chosen = settings.model_copy(update={"run_worker": False})
    server = uvicorn.Server(
        uvicorn.Config(create_app(chosen), host="127.0.0.1", port=0, log_level="critical")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + 200
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(params=["database", "service"])
def there(request):
    """Return the options that say whom to ask."""
    return () if request.param == "database" else ("--url", request.getfixturevalue("address"))


@pytest.mark.slow
def test_jobs_are_listed_shown_cancelled_and_waited_for(jobs, topoloom, there):
    made = [jobs.enqueue(Task.of("design", {"number": number})) for number in range(3)]
    listed = json.loads(topoloom("jobs", "list", "--json", "--limit", "2", *there).out)
    assert [job["id"] for job in listed["items"]] == [made[2], made[1]]
    table = topoloom("jobs", "list", "--limit", "2", *there)
    assert [line.split()[0] for line in table.out.splitlines()[1:]] == [made[2], made[1]]
    assert table.err == f"more: topoloom jobs list --limit 2 --after {made[1]}\n"
    rest = topoloom("jobs", "list", "--after", made[1], "--csv", *there)
    assert made[0] in rest.out and made[1] not in rest.out
    assert topoloom("jobs", "show", made[0], *there).out == f"{made[0]}: design, queued\n"
    late = topoloom("jobs", "wait", made[0], "--seconds", "0.1", *there)
    assert (late.code, late.out) == (1, f"{made[0]}: design, queued\n")
    assert topoloom("jobs", "cancel", made[0], *there).out == f"{made[0]}: design, cancelled\n"
    ended = topoloom("jobs", "wait", made[0], "--json", *there)
    assert (ended.code, json.loads(ended.out)["state"]) == (1, "cancelled")
    again = topoloom("jobs", "cancel", made[0], *there)
    assert again.code == 2 and "has ended already" in again.err
    chosen = topoloom("jobs", "list", "--state", "cancelled", "--json", *there)
    assert [job["id"] for job in json.loads(chosen.out)["items"]] == [made[0]]


def test_cancelled_jobs_and_deleted_sessions_are_in_the_audit_log(topoloom, jobs):
    job = jobs.enqueue(Task.of("design", {}))
    assert topoloom("jobs", "cancel", job).code == 0
    rates = "--min-lr", "0.01", "--max-lr", "1", "--total-steps", "1000"
    session = json.loads(topoloom("lr", "create", *rates, "--json").out)["id"]
    assert topoloom("lr", "cancel", session).code == topoloom("lr", "delete", session).code == 0
    listed = json.loads(topoloom("keys", "audit-log", "--json").out)["items"]
    assert [(one["action"], one["target"]) for one in listed] == [
        ("lr delete", session),
        ("lr cancel", session),
        ("jobs cancel", job),
    ]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("jobs", "show", "0" * 32), "no job is stored"),
        (("jobs", "list", "--state", "lost"), "--state"),
        (("jobs", "list", "--operation", "desing"), "did you mean design?"),
        (("jobs", "list", "--after", "0" * 32), "--after"),
        (("jobs", "list", "--json", "--csv"), "--csv"),
        (("jobs", "list", "--url", "nowhere"), "--url: must be http://HOST:PORT"),
        (("jobs", "show", "0" * 32, "--url", "http://127.0.0.1:1"), "does not answer"),
        (("jobs", "worker", "--concurrency", "0"), "--concurrency"),
        (("sweep", "sizes", "--nodes", "9:x", "--degree", "2"), "FROM:TO"),
        (("sweep", "sizes", "--nodes", "9:8", "--degree", "2"), "--nodes"),
        (("sweep", "sizes", "--nodes", "8"), "--degree"),
        (
            ("sweep", "workload", "--nodes", "8", "--degree", "2"),
            "must have --collective with --bytes, --workload, or --preset",
        ),
        (("faults", "Complete(300)"), "20000"),
        (("faults", "BiRing(4)", "--lost", "cable"), "--lost"),
    ],
)
@pytest.mark.one_in(3)
def test_what_cannot_be_is_one_clear_line(topoloom, arguments, word):
    answer = topoloom(*arguments)
    assert answer.code == 2
    assert word in answer.err and answer.err.count("\n") == 1


def test_a_sweep_is_what_its_questions_answer_one_by_one(topoloom):
    whole = topoloom("sweep", "workload", "--nodes", "6:10:2", "--degree", "2", "--collective",
                     "allreduce", "--bytes", "1MB", "--json")  # fmt: skip
    sweep = json.loads(whole.out)
    assert sweep["schema"] == "sweep/1"
    for row, nodes in zip(sweep["rows"], ("6", "8", "10"), strict=True):
        alone = topoloom("design", "--nodes", nodes, "--degree", "2", "--collective",
                         "allreduce", "--bytes", "1MB", "--json")  # fmt: skip
        design = json.loads(alone.out)
        assert row["answer_id"] == design["id"]
        assert row["seconds"] == design["best"]["seconds"]
    again = topoloom("sweep", "workload", "--nodes", "10", "--nodes", "6:8:2", "--degree", "2",
                     "--collective", "allreduce", "--bytes", "1MB", "--json")  # fmt: skip
    assert again.out == whole.out
