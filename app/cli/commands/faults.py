"""`topoloom faults`: the optimum after the loss of each single link, host or switch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import command_context, show, source_of, with_lists
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson, Reading, Source, reads_topology
from topoloom.app.requests.options import collectives, sweeps_and_jobs

if TYPE_CHECKING:
    from topoloom.app.services.context import Context
    from topoloom.app.store.artifacts import Artefact

app = typer.Typer()

OPTIONS = (
    *(
        collectives.OPTIMUM_COLLECTIVE,
        sweeps_and_jobs.LOST,
        collectives.ROOT,
        collectives.SHARDS,
        collectives.PARTICIPANTS,
    ),
    *(collectives.TREES_PER_ROOT, collectives.MAX_GAP),
)

Picture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="also draw a plot: .png or .svg file")
]


@app.command()
@reads_topology
@request_options(*OPTIONS)
def faults(
    reading: Reading,
    source: Source,
    fields: dict[str, Any],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    picture: Picture = None,
) -> None:
    """Find the optimum after the loss of each single link, host or switch."""
    if picture is not None:
        from topoloom.app.plots import canvas

        canvas.require_drawable(picture, beside=True)
    from topoloom.app.services import topologies

    with command_context() as context:
        answer = fault_analysis(context, source, reading, fields)
        topology = topologies.load(context, source_of(source, reading, context)).topology
    show(answer, as_json, as_csv)
    if not (as_json or as_csv):
        unit = topology.bandwidth_unit
        typer.echo(f"algbw in {'units of a link' if unit == 'link' else unit}")
    if picture is not None:
        from topoloom.app.plots import canvas
        from topoloom.app.plots import faults as plot

        document = answer.document()
        with canvas.saved_figure(picture, *plot.size(document)) as figure:
            plot.draw(figure, document)


def fault_analysis(
    context: "Context", source: str, reading: "Reading", fields: dict[str, Any]
) -> "Artefact":
    """Return the sweep/1 document of a fault analysis, stored or computed."""
    from topoloom.app.requests.sweeps import SweepRequest
    from topoloom.app.services import sweeps

    lost = {"lost": fields.pop("lost")} if "lost" in fields else {}
    template = with_lists(fields, context.settings)
    topology = source_of(source, reading, context).canonical()
    request = SweepRequest.model_validate(
        {"kind": "fault-analysis", "topology": topology, **lost, "template": template}
    )
    return sweeps.create(context, request)
