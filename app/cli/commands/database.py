"""`topoloom db`: migrate the database, back it up and restore it."""

from pathlib import Path
from typing import Annotated

import typer

from topoloom.app.config import Settings

__all__ = ["app"]


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
        typer.Argument(
            metavar="FILE", callback=_require_file, help="file to write, which must not exist"
        ),
    ],
) -> None:
    """Copy the database to a file; the service may run meanwhile."""
    from topoloom.app.store.backups import back_up

    size = back_up(Settings().database_url, file)
    typer.echo(f"{file}: {size} bytes, checked")


@app.command()
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", callback=_require_file, help="file that backup wrote")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="discard what the database holds now")
    ] = False,
) -> None:
    """Replace the database by a copy, after a check."""
    from topoloom.app.store.backups import restore as put_back

    put_back(Settings().database_url, file, replace=replace)
    typer.echo(f"{file}: restored")


@app.command()
def migrate(
    revision: Annotated[
        str, typer.Option(help="revision to migrate to; base removes all tables")
    ] = "head",
) -> None:
    """Migrate the tables of the database to the newest revision."""
    from topoloom.app.store.database import current_revision, is_embedded, open_engine
    from topoloom.app.store.database import migrate as move

    engine = open_engine(Settings().database_url)
    try:
        move(engine, revision)
        shown = engine.url.render_as_string(hide_password=True)
        if not is_embedded(engine.url) and revision == "head":
            from topoloom.app.jobs.dbos_queue import migrate as migrate_queue

            migrate_queue(engine.url)
        typer.echo(f"{shown}: at revision {current_revision(engine)}")
    finally:
        engine.dispose()
