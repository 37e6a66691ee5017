"""`topoloom schedule --groups`: schedules of process groups that run at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoloom.app.cli.common import command_context, source_of, with_groups

if TYPE_CHECKING:
    from topoloom.app.cli.shared_options import Reading
    from topoloom.app.documents.group_schedule import JointSchedules
    from topoloom.app.requests.schedules import ExportRequest
    from topoloom.app.services.context import Context
    from topoloom.schedules.formats import Options

_SPEEDS = ("bytes", "alpha_us", "node_gbps")
_SUFFIXES: Mapping[str, str] = {"msccl-xml": ".xml", "mscclpp-json": ".json", "json": ".json"}


def schedule_groups(
    reading: "Reading",
    source: str,
    fields: dict[str, Any],
    on: "ExportRequest",
    form: str,
    options: "Options",
    out: Path | None,
) -> None:
    """Make, verify and store the schedules of all groups; print them, and write their files."""
    from topoloom.app.cli.output.groups import show_group_schedules
    from topoloom.app.documents import group_schedule
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.files.zip_archives import write_folder
    from topoloom.app.requests.group_schedules import GroupScheduleRequest
    from topoloom.app.services.group_schedules import group_schedules

    for name in fields:
        if name not in GroupScheduleRequest.model_fields:
            hint = f"--{name.replace('_', '-')}"
            raise typer.BadParameter("must be absent with --groups", param_hint=hint)
    speeds = {name: value for name, value in on.model_dump().items() if name in _SPEEDS}
    with command_context() as context:
        members = with_groups(fields, context.settings)
        members |= {name: value for name, value in speeds.items() if value is not None}
        members["topology"] = source_of(source, reading, context)
        found = group_schedules(context, GroupScheduleRequest.model_validate(members))
        files = {} if out is None else dict(_files(context, found, form, options))
        if out is not None:
            write_folder(out, files)
        if not is_stream(out):
            show_group_schedules(dict(group_schedule.of(found)))
        if out is not None:
            typer.echo(f"{len(files)} files written to {out}", err=is_stream(out))


def _files(
    context: "Context", found: "JointSchedules", form: str, options: "Options"
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of every group, named by its kind and number."""
    from topoloom.app.services import schedules

    for one, stored in zip(found.traffic, found.stored, strict=True):
        for number, artefact in enumerate(stored):
            written = schedules.export(context, artefact, form, options)
            name = f"{one.kind}-{number}"
            if isinstance(written, Mapping):
                yield from ((name + suffix, data) for suffix, data in written.items())
            else:
                yield name + _SUFFIXES.get(form, f".{form}"), "".join(written).encode()
