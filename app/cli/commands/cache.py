"""`topoloom cache`: size, eviction, export and import of all stored answers."""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from topoloom.app.cli.common import audit, command_context
from topoloom.app.cli.shared_options import AsJson

app = typer.Typer(
    help="Measure, evict, export and import stored answers; label, pin and delete an answer; "
    "compile the kernels.",
    no_args_is_help=True,
)


@app.command()
def info(as_json: AsJson = False) -> None:
    """Show number and size of the stored answers of each kind, and the size limit."""
    from topoloom.app.cli.output.text_table import Column, Table
    from topoloom.app.documents import cache
    from topoloom.app.store.eviction import usage

    with command_context() as context:
        found = usage(context.whole_store.keeping.engine)
        document = cache.of(found, context.settings.cache_bytes)
    if as_json:
        typer.echo(json.dumps(document))
        return
    rows = [{"kind": kind, **facts} for kind, facts in document["kinds"].items()]
    names = ("documents", "bytes", "pinned", "labelled")
    rows.append({"kind": "total"} | {name: document[name] for name in names})
    columns = (Column("kind", "kind", left=True), *(Column(name, name) for name in names))
    Table(columns, rows).print()
    typer.echo(f"limit: {document['limit_bytes'] or 'none'}")


@app.command()
def evict(
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="size to keep, such as 500MB; default: TOPOLOOM_CACHE_BYTES",
        ),
    ] = None,
) -> None:
    """Delete answers that can be computed again, least recently used first."""
    from topoloom.app.store import eviction

    with command_context() as context:
        most = context.settings.cache_bytes if size is None else _size(size)
        if size is None and not most:
            typer.echo("nothing evicted: no limit is set")
            return
        engine = context.whole_store.keeping.engine
        evicted = eviction.evict(engine, most)
        audit(engine, "cache evict", f"{evicted.documents} documents")
    typer.echo(
        f"{evicted.documents} documents of {evicted.bytes} bytes evicted; "
        f"{evicted.left_bytes} bytes stored"
    )


def _size(text: str) -> int:
    from topoloom.app.requests.base import parse_bytes

    try:
        return 0 if text == "0" else parse_bytes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--bytes") from None


@app.command("export")
def export_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="output; .gz compresses, - is standard output")
    ],
) -> None:
    """Write all stored answers to a file."""
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.store.cache_transfer import export_cache

    with command_context() as context, TemporaryDirectory() as folder:
        written = Path(folder) / "cache" if is_stream(file) else file
        found = export_cache(context.whole_store.keeping.engine, written)
        if is_stream(file):
            with written.open("rb") as content:
                shutil.copyfileobj(content, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    damaged = f"; {found.damaged} damaged documents skipped" if found.damaged else ""
    typer.echo(f"{found.documents} documents written to {file}{damaged}", err=is_stream(file))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="export; - is standard input")],
) -> None:
    """Store the answers of an exported file."""
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.store.cache_transfer import import_cache

    with command_context() as context, TemporaryDirectory() as folder:
        if is_stream(file):
            # The import reads the file twice: a check precedes the first stored document.
            file = Path(folder) / "cache"
            with file.open("wb") as copied:
                shutil.copyfileobj(sys.stdin.buffer, copied)
        engine = context.whole_store.keeping.engine
        found = import_cache(engine, file)
        audit(engine, "cache import", f"{found.stored} documents")
    others = f"; {found.other_kernels} of other kernels, readable by id only" * bool(
        found.other_kernels
    )
    typer.echo(f"{found.stored} documents stored, {found.known} already stored{others}")


@app.command()
def warm() -> None:
    """Compile all kernels before the first request."""
    from topoloom.app.services.warm_kernels import warm as compile_kernels

    compile_kernels()
