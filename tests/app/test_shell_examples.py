"""What the documentation shows for a shell works, and a service told to end does."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.test_service_process import service
from topoloom.app.auth import api_keys
from topoloom.app.store.database import open_database

ROOT = Path(__file__).parent.parent.parent


def curl_examples():
    """Return the shell blocks of the documentation."""
    docs = ROOT / "docs"
    guides = (docs / f"how-to/{name}.md" for name in ("run-the-service", "keys-and-owners"))
    pages = [ROOT / "README.md", docs / "reference/rest.md", *guides]
    found = []
    for page in pages:
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S):
            found.append(pytest.param(block, id=f"{page.stem}-{len(found)}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("block", curl_examples())
def test_what_the_documentation_shows_for_a_shell_works(block, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    database = tmp_path / "t.db"
    engine = open_database(f"sqlite:///{database}")
    key = api_keys.create(engine, "shell", ["admin"])[1]
    engine.dispose()
    (tmp_path / "bin").mkdir()
    own = tmp_path / "bin" / "topoloom"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m app "$@"\n')
    own.chmod(0o755)
    with service(database, TOPOLOOM_AUTH="keys" if "$KEY" in block else "open") as base:
        env = os.environ | {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "KEY": key,
            "TOPOLOOM_DATABASE_URL": f"sqlite:///{database}",
        }
        script = "set -eu\n" + block.replace("http://127.0.0.1:8765", base)
        done = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_design_of_a_training_by_pytorch_is_one_that_can_be_asked(topoloom):
    page = (ROOT / "docs" / "how-to" / "run-in-pytorch.md").read_text()
    (command,) = re.findall(r"^topoloom (design .*) > design.json$", page, re.M)
    answer = topoloom(*shlex.split(command))
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["request"]["nodes"] == 4


@pytest.mark.slow
def test_told_to_end_it_ends_in_seconds_whatever_its_clients_do(tmp_path):
    clients = []
    with service(tmp_path / "t.db") as base:
        place = ("127.0.0.1", int(base.rpartition(":")[2]))
        head = b"POST /v1/designs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
        for begun in (b"", b"GET /he", head + b"Content-Type: application/json\r\n\r\n{"):
            clients.append(socket.create_connection(place))
            clients[-1].sendall(begun)
        time.sleep(0.3)
    # The service was told to end, and waited for.
    for client in clients:
        client.close()
