"""Commands that list what is known by name, and search for more."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.asking import asks
from app.cli.options import AsCsv
from app.options import table
from app.tabular import Column, Table

__all__ = ["app"]

app = typer.Typer()


@app.command()
def families(as_csv: AsCsv = False) -> None:
    """List the families of bases and the operators that recipes are made of."""
    from synth.bases import FAMILIES
    from synth.operators import OPERATORS

    rows = [
        {"signature": kind.signature(), "name": kind.__name__, "title": kind.title}
        | {"source": kind.source}
        for kind in (*FAMILIES, *OPERATORS)
    ]
    columns = (
        Column("", "signature", left=True),
        Column(None, "name"),
        Column("", "title", left=True),
        Column("", "source", left=True),
    )
    Table(columns, rows, headed=False).print(as_csv)


@app.command()
def fabrics(as_csv: AsCsv = False) -> None:
    """List the fabrics known by name; a capital letter stands for a number."""
    from synth.fabrics import FABRICS

    rows = [{"fabric": name} for name in FABRICS]
    Table((Column("", "fabric", left=True),), rows, headed=False).print(as_csv)


@app.command()
def presets(as_csv: AsCsv = False) -> None:
    """List the workloads that are known by name."""
    from schedules.workloads.presets import PRESETS

    rows = [
        {"preset": name, "title": known.title, "source": known.model.source}
        for name, known in PRESETS.items()
    ]
    columns = (
        Column("", "preset", left=True),
        Column("", "title", left=True),
        Column("", "source", left=True),
    )
    Table(columns, rows, headed=False).print(as_csv)


@app.command()
@asks(table.LINKS)
def discover(
    asked: dict[str, Any],
    nodes: Annotated[str, typer.Option(help="numbers of hosts, such as 64 or 16-32,48")],
    degree: Annotated[str, typer.Option(help="ports of each host, such as 4 or 2-8")],
    seconds: Annotated[float, typer.Option(help="how long to search")],
    seed: Annotated[int, typer.Option(help="rounds of equal seed and number are equal")] = 0,
    atlas: Annotated[
        Path | None,
        typer.Option(help="file of finds: read if there, searched on from, kept up to date"),
    ] = None,
) -> None:
    """Search for better base topologies: Cayley digraphs and lifts, by annealing."""
    from app.discovering import search

    search(nodes, degree, asked["links"], seconds=seconds, seed=seed, path=atlas)
