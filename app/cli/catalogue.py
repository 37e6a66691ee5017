"""Commands that list what is known by name, and search for more."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.asking import asks
from app.cli.options import AsCsv
from app.options import cluster
from app.tabular import Column, Table

__all__ = ["app"]

app = typer.Typer()


@app.command()
def families(as_csv: AsCsv = False) -> None:
    """List the families of bases and the operators that recipes are made of."""
    from app.services import catalogue

    rows = [
        {"signature": kind.signature, "name": kind.name, "title": kind.title}
        | {"source": kind.source}
        for kind in catalogue.families().items
    ]
    _print(rows, "{signature}: {title}; {source}", as_csv)


@app.command()
def fabrics(as_csv: AsCsv = False) -> None:
    """List the fabrics known by name; a capital letter stands for a number."""
    from app.services import catalogue

    _print([{"name": one.name} for one in catalogue.fabrics().items], "{name}", as_csv)


@app.command()
def presets(as_csv: AsCsv = False) -> None:
    """List the workloads that are known by name."""
    from app.services import catalogue

    rows = [
        {"name": known.name, "title": known.title, "source": known.source}
        for known in catalogue.presets().items
    ]
    _print(rows, "{name}: {title}; {source}", as_csv)


def _print(rows: list[dict[str, str]], line: str, as_csv: bool) -> None:
    """Print rows as lines of a pattern, or as CSV."""
    if as_csv:
        Table(tuple(Column(None, name) for name in rows[0]), rows).print(as_csv)
        return
    for row in rows:
        typer.echo(line.format(**row))


@app.command()
@asks(cluster.LINKS)
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
    labels: Annotated[
        bool, typer.Option("--labels", help="search for graphs on which labels reach more")
    ] = False,
) -> None:
    """Search for better topologies: lifts by annealing, or any graphs that labels use better."""
    from app.discovering import search

    links = asked["links"]
    search(nodes, degree, links, seconds=seconds, seed=seed, path=atlas, by_labels=labels)
