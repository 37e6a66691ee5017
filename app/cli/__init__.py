"""The command line: parse arguments, call one service function, print the answer.

Exit codes: 0 success; 1 a negative answer; 2 bad input, with one line on stderr; 130 interrupted.
With ``--json``, stdout carries the document only.
"""

import gc
import os
import sys
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import typer

from topoloom.app.cli.command_groups import current_spelling, serving
from topoloom.app.cli.errors import UNEXPECTED, exit_code_and_message
from topoloom.app.cli.interrupts import redeliver_interrupts
from topoloom.app.cli.kernel_loading import prepare_kernels

if TYPE_CHECKING:
    app: typer.Typer

__all__ = ["app", "main", "run"]

YOUNG_OBJECTS = 200_000
"""Threshold of the garbage collector; Python's default is 700.

The modules and results of a command live until its end.  With the default, collections took a
tenth of the CPU time.  A cold design makes 250,000 objects.
"""
INTERRUPTED = 130
"""Exit code of shells and of typer after Ctrl-C."""


def __getattr__(name: str) -> Any:
    """Load all commands at the first use of ``app``."""
    if name != "app":
        raise AttributeError(f"module 'app.cli' has no attribute {name!r}")
    from topoloom.app.cli.command_groups import whole

    return whole()


def _place(arguments: list[str], pointer: str, error: Exception | None) -> str:
    """Return the option, file or text of the arguments behind a member of a request."""
    from topoloom.app.cli.error_locations import Typed

    return Typed.of(serving(arguments), arguments).place(pointer, error)


def _advice(arguments: list[str], error: Exception, line: str) -> str:
    """Return the option that an argument without its option needs, as the end of the message."""
    missing = getattr(error, "param", None)
    if not line.startswith(UNEXPECTED) and (missing is None or not line.endswith(": is missing")):
        return ""
    from topoloom.app.cli.error_locations import Typed

    return Typed.of(serving(arguments), arguments).advice(missing)


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(YOUNG_OBJECTS)
    redeliver_interrupts()
    prepare_kernels()
    code = run(sys.argv[1:])
    # Else Python looks for garbage among all objects once more: 0.3 s of CPU time.
    gc.freeze()
    sys.exit(code)


def _require_values(arguments: list[str]) -> None:
    """Refuse an empty argument, such as an unset variable in quotes: as a path, it is a folder."""
    for before, word in pairwise(("topoloom", *arguments)):
        option, equals, value = word.partition("=") if word else (before, "=", "")
        if option.startswith("--") and equals and not value:
            raise typer.BadParameter("must not be empty", param_hint=option)
        if not word:
            raise typer.BadParameter(f"the argument after {before!r} must not be empty")


def _require_one_input(arguments: list[str]) -> None:
    """Refuse standard input for two files: the second would hold the first."""
    pairs = pairwise(("topoloom", *arguments))
    written = ("--out", "--plant-out")
    if sum(word == "-" and before not in written for before, word in pairs) > 1:
        raise typer.BadParameter("only one file can be -, standard input")


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        _require_values(arguments)
        _require_one_input(arguments)
        arguments, renamed = current_spelling(arguments)
        for note in renamed:
            from topoloom.app.cli.output.text_table import print_note

            print_note(f"{note}; the next release removes the old name")
        code = serving(arguments)(arguments, prog_name="topoloom", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return 2
    except BrokenPipeError:
        # The reader closed the pipe; closing stdout at exit must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        code, line = exit_code_and_message(error, partial(_place, arguments))
        line += _advice(arguments, error, line)
        # A group without a command prints its help and no error.
        if line:
            from topoloom.app.cli.output.text_table import say

            say(f"topoloom: {line}", error=True)
    if code == INTERRUPTED:
        print("topoloom: interrupted; nothing was stored", file=sys.stderr)
    return code or 0
