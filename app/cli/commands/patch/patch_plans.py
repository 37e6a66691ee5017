"""`topoloom patch plan`, `show`, `render` and `verify`.

``topoloom patch FILE_OR_RECIPE`` is ``topoloom patch plan FILE_OR_RECIPE``.
"""

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from topoloom.app.cli.common import (
    command_context,
    is_beside,
    is_file,
    source_of,
    with_wiring,
    write,
)
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.text_table import print_note
from topoloom.app.cli.shared_options import AsJson, Out, Reading, Source, reads_topology
from topoloom.app.requests.options import patch_plans as patching

if TYPE_CHECKING:
    from topoloom.app.config import Settings
    from topoloom.app.store.artifacts import Artefact
    from topoloom.synth.topology.topology import Topology
    from topoloom.synth.wiring import PatchPlan, Plant
    from topoloom.synth.wiring.devices import Script


class PlanFirst(TyperGroup):
    """A group with the default command ``plan``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert ``plan`` unless the first argument is a command or a help option."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if named else ["plan", *args])


app = typer.Typer(
    cls=PlanFirst,
    help="Plan the wiring of patch panels, write it for devices, check the current wiring.",
    no_args_is_help=True,
)

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", help="patch-plan/1 file, or the id of a stored plan")
]
PlantOption = Annotated[
    str | None,
    typer.Option(
        "--plant",
        metavar="FILE",
        help="plant of the plan, if made with --plant; or netbox:URL",
    ),
]


@app.command()
@reads_topology
@request_options(
    patching.PANELS,
    patching.CURRENT_WIRING,
    patching.HOSTS,
    patching.PORTS_PER_HOST,
    patching.PLANT,
    patching.USE_SPARE_PORTS,
    patching.HOST_ASSIGNMENT,
    patching.OBJECTIVE,
    patching.MAX_LINKS_DOWN,
    patching.STAY_CONNECTED,
    patching.MAKE_BEFORE_BREAK,
    patching.PLAN_FORMAT,
)
def plan(
    invoked: typer.Context,
    reading: Reading,
    source: Source,
    fields: dict[str, Any],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Plan the wiring of a topology, with few moves from the current wiring.

    Prints a table on a terminal; writes the document to a pipe, a file, or with --json or --format.
    """
    from topoloom.app.requests.patch_plans import PatchPlanRequest
    from topoloom.app.services import patch_plans

    form = fields.pop("format")
    chosen = invoked.get_parameter_source("field_format")
    if as_json and form != "json":
        raise typer.BadParameter("must not be combined with --format", param_hint="--json")
    as_table = not (as_json or out or (chosen and chosen.name != "DEFAULT"))
    patch_plans.require_available(form)
    with command_context() as context:
        fields = with_wiring(fields, context.settings)
        fields["topology"] = source_of(source, reading, context)
        artefact = patch_plans.create(context, PatchPlanRequest.model_validate(fields))
    if as_table and sys.stdout.isatty():
        _show_created(artefact)
    else:
        write(patch_plans.export(artefact, form), out, "patch plan")
        if is_beside(out):
            from topoloom.app.cli.output.patch_plans import moves_line
            from topoloom.app.documents.patch_plan import content_of

            typer.echo(moves_line(content_of(artefact)[0]["summary"]))


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
class LoadedPlan:
    """A plan document, with its plant and topology if known."""

    document: dict[str, Any]
    plant: "Plant | None"
    topology: "Topology | None"
    settings: "Settings"

    @cached_property
    def script(self) -> "Script":
        """The moves of the plan."""
        from topoloom.synth.wiring.devices import read_script

        return read_script(self.document, self.plant)

    @cached_property
    def plan(self) -> "PatchPlan":
        """The plan as a value."""
        from topoloom.synth.wiring.plans.document_reader import read_plan

        return read_plan(self.document, self.plant, self.topology)


def load_plan(plan: Path, plant: str | None, topology: str | None = None) -> LoadedPlan:
    """Return the plan of a file or of a stored id; ``topology`` is a FILE_OR_RECIPE."""
    from topoloom.app.config import Settings
    from topoloom.app.documents.patch_plan import content_of, subject_of
    from topoloom.app.files.local_files import read_json
    from topoloom.app.inventory.sources import plant_of
    from topoloom.app.requests.document_ids import is_id
    from topoloom.app.services import topologies
    from topoloom.synth.wiring.plant import read_plant

    settings = Settings()
    document, made_on, wired = None, None, None
    if plant is not None:
        made_on = read_plant(plant_of(plant, settings))
    if is_file(str(plan)) or not is_id(str(plan)):
        document = read_json(plan, settings)
    if document is None or topology is not None:
        with command_context() as context:
            if document is None:
                artefact = context.read("patch-plan", str(plan))
                document, stored = content_of(artefact)
                made_on = made_on or stored
                topology = topology or subject_of(artefact).id
            if topology is not None:
                source = source_of(topology, Reading(), context)
                wired = topologies.load(context, source).topology
    return LoadedPlan(document, made_on, wired, settings)


@app.command()
def show(plan: PlanFile, plant: PlantOption = None, as_json: AsJson = False) -> None:
    """Show a plan as tables: moves, stages and lost capacity."""
    from topoloom.app.cli.output.patch_plans import show_plan
    from topoloom.app.documents.patch_plan import PatchPlanDocument, PlainPlanDocument
    from topoloom.app.store.artifacts import compact

    plan_file = load_plan(plan, plant)
    document = plan_file.document
    if as_json:
        typer.echo(compact(document))
        return
    script = plan_file.script
    (PatchPlanDocument if "id" in document else PlainPlanDocument).model_validate(document)
    show_plan(document, script)


@app.command()
@request_options(patching.DEVICE_FORMAT)
def render(
    plan: PlanFile, fields: dict[str, Any], plant: PlantOption = None, out: Out = None
) -> None:
    """Write a plan in a device, inventory or document format."""
    from topoloom.app.services import patch_plans
    from topoloom.app.store.artifacts import compact
    from topoloom.synth.wiring.devices import RENDERERS

    form = fields["format"]
    patch_plans.require_available(form)
    plan_file = load_plan(plan, plant)
    script = plan_file.script  # for every format: reading refuses a document that is not a plan
    text = compact(plan_file.document) if form == "json" else RENDERERS[form].write(script)
    write(text, out, form)


@app.command()
def verify(
    plan: PlanFile,
    observed: Annotated[
        str,
        typer.Option(metavar="FILE", help="current wiring, as --current-wiring of patch plan"),
    ],
    plant: PlantOption = None,
) -> None:
    """Compare the current wiring with a plan; exit 1 and list the differences, if any."""
    from topoloom.app.cli.output.patch_plans import show_comparison
    from topoloom.app.inventory.sources import wiring_of
    from topoloom.synth.errors import InvalidWiring
    from topoloom.synth.wiring.devices.wiring_reader import read_wiring
    from topoloom.synth.wiring.operations.observed_state import differences_from_plan

    plan_file = load_plan(plan, plant)
    script = plan_file.script
    given = wiring_of(observed, plan_file.settings)
    try:
        seen = read_wiring(given, script.plant, script.base)
    except InvalidWiring as error:
        raise InvalidWiring(f"/observed{error.field}", error.rule) from None
    for note in seen.notes:
        print_note(note)
    differences = differences_from_plan(script, seen.present, seen.panels, seen.dark)
    show_comparison(script, seen.present, differences)
    raise typer.Exit(0 if differences.matches else 1)
