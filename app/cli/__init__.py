"""The command line: parses, calls one service function, prints.

Exit codes: 0 done, 1 the answer is "no", 2 bad input, said in one line on stderr; 130
interrupted.
Documents go to stdout and nothing else does when ``--json`` is given.
"""

import gc
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from topoloom.app.cli.command_groups import current_spelling, serving
from topoloom.app.cli.errors import explained
from topoloom.app.cli.interrupts import heed_lost_interrupts

if TYPE_CHECKING:
    app: typer.Typer

__all__ = ["app", "main", "run"]

YOUNG_OBJECTS = 50_000
"""New objects between two collections of garbage, 700 unless said.

What a command imports and finds stays until it ends, and looking through it again and again took a
tenth of the processor.
"""
INTERRUPTED = 130
"""What shells, and typer, call the end by Ctrl-C."""


def __getattr__(name: str) -> Any:
    """Load all commands when ``app`` is asked for, which holds them."""
    if name != "app":
        raise AttributeError(f"module 'app.cli' has no attribute {name!r}")
    from topoloom.app.cli.command_groups import whole

    return whole()


def _place(arguments: list[str], pointer: str, error: Exception | None) -> str:
    """Return what stands in the arguments for a member of a request."""
    from topoloom.app.cli.error_locations import Typed

    return Typed.of(serving(arguments), arguments).place(pointer, error)


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(YOUNG_OBJECTS)
    heed_lost_interrupts()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    arguments, renamed = current_spelling(arguments)
    if renamed is not None:
        print(f"note: {renamed}; the old name goes in the next release", file=sys.stderr)
    try:
        code = serving(arguments)(arguments, prog_name="topoloom", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return 2
    except BrokenPipeError:
        # The reader has seen enough; closing stdout at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        code, line = explained(error, partial(_place, arguments))
        # A group of commands that is given none prints its help alone.
        if line:
            print(f"topoloom: {line}", file=sys.stderr)
    if code == INTERRUPTED:
        print("topoloom: interrupted; nothing was kept", file=sys.stderr)
    return code or 0
