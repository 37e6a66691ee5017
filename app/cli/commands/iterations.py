"""`topoloom iteration`: the time of a training iteration on the best topology."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import command_context, is_file, named_graphs
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson, Reading, without_none
from topoloom.app.requests.options import cluster, iterations

if TYPE_CHECKING:
    from topoloom.schedules.iterations.iteration import Iteration

app = typer.Typer()


@app.command()
@request_options(
    cluster.NODES,
    cluster.DEGREE,
    iterations.TOPOLOGY,
    *iterations.OF_SWEEPS,
)
def iteration(
    model: Annotated[
        str,
        typer.Argument(
            metavar="JOB",
            help="preset: llama3-405b, deepseek-v3, mixtral-8x7b, dlrm-dcnv2, vit-22b, or a model "
            "file: JSON, a workload file of AICB, or a file or folder of traces",
        ),
    ],
    fields: dict[str, Any],
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="write the timeline: a file that ends in .csv, .svg or .png, or a directory for "
            "Chakra traces",
        ),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Simulate a training iteration; find the topology and placement of least time."""
    from topoloom.app.cli.output.iteration import show_iteration, topology_table
    from topoloom.app.files.model_files import read_model_file
    from topoloom.app.requests.iterations import IterationRequest
    from topoloom.app.services.iterations import create, design

    if timeline is not None:
        _require_writable(timeline)
    with command_context() as context:
        if is_file(model):
            fields["model"] = read_model_file(Path(model), context.settings)
        else:
            fields["preset"] = model
        topology = fields.get("topology", "")
        if topology and is_file(topology):
            topology = fields["topology"] = f"@{topology}"
        fields |= without_none(graphs=named_graphs(topology, Reading(), context) or None)
        request = IterationRequest.model_validate(fields)
        if timeline is not None:
            # The stored document has no operations.
            _write(timeline, design(context, request).best.iteration)
        answer = create(context, request).document()
        context.note(*answer["notes"])
        if as_json:
            typer.echo(json.dumps(answer, separators=(",", ":")))
        elif as_csv:
            topology_table(answer).print(as_csv)
        else:
            show_iteration(answer)


def _require_writable(path: Path) -> None:
    """Raise unless the suffix names a format of timelines."""
    if path.suffix.lower() in (".svg", ".png"):
        from topoloom.app.plots.canvas import require_drawable

        require_drawable(path)
    elif path.suffix.lower() not in (".csv", ""):
        from topoloom.app.files.local_files import UnusableFile

        raise UnusableFile(path, "must end in .csv, .svg or .png, or have no suffix")


def _write(path: Path, one: "Iteration") -> None:
    """Write the timeline in the format of the suffix; without a suffix, a directory of traces."""
    from topoloom.app.files.local_files import write_bytes
    from topoloom.schedules.formats.iteration_timeline import timeline_csv, timeline_traces

    suffix = path.suffix.lower()
    if suffix == ".csv":
        write_bytes(path, timeline_csv(one).encode())
    elif suffix in (".svg", ".png"):
        from topoloom.app.plots import iteration as plot
        from topoloom.app.plots.canvas import saved_figure

        with saved_figure(path, *plot.size(one)) as figure:
            plot.draw(figure, one)
    else:
        _require_directory(path)
        for name, content in timeline_traces(one):
            write_bytes(path / name, content)
    typer.echo(f"wrote {path}", err=True)


def _require_directory(path: Path) -> None:
    """Make a directory, or raise."""
    from topoloom.app.files.local_files import UnusableFile

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableFile(path, (error.strerror or str(error)).lower()) from None
