"""The service as its users meet it: a process, HTTP, files, a restart."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "serve", "--port", str(port)],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"} | settings,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
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
        schedule = request(base + place)[2]
        topology = request(f"{base}/v1/topologies/{json.loads(body)['topology_id']}")[2]
    with service(database) as base:
        status, headers, again = request(f"{base}/v1/schedules", question)
        assert (status, headers["location"], again) == (200, place, body)
        assert request(base + place)[2] == schedule
        counters = request(f"{base}/metrics")[2].decode()
        assert 'topoloom_answers_total{kind="schedule",source="cache"} 2.0' in counters
    (tmp_path / "schedule.json").write_bytes(schedule)
    (tmp_path / "topology.json").write_bytes(topology)
    checked = subprocess.run(
        [sys.executable, "-m", "app", "verify", str(tmp_path / "schedule.json"),
         "--topology", str(tmp_path / "topology.json")],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"},
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (checked.returncode, checked.stdout) == (0, "valid\n")


@pytest.mark.slow
def test_a_hundred_megabytes_are_refused_on_a_real_connection(tmp_path):
    with service(tmp_path / "topoloom.db") as base:
        start = time.perf_counter()
        try:
            request_ = urllib.request.Request(
                f"{base}/v1/topologies",
                data=b"1" * 100_000_000,
                headers={"Content-Type": "application/json"},
            )
            urllib.request.urlopen(request_, timeout=60)
            raise AssertionError("it was taken")
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == 413
                assert json.load(error)["type"] == "/problems/body-too-large"
        assert time.perf_counter() - start < 10
        assert request(f"{base}/healthz")[0] == 200
