"""`topoloom sweep gaps`: how far frontiers are from the bounds, over numbers of hosts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.answers import opened
from app.cli.asking import asks
from app.cli.options import AsCsv
from app.cli.sweeps import app
from app.options import cluster, pages

__all__ = ["app"]

Plot = Annotated[Path | None, typer.Option(help="also draw it, into this .png or .svg file")]


@app.command()
@asks(
    pages.SWEEP_NODES,
    pages.SWEEP_DEGREES,
    cluster.LINKS,
    cluster.PARALLEL_LINKS,
    cluster.VERTEX_TRANSITIVE,
    cluster.FAMILIES,
    cluster.SCHEDULE,
)
def gaps(asked: dict[str, Any], as_csv: AsCsv = False, plot: Plot = None) -> None:
    """Find how far the best topologies of every size are from the lower bounds."""
    from app.plots import canvas
    from app.plots import gaps as panels
    from app.printing.gaps import gap_table
    from app.services import gaps as services
    from app.sweep_request import SweepRequest

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    chosen = {name: asked.pop(name) for name in ("nodes", "degrees") if name in asked}
    request = SweepRequest.model_validate({"over": "sizes", **chosen, "question": asked})
    with opened() as context:
        found = services.gaps(context, request)
    gap_table(found).print(as_csv)
    if plot is not None:
        with canvas.drawn(plot, *panels.SIZE) as figure:
            panels.draw(figure, found)
        typer.echo(f"plot: written to {plot}", err=True)
