"""The image and the compose file: settings, order of start, and its services as processes."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from topoloom.app.auth import api_keys
from topoloom.app.client import Client, Refused
from topoloom.app.config import Settings
from topoloom.app.store.database import open_engine

ROOT = Path(__file__).parent.parent.parent


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


def test_the_probe_of_the_worker_asks_its_endpoint():
    worker = compose()["worker"]
    port = worker["environment"]["TOPOLOOM_WORKER_PORT"]
    assert f"http://127.0.0.1:{port}/readyz" in worker["healthcheck"]["test"][-1]


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
        "TOPOLOOM_WORKER_HOST": "0.0.0.0",
        "TOPOLOOM_WORKER_PORT": str(port),
        "TOPOLOOM_LOG_FORMAT": "json",
    }
    command = [sys.executable, "-m", "topoloom", *compose()[name]["command"]]
    return subprocess.Popen(
        command, cwd=ROOT, env=os.environ | told, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_the_services_of_the_compose_file_run_on_postgresql(postgres_url, port):
    early = run_service("api", postgres_url, port)
    assert early.wait(timeout=60) == 2
    assert "run `topoloom db migrate`" in early.communicate()[1]
    migrated = run_service("migrate", postgres_url, port)
    assert migrated.wait(timeout=60) == 0, migrated.communicate()
    migrated.communicate()
    api = run_service("api", postgres_url, port)
    try:
        client = Client(f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + 120
        while not client.is_ready() and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(Refused) as caught:
            client.stored("designs")
        assert caught.value.status == 401
        engine = open_engine(postgres_url)
        key = api_keys.create(engine, "me", ["admin"])[1]
        engine.dispose()
        client = Client(f"http://127.0.0.1:{port}", key=key)
        assert client.topology(recipe="UniRing(5)")["schema"] == "topology/1"
        # The probe of the image, as it stands.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=4).close()
    finally:
        api.terminate()
        _, said = api.communicate(timeout=120)
    worker = run_service("worker", postgres_url, port)
    try:
        client = Client(f"http://127.0.0.1:{port}", key=key)
        while not client.is_ready() and time.monotonic() < deadline:
            time.sleep(0.1)
        # The metrics of a worker need a key, as those of the service do.
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60)
        assert refused.value.code == 401
        refused.value.close()
    finally:
        worker.terminate()
        said += worker.communicate(timeout=120)[1]
    lines = [json.loads(line) for line in said.splitlines()]
    assert any("no API key is valid yet" in line["message"] for line in lines)
    assert any(line["message"] == "POST /v1/topologies 201" for line in lines)
    assert not any(key in json.dumps(line) for line in lines)
