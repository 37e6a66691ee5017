"""Commands that list what is known by name, and search for more."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import (
    LinkKind,
)

__all__ = ["app"]

app = typer.Typer()


@app.command()
def families() -> None:
    """List the families of bases and the operators that recipes are made of."""
    from synth.bases import FAMILIES
    from synth.operators import OPERATORS

    for kind in (*FAMILIES, *OPERATORS):
        typer.echo(f"{kind.signature()}: {kind.title}; {kind.source}")


@app.command()
def fabrics() -> None:
    """List the fabrics known by name; a capital letter stands for a number."""
    from synth.fabrics import FABRICS

    for name in FABRICS:
        typer.echo(name)


@app.command()
def presets() -> None:
    """List the workloads that are known by name."""
    from schedules.workloads.presets import PRESETS

    for name, known in PRESETS.items():
        typer.echo(f"{name}: {known.title}; {known.model.source}")


@app.command()
def discover(
    nodes: Annotated[str, typer.Option(help="numbers of hosts, such as 64 or 16-32,48")],
    degree: Annotated[str, typer.Option(help="ports of each host, such as 4 or 2-8")],
    seconds: Annotated[float, typer.Option(help="how long to search")],
    links: LinkKind = "unidirectional",
    seed: Annotated[int, typer.Option(help="rounds of equal seed and number are equal")] = 0,
    atlas: Annotated[
        Path | None,
        typer.Option(help="file of finds: read if there, searched on from, kept up to date"),
    ] = None,
) -> None:
    """Search for better base topologies: Cayley digraphs and lifts, by annealing."""
    from app.discovering import search

    search(nodes, degree, links, seconds=seconds, seed=seed, path=atlas)
