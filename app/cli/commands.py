"""All commands of the command line, and those of one module alone.

Whoever asks about topologies waits for the commands that answer that, not for those of panels,
jobs, keys or plots: loading these took longer than looking up an answer.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import typer

__all__ = ["ABOUT_TOPOLOGIES", "serving", "whole"]

ABOUT_TOPOLOGIES = frozenset({"design", "files", "frontier", "measure", "optimum", "topology"})
"""The commands of `app.cli.topologies`."""


def serving(arguments: Sequence[str]) -> typer.Typer:
    """Return commands among which is the one that some arguments begin with, if there is one."""
    alone = bool(arguments) and arguments[0] in ABOUT_TOPOLOGIES
    return _about_topologies() if alone else whole()


@lru_cache(maxsize=1)
def whole() -> typer.Typer:
    """Return all commands."""
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

    app = _begun()
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
    return app


@lru_cache(maxsize=1)
def _about_topologies() -> typer.Typer:
    from app.cli import topologies

    app = _begun()
    app.add_typer(topologies.app)
    return app


def _begun() -> typer.Typer:
    """Return the command line without commands."""
    app = typer.Typer(
        name="topoloom",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    return app


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from app.config import KERNEL_VERSION

        typer.echo(f"topoloom {version('topoloom')}, kernels {KERNEL_VERSION}")
        raise typer.Exit


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
