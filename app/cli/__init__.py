"""The command line: parses, calls one service function, prints.

Exit codes: 0 done, 1 the answer is "no", 2 bad input, said in one line on stderr; 130
interrupted.
Documents go to stdout and nothing else does when ``--json`` is given.
"""

import gc
import os
import sys
from typing import Annotated

import typer

from app.cli import (
    atlas,
    best,
    cache,
    carrying,
    catalogue,
    certificates,
    database,
    gaps,
    heights,
    jobs,
    keeping,
    keys,
    learning_rate,
    listing,
    operation,
    plots,
    schedules,
    surveying,
    sweeps,
    topologies,
)
from app.complaints import explained

__all__ = ["app", "main", "run"]

_YOUNG = 50_000
"""New objects between two collections of garbage, 700 unless said.

What a command imports and finds stays until it ends, and looking through it again and again took a
tenth of the processor.
"""
INTERRUPTED = 130
"""What shells, and typer, call the end by Ctrl-C."""

app = typer.Typer(
    name="topoloom",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    topologies,
    surveying,
    schedules,
    heights,
    certificates,
    best,
    gaps,
    listing,
    keeping,
    catalogue,
    atlas,
    operation,
    jobs,
):
    app.add_typer(group.app)
app.add_typer(carrying.app, name="patch")
app.add_typer(plots.app, name="plot")
app.add_typer(learning_rate.app, name="lr")
app.add_typer(cache.app, name="cache")
app.add_typer(keys.app, name="keys")
app.add_typer(database.app, name="db")
app.add_typer(sweeps.app, name="sweep")
app.add_typer(jobs.jobs_app, name="jobs")


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from app.config import KERNEL_VERSION

        typer.echo(f"topoloom {version('topoloom')}, kernels {KERNEL_VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_show_version,
            help="print the versions of the package and of its kernels",
        ),
    ] = False,
) -> None:
    """Topologies for directly wired hosts, schedules that match them, and wiring plans."""


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(_YOUNG)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(arguments, prog_name="topoloom", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return 2
    except BrokenPipeError:
        # The reader has seen enough; closing stdout at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        code, line = explained(error)
        print(f"topoloom: {line}", file=sys.stderr)
    if code == INTERRUPTED:
        print("topoloom: interrupted; nothing was kept", file=sys.stderr)
    return code or 0
