"""`topoloom db`: migrate the database, back it up and restore it."""

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
        Path, typer.Argument(metavar="FILE", callback=_require_file, help="file from backup")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="discard the present content of the database")
    ] = False,
) -> None:
    """Check a backup, then replace the database with the backup."""
    from topoloom.app.store.backups import restore as restore_backup

    restore_backup(Settings().database_url, file, replace=replace)
    typer.echo(f"{file}: restored")


@app.command()
def migrate(
    revision: Annotated[
        str, typer.Option(help="target revision; base removes all tables")
    ] = "head",
) -> None:
    """Migrate the tables of the database to the newest revision."""
    from topoloom.app.store.database import current_revision, open_engine
    from topoloom.app.store.database import migrate as migrate_tables

    engine = open_engine(Settings().database_url)
    try:
        migrate_tables(engine, revision)
        shown = engine.url.render_as_string(hide_password=True)
        typer.echo(f"{shown}: at revision {current_revision(engine)}")
    finally:
        engine.dispose()
