"""`topoloom patch repair`: what can be done about dead parts of a plan that was carried out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, app, made
from topoloom.app.cli.common import write
from topoloom.app.cli.option_parameters import asks
from topoloom.app.cli.shared_options import AsCsv, AsJson, Out
from topoloom.app.requests.options import patch_plans

__all__ = ["app"]


Wired = Annotated[
    str | None,
    typer.Option(
        "--topology",
        metavar="FILE_OR_RECIPE",
        help="what was wired, where the plan's file does not say it: capacities other than 1, "
        "or pairs that carry light both ways",
    ),
]


@app.command()
@asks(patch_plans.AT_ONCE, patch_plans.WORST)
def survey(
    plan: PlanFile,
    asked: dict[str, Any],
    plant: PlantOption = None,
    wired: Wired = None,
    as_csv: AsCsv = False,
) -> None:
    """List what each possible failure leaves of a wired plan, the worst first."""
    from topoloom.app.cli.output.patch_plans import failures_table
    from topoloom.app.requests.patch_plans import SurveyRequest
    from topoloom.app.services.patch_plans import MOST_RATED
    from topoloom.app.services.repairs import surveyed

    at_hand = made(plan, plant, wired)
    request = SurveyRequest.model_validate(asked)
    at_once = request.at_once
    most = min(MOST_RATED, at_hand.settings.max_optimum_nodes)
    found = surveyed(at_hand.plan, at_once, most)
    failures_table(found[: request.worst]).print(as_csv)
    if not as_csv:
        cut = sum(not failure.connected for failure in found)
        typer.echo(f"{len(found)} failures of {at_once}; {cut} of them cut hosts off")


@app.command()
@asks(
    patch_plans.DEAD_HOSTS,
    patch_plans.DEAD_HOST_PORTS,
    patch_plans.DEAD_PORTS,
    patch_plans.DEAD_PAIRS,
    patch_plans.WAY,
)
def repair(
    plan: PlanFile,
    asked: dict[str, Any],
    plant: PlantOption = None,
    wired: Wired = None,
    as_json: AsJson = False,
    out: Out = None,
    plant_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="file for the plant that the repair's plan is on"),
    ] = None,
) -> None:
    """Compare the ways to repair a plan with dead parts; with --way write one plan.

    Exit 1 if there is no way.
    """
    from topoloom.app.cli.output.patch_plans import repairs_table
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.requests.patch_plans import RepairsRequest
    from topoloom.app.services.patch_plans import MOST_RATED
    from topoloom.app.services.repairs import with_chosen
    from topoloom.app.store.artifacts import compact

    faults = RepairsRequest.model_validate(asked).canonical()
    way = faults.pop("way", None)
    if (way is None) != (out is None):
        raise typer.BadParameter("--way and --out go together")
    if plant_out is not None and way is None:
        raise typer.BadParameter("--plant-out needs --way")
    at_hand = made(plan, plant, wired)
    most = min(MOST_RATED, at_hand.settings.max_optimum_nodes)
    document = with_chosen(at_hand.script, at_hand.plan, faults, way, most)
    if way is not None:
        write(compact(document["plan"]), out, "patch plan")
    if plant_out is not None:
        write(compact(document["plant"]), plant_out, "plant")
    if as_json:
        typer.echo(compact(dict(document)))
    elif not is_stream(out):
        repairs_table(document["repairs"]).print()
    if not document["repairs"]:
        raise typer.Exit(1)
