"""`topoloom sweep gaps`: gaps between frontiers and lower bounds, by number of hosts."""

from typing import Any

import typer

from topoloom.app.cli.commands.sweeps import Plot, app
from topoloom.app.cli.common import opened
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv
from topoloom.app.requests.options import cluster, sweeps_and_jobs


@app.command()
@request_options(
    sweeps_and_jobs.SWEEP_NODES,
    sweeps_and_jobs.SWEEP_DEGREES,
    cluster.LINKS,
    cluster.PARALLEL_LINKS,
    cluster.VERTEX_TRANSITIVE,
    cluster.FAMILIES,
    cluster.SCHEDULE,
)
def gaps(fields: dict[str, Any], as_csv: AsCsv = False, plot: Plot = None) -> None:
    """Find the gaps between the best topologies of each size and the lower bounds."""
    from topoloom.app.cli.output.gaps import gap_table
    from topoloom.app.plots import canvas
    from topoloom.app.plots import gaps as panels
    from topoloom.app.requests.sweeps import SweepRequest
    from topoloom.app.services import gaps as services

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    chosen = {name: fields.pop(name) for name in ("nodes", "degrees") if name in fields}
    request = SweepRequest.model_validate({"kind": "sizes", **chosen, "template": fields})
    with opened() as context:
        rows = services.gaps(context, request)
    gap_table(rows).print(as_csv)
    if plot is not None:
        with canvas.drawn(plot, *panels.SIZE) as figure:
            panels.draw(figure, rows)
        typer.echo(f"plot: written to {plot}", err=True)
