"""What docs/operations.md tells operators: copies, upgrades, image, compose file, audits."""

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from sqlalchemy.engine import make_url

from app.access import keys
from app.backups import back_up, restore
from app.client import Client, Refused
from app.config import HEAD, Settings
from app.db import DatabaseNotReady, current_revision, migrate, open_database, open_engine
from app.services.opening import open_context
from app.services.topologies import create
from app.topology_source import TopologySource
from tests.app.test_service_process import service

ROOT = Path(__file__).parent.parent.parent
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


def stored(url):
    """Return the ids of all topologies of a database."""
    with open_context(Settings(database_url=url)) as context:
        return {entry.id for entry in context.whole_store.page("topology", 100, None)[0]}


def filled(url, *sizes):
    with open_context(Settings(database_url=url)) as context:
        return {create(context, TopologySource(recipe=f"UniRing({n})")).id for n in sizes}


@pytest.fixture
def urls(tmp_path):
    return f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b' / 'b.db'}"


def test_a_copy_holds_what_the_database_held_and_is_one_file(urls, tmp_path):
    here, there = urls
    ids = filled(here, 5, 6, 7)
    size = back_up(here, tmp_path / "copy.db")
    assert size > 0
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]
    restore(there, tmp_path / "copy.db")
    assert stored(there) == ids
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]


def test_a_copy_made_while_others_write_is_whole(urls, tmp_path):
    here, there = urls
    before = filled(here, 5)
    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(filled, here, *range(6, 40))
        copies = []
        while not writing.done():
            copies.append(tmp_path / f"{len(copies)}.db")
            back_up(here, copies[-1])
    for copy in copies:
        restore(there, copy, replace=True)
        assert before <= stored(there) <= writing.result() | before


def test_a_database_that_is_there_is_lost_only_when_that_is_said(urls, tmp_path):
    here, there = urls
    ids, others = filled(here, 5), filled(there, 6)
    back_up(here, tmp_path / "copy.db")
    with pytest.raises(DatabaseNotReady, match="is there already; --replace"):
        restore(there, tmp_path / "copy.db")
    assert stored(there) == others
    restore(there, tmp_path / "copy.db", replace=True)
    assert stored(there) == ids


def test_a_copy_of_an_earlier_version_is_migrated_when_it_is_opened(urls, tmp_path):
    here, there = urls
    engine = open_engine(here)
    migrate(engine, "0001")
    engine.dispose()
    back_up(here, tmp_path / "old.db")
    restore(there, tmp_path / "old.db")
    engine = open_database(there)
    assert current_revision(engine) == HEAD
    engine.dispose()


def no_database(path):
    path.write_text("this is not a database" * 100)


def another_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()


def of_a_later_version(path):
    open_database(f"sqlite:///{path}").dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


def cut_short(path):
    filled(f"sqlite:///{path}.whole", *range(5, 60))
    back_up(f"sqlite:///{path}.whole", Path(f"{path}.copy"))
    data = Path(f"{path}.copy").read_bytes()
    path.write_bytes(data[: len(data) // 2])


def nothing(path):
    pass


@pytest.mark.parametrize(
    "made", [no_database, another_database, of_a_later_version, cut_short, nothing]
)
def test_what_is_no_copy_is_not_restored(urls, tmp_path, made):
    here, _ = urls
    ids = filled(here, 5)
    made(tmp_path / "bad.db")
    with pytest.raises(DatabaseNotReady, match=r"bad\.db: "):
        restore(here, tmp_path / "bad.db", replace=True)
    assert stored(here) == ids


@pytest.mark.parametrize("url", ["sqlite://", "postgresql://a@b/c"])
def test_what_is_no_file_is_not_copied_here(url, tmp_path):
    with pytest.raises(DatabaseNotReady, match="database_url: must be"):
        back_up(url, tmp_path / "copy.db")
    with pytest.raises(DatabaseNotReady):
        back_up(f"sqlite:///{tmp_path / 'none.db'}", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_never_takes_the_place_of_a_file(urls, tmp_path):
    filled(urls[0], 5)
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(DatabaseNotReady, match="must not be there yet"):
        back_up(urls[0], tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_postgresql_is_copied_as_documented(postgres_url, postgres_server, tmp_path):
    programs = [shutil.which(name) for name in ("pg_dump", "pg_restore")]
    if None in programs:
        pytest.skip("PostgreSQL's pg_dump is not installed")
    engine = open_engine(postgres_url)
    migrate(engine)
    ids = filled(postgres_url, 5, 6)
    key = keys.create(engine, "kept", ["read"])[1]
    shown = re.findall(r"^(pg_(?:dump|restore) .*)$", OPERATIONS, re.M)
    assert len(shown) == 2
    database = make_url(postgres_url).set(drivername="postgresql")
    env = os.environ | {"DATABASE": database.render_as_string(hide_password=False)}
    subprocess.run(["sh", "-c", shown[0]], cwd=tmp_path, env=env, check=True, timeout=60)
    filled(postgres_url, 7)
    engine.dispose()
    subprocess.run(["sh", "-c", shown[1]], cwd=tmp_path, env=env, check=True, timeout=60)
    assert stored(postgres_url) == ids
    assert keys.find(engine, key).name == "kept"
    engine.dispose()


# --- the image and the compose file ---


def compose():
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def image_environment():
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return dict(re.findall(r"(TOPOLOOM_\w+)=(\S+)", "".join(re.findall(r"^ENV (.*)$", text, re.M))))


def test_the_image_is_told_only_what_is_a_setting_and_asks_for_keys():
    told = image_environment()
    assert told["TOPOLOOM_AUTH"] == "keys"
    for name in told:
        assert name.removeprefix("TOPOLOOM_").lower() in Settings.model_fields
    for one in compose().values():
        for name in one.get("environment", {}):
            if name.startswith("TOPOLOOM_"):
                assert name.removeprefix("TOPOLOOM_").lower() in Settings.model_fields


def test_who_needs_the_tables_waits_for_the_migration_and_that_for_the_database():
    services = compose()
    ready = {"migrate": {"condition": "service_completed_successfully"}}
    assert services["api"]["depends_on"] == services["worker"]["depends_on"] == ready
    assert services["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["api"]["ports"] == ["127.0.0.1:8765:8765"]
    assert "ports" not in services["database"]
    assert "ports" not in services["worker"]


def test_docker_takes_the_compose_file():
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("docker is not installed")
    found = subprocess.run(
        [docker, "compose", "config", "--quiet"],
        cwd=ROOT,
        env=os.environ | {"POSTGRES_PASSWORD": "x"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "not a docker command" in found.stderr or "unknown" in found.stderr:
        pytest.skip("docker compose is not installed")
    assert found.returncode == 0, found.stderr


def run_service(name, url, port):
    """Start what a service of the compose file runs, with the settings of the image."""
    told = {k: v for k, v in image_environment().items() if k != "TOPOLOOM_DATABASE_URL"}
    told |= {
        "TOPOLOOM_DATABASE_URL": url,
        "TOPOLOOM_PORT": str(port),
        "TOPOLOOM_LOG_FORMAT": "json",
    }
    command = [sys.executable, "-m", "app", *compose()[name]["command"]]
    return subprocess.Popen(
        command, cwd=ROOT, env=os.environ | told, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_the_services_of_the_compose_file_run_on_postgresql(postgres_url):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    early = run_service("api", postgres_url, port)
    assert early.wait(timeout=60) == 2
    assert "run `topoloom migrate`" in early.communicate()[1]
    migrated = run_service("migrate", postgres_url, port)
    assert migrated.wait(timeout=60) == 0, migrated.communicate()
    migrated.communicate()
    api = run_service("api", postgres_url, port)
    try:
        client = Client(f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + 30
        while not client.is_ready() and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(Refused) as caught:
            client.stored("designs")
        assert caught.value.status == 401
        engine = open_engine(postgres_url)
        key = keys.create(engine, "me", ["admin"])[1]
        engine.dispose()
        client = Client(f"http://127.0.0.1:{port}", key=key)
        assert client.topology(recipe="UniRing(5)")["schema"] == "topology/1"
        # The probe of the image, as it stands.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=4).close()
    finally:
        api.terminate()
        start = time.monotonic()
        _, said = api.communicate(timeout=30)
    assert time.monotonic() - start < 8
    lines = [json.loads(line) for line in said.splitlines()]
    assert any("no API key is valid yet" in line["message"] for line in lines)
    assert any(line["message"] == "POST /v1/topologies 201" for line in lines)
    assert not any(key in json.dumps(line) for line in lines)


# --- curl, as the documentation shows it ---


def curl_examples():
    """Return the shell blocks of the documentation."""
    pages = [ROOT / "README.md", ROOT / "docs" / "api.md", ROOT / "docs" / "operations.md"]
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
    key = keys.create(engine, "shell", ["admin"])[1]
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
        start = time.monotonic()
    # The service was told to end, and waited for.
    assert time.monotonic() - start < 8
    for client in clients:
        client.close()


# --- the audit of dependencies ---


def audited(tmp_path, report=None, said="", code=0):
    """Run .ci/audit with a pip-audit that reports this."""
    fake = tmp_path / "pip-audit"
    text = "" if report is None else json.dumps({"dependencies": report})
    fake.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"open(sys.argv[sys.argv.index('--output') + 1], 'w').write({text!r})\n"
        f"print({said!r}, file=sys.stderr)\nsys.exit({code})\n"
    )
    fake.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "audit")],
        env=os.environ | {"AUDITOR": str(fake)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


WEAK = {"id": "PYSEC-1", "fix_versions": ["2"], "aliases": []}


@pytest.mark.parametrize(
    ("report", "said", "code", "expected"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], "", 0, (0, "audit: 1 packages, 0 with")),
        ([{"name": "a", "version": "1", "vulns": [WEAK]}], "", 1, (1, "audit: a 1: PYSEC-1")),
        ([{"name": "a", "skip_reason": "not found"}], "", 0, (0, "audit: skipped: ")),
        (None, "ERROR: Could not connect to PyPI", 1, (0, "audit: skipped: ")),
        (None, "ERROR: no such option", 1, (1, "audit: failed: ")),
    ],
)
def test_an_audit_fails_for_findings_and_not_for_silence(tmp_path, report, said, code, expected):
    returned, line = audited(tmp_path, report, said, code)
    assert returned == expected[0]
    assert line.startswith(expected[1])
    assert "\n" not in line or "PYSEC" in line


def test_the_audit_is_part_of_what_must_hold():
    assert ".ci/audit" in (ROOT / ".ci" / "run").read_text()
