"""`topoloom patch …`: plans of moves, what devices are told of them, and whether they were made.

``topoloom patch FILE_OR_RECIPE`` is ``topoloom patch plan FILE_OR_RECIPE``.
"""

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from topoloom.app.cli.common import is_file, opened, source_of, with_wiring, write
from topoloom.app.cli.option_parameters import asks
from topoloom.app.cli.shared_options import AsJson, Out, Reading, Source, reads_topology
from topoloom.app.requests.options import patch_plans as patching

if TYPE_CHECKING:
    from topoloom.app.config import Settings
    from topoloom.app.store.artifacts import Artefact
    from topoloom.synth.topology.topology import Topology
    from topoloom.synth.wiring import PatchPlan, Plant
    from topoloom.synth.wiring.devices import Script

__all__ = ["Made", "PlanFile", "PlantOption", "app", "made"]


class PlanFirst(TyperGroup):
    """A group whose first argument may also be what is planned."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``plan`` in front unless a command is named or help is asked for."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if named else ["plan", *args])


app = typer.Typer(
    cls=PlanFirst,
    help="Plan which port to plug where, write it for devices, check what is plugged.",
    no_args_is_help=True,
)

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", help="patch-plan/1 file, or the id of a stored plan")
]
PlantOption = Annotated[
    Path | None,
    typer.Option("--plant", metavar="FILE", help="the plant that the plan was made on, if given"),
]


@app.command()
@reads_topology
@asks(
    patching.PANELS,
    patching.PRESENT,
    patching.HOSTS,
    patching.LANES,
    patching.PLANT,
    patching.SPARES,
    patching.PLACE,
    patching.OBJECTIVE,
    patching.MAX_LINKS_DOWN,
    patching.STAY_CONNECTED,
    patching.MAKE_FIRST,
    patching.PLAN_FORMAT,
)
def plan(
    invoked: typer.Context,
    reading: Reading,
    source: Source,
    asked: dict[str, Any],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Plan which port to plug where, with few moves from today's wiring.

    A terminal gets a table; a pipe, a file, --json or --format gets the document.
    """
    from topoloom.app.requests.patch_plans import PatchPlanRequest
    from topoloom.app.services import patch_plans

    form = asked.pop("format")
    chosen = invoked.get_parameter_source("asked_format")
    if as_json and form != "json":
        raise typer.BadParameter("must be left out where --format is given", param_hint="--json")
    as_table = not (as_json or out or (chosen and chosen.name != "DEFAULT"))
    patch_plans.require_available(form)
    with opened() as context:
        asked = with_wiring(asked, context.settings)
        asked["topology"] = source_of(source, reading, context)
        artefact = patch_plans.create(context, PatchPlanRequest.model_validate(asked))
    if as_table and sys.stdout.isatty():
        _show_created(artefact)
    else:
        write(patch_plans.export(artefact, form), out, "patch plan")


def _show_created(artefact: "Artefact") -> None:
    """Print a plan as a table, and the command that lists its moves."""
    from topoloom.app.cli.output.formatting import short_id
    from topoloom.app.cli.output.patch_plans import show_plan
    from topoloom.app.documents.patch_plan import content_of
    from topoloom.synth.wiring.devices import read_script

    document, plant = content_of(artefact)
    show_plan(document, read_script(document, plant))
    typer.echo(f"every move: topoloom patch render {short_id(artefact.id)} --format csv")


@dataclass(frozen=True)
class Made:
    """A plan at hand: its document, and what it was made on as far as that was found."""

    document: dict[str, Any]
    plant: "Plant | None"
    topology: "Topology | None"
    settings: "Settings"

    @cached_property
    def script(self) -> "Script":
        """What is to be done."""
        from topoloom.synth.wiring.devices import read_script

        return read_script(self.document, self.plant)

    @cached_property
    def plan(self) -> "PatchPlan":
        """What was planned."""
        from topoloom.synth.wiring.plans.document_reader import read_plan

        return read_plan(self.document, self.plant, self.topology)


def made(plan: Path, plant: Path | None, topology: str | None = None) -> Made:
    """Return the plan of a file, or the stored one of an id; ``topology`` as a command names it."""
    from topoloom.app.config import Settings
    from topoloom.app.documents.patch_plan import content_of, subject_of
    from topoloom.app.files.local_files import read_json
    from topoloom.app.requests.document_ids import is_id
    from topoloom.app.services import topologies

    settings = Settings()
    document, made_on, wired = None, None, None
    if plant is not None:
        made_on = _plant(plant, settings)
    if is_file(str(plan)) or not is_id(str(plan)):
        document = read_json(plan, settings)
    if document is None or topology is not None:
        with opened() as context:
            if document is None:
                artefact = context.read("patch-plan", str(plan))
                document, stored = content_of(artefact)
                made_on = made_on or stored
                topology = topology or subject_of(artefact).id
            if topology is not None:
                source = source_of(topology, Reading(), context)
                wired = topologies.load(context, source).topology
    return Made(document, made_on, wired, settings)


@app.command()
def show(plan: PlanFile, plant: PlantOption = None, as_json: AsJson = False) -> None:
    """Show a plan as a table: its stages, moves and lost capacity."""
    from topoloom.app.cli.output.patch_plans import show_plan
    from topoloom.app.documents.patch_plan import PatchPlanDocument, PlainPlanDocument
    from topoloom.app.store.artifacts import compact

    found = made(plan, plant)
    if as_json:
        typer.echo(compact(found.document))
        return
    script = found.script
    stored = "id" in found.document
    (PatchPlanDocument if stored else PlainPlanDocument).model_validate(found.document)
    show_plan(found.document, script)


@app.command()
@asks(patching.DEVICE_FORMAT)
def render(
    plan: PlanFile, asked: dict[str, Any], plant: PlantOption = None, out: Out = None
) -> None:
    """Write a plan in the format of a device, an inventory or a person."""
    from topoloom.app.services import patch_plans
    from topoloom.app.store.artifacts import compact
    from topoloom.synth.wiring.devices import RENDERERS

    form = asked["format"]
    patch_plans.require_available(form)
    found = made(plan, plant)
    script = found.script  # read for every format: a document that is no plan is refused
    write(compact(found.document) if form == "json" else RENDERERS[form].write(script), out, form)


@app.command()
def verify(
    plan: PlanFile,
    observed: Annotated[
        Path,
        typer.Option(metavar="FILE", help="what is plugged now, as --present of patch plan"),
    ],
    plant: PlantOption = None,
) -> None:
    """Compare what is plugged with a plan; list the differences and exit 1 if there are any."""
    from topoloom.app.files.local_files import read_present_file
    from topoloom.synth.wiring.operations.observed_state import compared
    from topoloom.synth.wiring.plant.current_wiring import read_present

    at_hand = made(plan, plant)
    script = at_hand.script
    seen = read_present(read_present_file(observed, at_hand.settings), script.plant)
    found = compared(script, seen)
    for kind in ("missing", "outdated", "unexpected"):
        for pair in getattr(found, kind):
            panel = script.plant.panels[pair.panel].id
            name, label = script.plant.pair_name(pair), script.label(pair)
            typer.echo(f"{kind:<11}{panel}  {name}  {label}")
    stages, left = len(script.steps), len(found.missing) + len(found.extra)
    if found.stages_done is None:
        done = f"{found.complete} of {stages} stages are complete"
    else:
        done = f"the wiring is stage {found.stages_done}'s of {stages}"
    typer.echo(
        f"{len(found.missing)} missing, {len(found.unexpected)} unexpected; {done}"
        f"{f'; moves left: {left}' if left else ''}"
    )
    raise typer.Exit(0 if found.matches else 1)


def _plant(path: Path, settings: "Settings") -> "Plant":
    from topoloom.app.files.local_files import read_plant_file
    from topoloom.synth.wiring.plant import read_plant

    return read_plant(read_plant_file(path, settings))
