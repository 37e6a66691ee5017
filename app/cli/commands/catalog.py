"""`topoloom catalog`: named families, fabrics and workloads."""

import typer

from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv

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
    _print(rows, "{signature}: {title}; {source}", as_csv)


@app.command()
def fabrics(as_csv: AsCsv = False) -> None:
    """List the named fabrics; a capital letter stands for a number."""
    from topoloom.app.services import catalog

    _print([{"name": one.name} for one in catalog.fabrics().items], "{name}", as_csv)


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
    _print(rows, "{name} ({command}): {title}; {source}", as_csv)


def _print(rows: list[dict[str, str]], line: str, as_csv: bool) -> None:
    """Print rows as lines of a pattern, or as CSV."""
    if as_csv:
        Table(tuple(Column(None, name) for name in rows[0]), rows).print(as_csv)
        return
    for row in rows:
        typer.echo(line.format(**row))
