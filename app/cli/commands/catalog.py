"""`topoloom catalog`: named families, fabrics and workloads."""

import typer

from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv

_ABOUT = (Column("what", "title", left=True), Column("source", "source", left=True, drop=1))

app = typer.Typer(no_args_is_help=True, help="List the named families, fabrics and workloads.")


@app.command()
def families(as_csv: AsCsv = False) -> None:
    """List the base families and operators of recipes."""
    from topoloom.app.services import catalog

    rows = [
        {"signature": kind.signature, "name": kind.name, "title": kind.title}
        | {"source": kind.source}
        for kind in catalog.families().items
    ]
    # The name is part of the signature.
    columns = (Column("family", "signature", left=True), Column(None, "name"), *_ABOUT)
    Table(columns, rows).print(as_csv)


@app.command()
def fabrics(as_csv: AsCsv = False) -> None:
    """List the named fabrics; a capital letter stands for a number."""
    from topoloom.app.services import catalog

    rows = [{"name": one.name, "title": one.title} for one in catalog.fabrics().items]
    Table((Column("fabric", "name", left=True), _ABOUT[0]), rows).print(as_csv)


@app.command()
def presets(as_csv: AsCsv = False) -> None:
    """List the workloads for --preset, and the jobs for `topoloom iteration`."""
    from topoloom.app.services import catalog

    known = catalog.presets()
    rows = [
        {"name": one.name, "command": command, "title": one.title, "source": one.source}
        for command, kind in (("--preset", known.items), ("iteration", known.iterations))
        for one in kind
    ]
    columns = (Column("name", "name", left=True), Column("for", "command", left=True), *_ABOUT)
    Table(columns, rows).print(as_csv)
