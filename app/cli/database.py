"""Commands that copy an embedded database, and put a copy back."""

from pathlib import Path
from typing import Annotated

import typer

from app.config import Settings

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Copy the database to a file, and put it back.")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="file to write; not there yet")],
) -> None:
    """Copy the database to a file, while the service runs or not."""
    from app.backups import back_up

    size = back_up(Settings().database_url, file)
    typer.echo(f"{file}: {size} bytes, checked")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="file that backup wrote")],
    replace: Annotated[
        bool, typer.Option("--replace", help="lose what the database holds now")
    ] = False,
) -> None:
    """Put a copy in the place of the database, after checking it."""
    from app.backups import restore as put_back

    put_back(Settings().database_url, file, replace=replace)
    typer.echo(f"{file}: restored")
