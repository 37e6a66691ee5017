"""`topoloom compare heights`: the best rate found for each tree height."""

from fractions import Fraction
from typing import Any

import typer

from topoloom.app.cli.commands.comparisons import app
from topoloom.app.cli.common import opened, source_of, with_lists
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, Reading, Source, reads_topology
from topoloom.app.requests.options import collectives, exports

_SPEEDS = (exports.EXPORT_BYTES, exports.EXPORT_ALPHA_US, exports.EXPORT_NODE_GBPS)


@app.command()
@reads_topology
@request_options(
    *(
        collectives.RUN_COLLECTIVE,
        collectives.ROOT,
        collectives.SHARDS,
        collectives.PARTICIPANTS,
        collectives.TREES_PER_ROOT,
    ),
    *_SPEEDS,
)
def heights(
    reading: Reading, source: Source, fields: dict[str, Any], as_csv: AsCsv = False
) -> None:
    """Compare the best rates found for each tree height; name the fastest for a data size."""
    from topoloom.app.cli.output.tree_heights import heights_table
    from topoloom.app.requests.schedules import ExportRequest, ScheduleRequest
    from topoloom.app.services import topologies
    from topoloom.app.services.tree_heights import curve

    names = [option.name for option in _SPEEDS if option.name in fields]
    on = ExportRequest.model_validate({name: fields.pop(name) for name in names})
    with opened() as context:
        members = with_lists(fields, context.settings)
        members["topology"] = source_of(source, reading, context)
        request = ScheduleRequest.model_validate(members)
        loaded = topologies.load(context, request.topology)
        with context.watch():
            points = curve(context, loaded, request, on)
    heights_table(points, loaded.topology.bandwidth_unit).print(as_csv)
    if on.bytes is not None and not as_csv:
        best = min(points, key=lambda point: point.seconds or Fraction(0))
        typer.echo(f"fastest for {on.bytes} bytes: --max-height {best.height}")
