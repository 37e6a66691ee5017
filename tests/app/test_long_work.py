"""Work that takes long: its limit on the service, its progress and its end on a terminal."""

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app

ROOT = Path(__file__).parent.parent.parent
QUESTION = {"topology": {"fabric": "mi250-2"}, "collective": "allgather", "algorithm": "forestcoll"}
LONG = ["GeneralizedKautz(4, 700)", "--collective", "allgather", "--algorithm", "forestcoll"]


def test_the_service_ends_what_takes_too_long_and_keeps_nothing_of_it(settings):
    hasty = settings.model_copy(update={"max_seconds": 1e-9})
    with TestClient(create_app(hasty), base_url="http://localhost") as client:
        answer = client.post("/v1/schedules", json=QUESTION)
        assert answer.status_code == 422
        problem = answer.json()
        assert problem["type"] == "/problems/took-too-long"
        assert "must be done within 1e-09 seconds" in problem["detail"]
        assert client.get("/v1/schedules").json()["items"] == []
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.post("/v1/schedules", json=QUESTION).status_code == 201


def started(tmp_path, stderr):
    command = [
        sys.executable,
        "-m",
        "topoloom",
        "schedule",
        *LONG,
        "--out",
        str(tmp_path / "long.json"),
    ]
    database = f"sqlite:///{tmp_path / 'topoloom.db'}"
    environment = os.environ | {"TOPOLOOM_DATABASE_URL": database, "TERM": "xterm"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=stderr)


@pytest.mark.slow
def test_a_terminal_says_that_the_first_command_compiles_kernels(tmp_path):
    database, kernels = f"sqlite:///{tmp_path / 'topoloom.db'}", str(tmp_path / "kernels")
    new = {"TOPOLOOM_DATABASE_URL": database, "NUMBA_CACHE_DIR": kernels, "TERM": "xterm"}
    command = [sys.executable, "-m", "topoloom", "measure", "Circulant(12, 2, 3)"]
    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | new, stderr=theirs)
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux says so when the other end is closed.
            while part := os.read(ours, 4096):
                seen += part
        assert process.wait(timeout=60) == 0
        said.append(b"compiling kernels, once after an installation" in seen)
        Path(tmp_path / "topoloom.db").unlink()
    assert said == [True, False]


@pytest.mark.slow
def test_a_terminal_sees_how_far_it_is_and_control_c_leaves_nothing_behind(tmp_path):
    ours, theirs = pty.openpty()
    process = started(tmp_path, theirs)
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 120
    while b"packing trees" not in seen and time.monotonic() < deadline:
        seen += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    while process.poll() is None and time.monotonic() < deadline:
        try:
            seen += os.read(ours, 4096)
        except OSError:
            # Linux says so when the other end is closed.
            break
    assert process.wait(timeout=60) == 130
    assert b"interrupted; nothing was stored" in seen
    assert not (tmp_path / "long.json").exists()


@pytest.mark.slow
def test_a_file_for_errors_is_not_written_full_of_bars(tmp_path):
    deadline = time.monotonic() + 120
    with (tmp_path / "errors").open("wb") as errors:
        process = started(tmp_path, errors)
        while not (tmp_path / "topoloom.db").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        while process.poll() is None and time.monotonic() < deadline:
            # Python ignores an interrupt inside a finalizer; the next one counts.
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
        assert process.wait(timeout=60) in (130, -signal.SIGINT)
    assert b"packing" not in (tmp_path / "errors").read_bytes()
