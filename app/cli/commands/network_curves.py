"""`topoloom sweep network`: the time of a traced program over latency and bandwidth."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli.commands.gaps import app
from topoloom.app.cli.commands.sweeps import Plot
from topoloom.app.cli.common import opened
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import network_curves

_File = Path | None


@app.command()
@request_options(*network_curves.OF_TRACES)
def network(
    instances: Annotated[
        Path,
        typer.Argument(
            help="CSV of the collectives that NCCL ran: collective_instances.csv; .gz is read too"
        ),
    ],
    fields: dict[str, Any],
    rings: Annotated[_File, typer.Option(help="CSV of NCCL's rings: comm_ring_info.csv")] = None,
    kernel_times: Annotated[
        _File, typer.Option(help="JSON of measured reductions and copies by bytes, of NPKit")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    plot: Plot = None,
) -> None:
    """Find the time of a traced program over latency and bandwidth of the network."""
    from topoloom.app.cli.output.network_curves import curve_table, show_curves
    from topoloom.app.files.local_files import read_json, read_text
    from topoloom.app.plots import canvas
    from topoloom.app.requests.network_curves import NetworkCurvesRequest
    from topoloom.app.services import network_curves as services

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    with opened() as context:
        fields["instances"] = read_text(instances, context.settings)
        if rings is not None:
            fields["rings"] = read_text(rings, context.settings)
        if kernel_times is not None:
            fields["kernel_times"] = read_json(kernel_times, context.settings)
        request = NetworkCurvesRequest.model_validate(fields)
        answer = services.present(context, request)
        context.note(*answer["notes"])
        if as_json:
            typer.echo(json.dumps(answer, separators=(",", ":")))
        elif as_csv:
            curve_table(answer).print(as_csv)
        else:
            show_curves(answer)
    if plot is not None:
        from topoloom.app.plots import network_curves as panels

        with canvas.drawn(plot, *panels.SIZE) as figure:
            panels.draw(figure, answer)
        typer.echo(f"plot: written to {plot}", err=True)
