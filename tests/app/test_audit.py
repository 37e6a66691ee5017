"""The audit of dependencies fails for findings, and for nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


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
