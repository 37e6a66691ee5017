"""The programs of a stored design: a set of files that covers all sizes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topoloom.app.documents import program_set
from topoloom.app.documents.design import question_of
from topoloom.app.services import designs
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.formats import Options, require_options
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.design import DesignPoint

MEDIA_TYPE = "application/zip"
"""Media type of a set."""


def require_available(form: str, options: Options) -> None:
    """Raise `NotExportable` unless designs have this format and it accepts these options."""
    from topoloom.schedules.design.export_files import require_file_options

    if form == "json":
        require_options(form, options)
    else:
        require_file_options(form, options)


def of_design(
    context: Context, artefact: Artefact, form: str, options: Options
) -> Mapping[str, bytes]:
    """Return the files by name: programs in a folder, an index, and a table for NCCL's tuner.

    Raises:
        NotExportable: The run-time cannot express any algorithm of a collective.
        TooLarge: A schedule, or the total size of the files, exceeds a limit of this installation.
    """
    from topoloom.app.services.design_inputs import made
    from topoloom.schedules.design.export_files import file_set
    from topoloom.schedules.design.runnable_schedules import candidate_options

    request = question_of(artefact)
    # Recompute the design from stored answers: its document lacks the times of algorithms.
    design, sources = made(context, request, designs.today_of(request, context))

    def make(
        point: "DesignPoint",
        topology: Topology,
        collective: Collective,
        name: str,
        max_chunks: int | None,
    ) -> Schedule:
        asked = candidate_options(point, name, max_chunks)
        return sources.scheduled(point.measured.recipe, collective, name, asked)

    found = file_set(design, form, options, make, context.settings.max_export_bytes)
    recipe = design.co_design.measured.recipe
    return program_set.files_of(artefact.id, request, recipe, form, found)
