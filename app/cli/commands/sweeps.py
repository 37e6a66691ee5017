"""`topoloom sweep`: frontiers or designs for many numbers of hosts and ports."""

from typing import Any

import typer

from topoloom.app.cli import cache_lookup
from topoloom.app.cli.common import opened, require_one_form, show, with_tasks
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import cluster, sweeps_and_jobs

app = typer.Typer(
    no_args_is_help=True, help="Compute frontiers, designs or gaps for many sizes at once."
)

_SIZES = (sweeps_and_jobs.SWEEP_NODES, sweeps_and_jobs.SWEEP_DEGREES)
_SEARCH = (
    cluster.LINKS,
    cluster.PARALLEL_LINKS,
    cluster.VERTEX_TRANSITIVE,
    cluster.FAMILIES,
    cluster.MAX_STEPS,
)
_SPEED = (
    cluster.NODE_GBPS,
    cluster.PORT_GBPS,
    cluster.ALPHA_US,
    cluster.MESSAGE_US,
    cluster.CHUNK_US,
)
_RUN = (cluster.COLLECTIVE, cluster.DESIGN_BYTES, cluster.WORKLOAD, cluster.PRESET)


@app.command()
@request_options(*_SIZES, *_SEARCH, cluster.ALL_TO_ALL)
def sizes(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the frontier for each number of hosts and ports."""
    _of_hosts("sizes", fields, as_json, as_csv)


@app.command()
@request_options(*_SIZES, *_RUN, *_SEARCH, *_SPEED)
def workload(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the best design for a workload, for each number of hosts and ports."""
    from topoloom.app.config import Settings

    _of_hosts("workload", with_tasks(fields, Settings()), as_json, as_csv)


def _of_hosts(kind: str, fields: dict[str, Any], as_json: bool, as_csv: bool) -> None:
    from topoloom.app.requests.sweeps import SweepRequest

    require_one_form(as_json, as_csv)
    chosen = {name: fields.pop(name) for name in ("nodes", "degrees") if name in fields}
    request = SweepRequest.model_validate({"kind": kind, **chosen, "template": fields})
    answer = cache_lookup.answer("sweep", request.canonical())
    if answer is None:
        from topoloom.app.services import sweeps

        with opened() as context:
            answer = sweeps.create(context, request)
    show(answer, as_json, as_csv)
