"""The service as its users meet it: a process, HTTP, files, a restart."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.ports import held_port

ROOT = Path(__file__).parent.parent.parent


def request(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(
        urllib.request.Request(url, data=data, headers=headers), timeout=120
    ) as answer:
        return answer.status, dict(answer.headers), answer.read()


@contextmanager
def service(database, **settings):
    with held_port() as port:
        process = subprocess.Popen(
            [sys.executable, "-m", "topoloom", "serve", "--port", str(port)],
            env=os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"} | settings,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        base = f"http://127.0.0.1:{port}"
        try:
            for _ in range(1200):
                try:
                    request(f"{base}/readyz")
                    break
                except OSError:
                    assert process.poll() is None, "the service ended before it was ready"
                    time.sleep(0.1)
            yield base
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@pytest.mark.slow
def test_answers_outlive_the_process(tmp_path):
    database = tmp_path / "topoloom.db"
    question = {"topology": {"fabric": "dgx-a100-2"}, "collective": "allreduce",
                "algorithm": "forestcoll"}  # fmt: skip
    with service(database) as base:
        status, headers, body = request(f"{base}/v1/schedules", question)
        assert status == 201
        place = headers["location"]
        document = place.partition("?")[0]
        schedule = request(base + document)[2]
        topology = request(f"{base}/v1/topologies/{json.loads(body)['topology_id']}")[2]
    with service(database) as base:
        status, headers, again = request(f"{base}/v1/schedules", question)
        assert (status, headers["location"], again) == (200, place, body)
        assert request(base + document)[2] == schedule
        counters = request(f"{base}/metrics")[2].decode()
        assert 'topoloom_answers_total{kind="schedule",source="cache"} 2.0' in counters
    (tmp_path / "schedule.json").write_bytes(schedule)
    (tmp_path / "topology.json").write_bytes(topology)
    checked = subprocess.run(
        [sys.executable, "-m", "topoloom", "verify", str(tmp_path / "schedule.json"),
         "--topology", str(tmp_path / "topology.json")],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"},
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (checked.returncode, checked.stdout) == (0, "valid\n")


@pytest.mark.slow
def test_a_hundred_megabytes_are_refused_on_a_real_connection(tmp_path):
    with service(tmp_path / "topoloom.db") as base:
        connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
        connection.putrequest("POST", "/v1/topologies")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", "100000000")
        connection.endheaders(b"1" * 1_000_000)
        with closing(connection), connection.getresponse() as answer:
            assert answer.status == 413
            assert json.load(answer)["type"] == "/problems/body-too-large"
        assert request(f"{base}/healthz")[0] == 200


def served_by(base):
    """Return the process that was started for a service."""
    port = base.rpartition(":")[2].encode()
    (found,) = (
        int(child)
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
        if port in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
    )
    return found


def used(root):
    """Return the CPU seconds of a process and all below it, and whether one of them would run."""
    seconds, running, waiting = 0.0, False, [root]
    while waiting:
        at = Path(f"/proc/{waiting.pop()}")
        try:
            for task in (at / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
                # What follows the name in parentheses: state, ..., user and system time.
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                running = running or fields[0] == "R"
                seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue  # it ended meanwhile
    return seconds, running


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_long_plan_that_is_cancelled_leaves_the_core_within_two_seconds_of_it(tmp_path):
    # Hosts chosen among 2000 take tens of seconds: what is plugged is of another topology.
    plugged = [
        {"panel": panel, "a": host, "b": (host * factor + 1) % 2000}
        for panel, factor in enumerate((3, 7, 9, 11))
        for host in range(2000)
    ]
    body = {
        "topology": {"recipe": "GeneralizedKautz(4, 2000)"},
        "present": plugged,
        "place": "free",
    }
    with service(tmp_path / "topoloom.db") as base:
        owner = served_by(base)
        asked = urllib.request.Request(
            f"{base}/v1/patch-plans",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Prefer": "respond-async"},
        )
        with urllib.request.urlopen(asked, timeout=120) as answer:
            assert answer.status == 202
            place = base + answer.headers["location"]
        for _ in range(600):
            job = json.loads(request(place)[2])
            assert job["state"] in ("queued", "running"), job
            if job["state"] == "running" and "choosing hosts" in json.dumps(job):
                break
            time.sleep(0.2)
        request(f"{place}/cancel", {})
        before, _ = used(owner)
        quiet = 0
        for _ in range(240):
            first, _ = used(owner)
            time.sleep(0.25)
            last, running = used(owner)
            quiet = quiet + 1 if not running and last - first < 0.02 else 0
            assert last - before < 2, "the plan goes on"
            if quiet == 4:
                break
        assert quiet == 4, "the service never comes to rest"
        assert json.loads(request(place)[2])["state"] == "cancelled"
