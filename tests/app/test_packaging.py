"""What people build and run from: image, package, make targets."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")


def instructions(name):
    return re.findall(rf"^\s*{name}\s+(.*)$", DOCKERFILE, re.MULTILINE)


def test_everything_the_image_copies_is_there_and_not_ignored():
    admitted = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")
    ]
    copied = [
        path for line in instructions("COPY") if "--from" not in line for path in line.split()[:-1]
    ]
    assert len(copied) >= 5
    for path in copied:
        assert (ROOT / path).exists(), path
        assert path.removeprefix("./") in admitted, path


def test_every_package_is_copied_into_the_image():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = " ".join(instructions("COPY"))
    for pattern in project["tool"]["setuptools"]["packages"]["find"]["include"]:
        assert f" ./{pattern.rstrip('*')}" in copied
    assert project["project"]["readme"] in copied


def test_the_image_runs_as_nobody_in_particular_and_is_probed():
    assert instructions("USER") == ["topoloom"]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["topoloom"]
    assert json.loads(instructions("CMD")[-1]) == ["serve"]
    probe = json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])
    assert probe[:2] == ["python", "-c"]
    compile(probe[2], "probe", "exec")
    assert "/readyz" in probe[2]


@pytest.mark.parametrize("target", ["run", "test", "test-slow", "serve", "bench", "lint"])
def test_make_knows_the_target(target):
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", [".ci/run", ".ci/install-debian-packages"])
def test_scripts_are_executable_and_parse(script):
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["sh", "-n", str(ROOT / script)], check=True, timeout=60)
