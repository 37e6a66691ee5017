"""`topoloom db`: migrate the database, back it up and restore it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from topoloom.app.config import Settings


def _require_file(file: Path) -> Path:
    """Refuse ``-``: SQLite copies files."""
    if str(file) == "-":
        raise typer.BadParameter("must be a file, not a stream")
    return file


app = typer.Typer(no_args_is_help=True, help="Migrate the database, back it up and restore it.")


@app.command()
def backup(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", callback=_require_file, help="new file to write"),
    ],
) -> None:
    """Copy the database to a file, also while the service runs."""
    from topoloom.app.store.backups import back_up

    size = back_up(Settings().database_url, file)
    typer.echo(f"{file}: {size} bytes, checked")


@app.command()
def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", callback=_require_file, help="file that `topoloom db backup` wrote"
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="also if the database exists: its content is lost")
    ] = False,
) -> None:
    """Check a backup, then replace the database with the backup."""
    from topoloom.app.store.backups import restore as restore_backup

    restore_backup(Settings().database_url, file, replace=replace)
    typer.echo(f"{file}: restored")


@app.command()
def migrate(
    revision: Annotated[
        str,
        typer.Option(metavar="REVISION", help="target revision; base removes all tables"),
    ] = "head",
    yes: Annotated[
        bool, typer.Option("--yes", help="remove tables and columns without a question")
    ] = False,
) -> None:
    """Migrate the tables of the database to the newest revision.

    Asks before a revision below the present one, which removes tables or columns with their rows.
    """
    from topoloom.app.store.database import current_revision, open_engine
    from topoloom.app.store.database import migrate as migrate_tables

    engine = open_engine(Settings().database_url)
    try:
        shown = engine.url.render_as_string(hide_password=True)
        present = current_revision(engine) or ""
        if not yes and present and (revision == "base" or revision < present):
            _require_consent(shown, present, revision)
        migrate_tables(engine, revision)
        typer.echo(f"{shown}: at revision {current_revision(engine) or 'base'}")
    finally:
        engine.dispose()


def _require_consent(database: str, present: str, revision: str) -> None:
    """Ask the user on a terminal; without a terminal, require --yes."""
    removed = "all tables" if revision == "base" else f"what is newer than revision {revision}"
    if not sys.stdin.isatty():
        rule = f"must be given, because the migration removes {removed} of {database}"
        raise typer.BadParameter(rule, param_hint="--yes")
    if not typer.confirm(f"{database}: remove {removed}?", err=True):
        typer.echo(f"{database}: unchanged, at revision {present}", err=True)
        raise typer.Exit(1)
