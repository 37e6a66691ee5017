"""Ctrl-C ends a command wherever it arrives."""

import subprocess
import sys
from pathlib import Path

import pytest

LOSE = """
import ctypes, signal, sys, time
from topoloom.app.cli.interrupts import redeliver_interrupts

if {heeded}:
    redeliver_interrupts()
callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
try:
    callback()
    for _ in range({waits}):
        time.sleep(0.05)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.parametrize(("heeded", "code"), [(True, 7), (False, 0)])
def test_an_interrupt_in_a_callback_from_c_code_comes_again(heeded, code):
    asked = subprocess.run(
        [sys.executable, "-c", LOSE.format(heeded=heeded, waits=1_000 if heeded else 10)],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # The interrupt that comes again ends the thousand waits.
    assert asked.returncode == code
    assert ("KeyboardInterrupt" in asked.stderr) == (not heeded)


def test_other_exceptions_in_callbacks_are_told_as_before(monkeypatch, capsys):
    import ctypes

    from topoloom.app.cli.interrupts import redeliver_interrupts

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    redeliver_interrupts()
    ctypes.CFUNCTYPE(None)(lambda: 1 // 0)()
    assert "ZeroDivisionError" in capsys.readouterr().err
