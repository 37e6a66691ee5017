"""Exports of stored documents to the formats of other programs, cached like any answer.

If the costs of a document show that a format cannot express it, the export fails before it
writes anything; otherwise the writer of the format raises the error.
"""

from collections.abc import Iterable, Mapping

from topoloom.app.documents import topology
from topoloom.app.documents.export import EXPORT, Exported
from topoloom.app.files.zip_archives import zipped
from topoloom.app.requests.schedules import ExportRequest
from topoloom.app.requests.stored_documents import ExportQuestion
from topoloom.app.services import patch_plans, program_sets, schedules
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.formats import FORMATS, Options, require_options


def export(context: Context, wanted: ExportQuestion) -> Artefact:
    """Return the stored file of a document in a format; several files are one archive.

    Raises:
        NotExportable: The format or option does not exist, or the format cannot express this
            document.
        TooLarge: The file would be larger than the limit of this installation.
    """
    kind, form = wanted.kind, wanted.format
    require_available(kind, form, wanted.options)
    asked = {"of": kind, "id": wanted.id, "format": form, **wanted.options.canonical()}

    def compute() -> Exported:
        limit = context.settings.max_export_bytes
        pieces = _pieces(context, wanted)
        return Exported(kind, wanted.id, form, media_type(kind, form), pieces, limit)

    return context.answer(EXPORT, asked, compute).artefact


def require_available(kind: str, form: str, options: ExportRequest) -> None:
    """Raise `NotExportable` unless the format exists and accepts these options."""
    if kind == "schedule":
        require_options(form, options_of(options))
    elif kind == "design":
        program_sets.require_available(form, options_of(options))
    elif kind == "topology":
        topology.require_available(form, options)
    else:
        patch_plans.require_available(form)


def options_of(options: ExportRequest) -> Options:
    """Return the given options of a schedule format."""
    return Options(**options.model_dump(exclude_none=True))


def media_type(kind: str, form: str) -> str:
    """Return the media type of a format."""
    if kind == "schedule":
        return FORMATS[form].media_type
    if kind == "design":
        return program_sets.MEDIA_TYPE
    return (topology.FORMATS if kind == "topology" else patch_plans.FORMATS)[form]


def _pieces(context: Context, wanted: ExportQuestion) -> bytes | Iterable[str]:
    artefact = context.read(wanted.kind, wanted.id)
    if wanted.kind == "design":
        return zipped(
            program_sets.of_design(context, artefact, wanted.format, options_of(wanted.options))
        )
    if wanted.kind == "topology":
        return [topology.export(artefact, wanted.format, wanted.options)]
    if wanted.kind == "patch-plan":
        return [patch_plans.export(artefact, wanted.format)]
    written = schedules.export(context, artefact, wanted.format, options_of(wanted.options))
    if isinstance(written, Mapping):
        return zipped({f"schedule{name}": data for name, data in written.items()})
    return written
