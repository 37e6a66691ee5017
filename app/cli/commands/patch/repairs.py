"""`topoloom patch faults` and `repair`: effects and repairs of dead parts of a wired plan."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, app, load_plan
from topoloom.app.cli.common import write
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson, Out
from topoloom.app.requests.options import patch_plans

Wired = Annotated[
    str | None,
    typer.Option(
        "--topology",
        metavar="FILE_OR_RECIPE",
        help="topology of the plan; needed for capacities other than 1 and for pairs with light "
        "in both directions",
    ),
]


@app.command()
@request_options(patch_plans.AT_ONCE, patch_plans.WORST)
def faults(
    plan: PlanFile,
    fields: dict[str, Any],
    plant: PlantOption = None,
    wired: Wired = None,
    as_csv: AsCsv = False,
) -> None:
    """List the effects of each possible failure on a wired plan, worst first."""
    from topoloom.app.cli.output.patch_plans import failures_table
    from topoloom.app.requests.patch_plans import FaultAnalysisRequest
    from topoloom.app.services.patch_plans import MOST_RATED
    from topoloom.app.services.repairs import failure_effects

    plan_file = load_plan(plan, plant, wired)
    request = FaultAnalysisRequest.model_validate(fields)
    at_once = request.at_once
    most = min(MOST_RATED, plan_file.settings.max_optimum_nodes)
    failures = failure_effects(plan_file.plan, at_once, most)
    failures_table(failures[: request.worst]).print(as_csv)
    if not as_csv:
        cut = sum(not failure.connected for failure in failures)
        typer.echo(f"{len(failures)} failures of {at_once}; {cut} of them cut hosts off")


@app.command()
@request_options(
    patch_plans.DEAD_HOSTS,
    patch_plans.DEAD_HOST_PORTS,
    patch_plans.DEAD_PORTS,
    patch_plans.DEAD_PAIRS,
    patch_plans.REPAIR,
)
def repair(
    plan: PlanFile,
    fields: dict[str, Any],
    plant: PlantOption = None,
    wired: Wired = None,
    as_json: AsJson = False,
    out: Out = None,
    plant_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="output file for the plant of the repair"),
    ] = None,
) -> None:
    """Compare the repairs of a plan with dead parts; with --repair, write the plan of one repair.

    Exit 1 if no repair exists.
    """
    from topoloom.app.cli.output.patch_plans import repairs_table
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.requests.patch_plans import RepairsRequest
    from topoloom.app.services.patch_plans import MOST_RATED
    from topoloom.app.services.repairs import with_chosen
    from topoloom.app.store.artifacts import compact

    asked = RepairsRequest.model_validate(fields)
    if (asked.repair is None) != (out is None):
        raise typer.BadParameter("--repair and --out must be given together")
    if plant_out is not None and asked.repair is None:
        raise typer.BadParameter("--plant-out needs --repair")
    dead = (
        patch_plans.DEAD_HOSTS,
        patch_plans.DEAD_HOST_PORTS,
        patch_plans.DEAD_PORTS,
        patch_plans.DEAD_PAIRS,
    )
    if not any(getattr(asked, option.name) for option in dead):
        flags = ", ".join(str(option.flag) for option in dead)
        raise typer.BadParameter(f"must name what is dead: one or more of {flags}")
    plan_file = load_plan(plan, plant, wired)
    most = min(MOST_RATED, plan_file.settings.max_optimum_nodes)
    document = with_chosen(plan_file.script, plan_file.plan, asked, most)
    if asked.repair is not None:
        write(compact(document["plan"]), out, "patch plan")
    if plant_out is not None:
        write(compact(document["plant"]), plant_out, "plant")
    if as_json:
        typer.echo(compact(dict(document)))
    elif document["repairs"] and not is_stream(out):
        repairs_table(document["repairs"]).print()
    if not document["repairs"]:
        typer.echo("no repair exists: the links left do not connect the hosts", err=True)
        raise typer.Exit(1)
