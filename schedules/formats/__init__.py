"""The registry of schedule formats: name, media type, options, writer, and replay.

The command line, the service, the verifier and the simulator read `FORMATS`.  Writers and replays
are imported on first use, so the registry itself imports no schedule code.

Readers and replays raise `InvalidProgram`, for schedule/1 `InvalidSchedule`: the error names the
place, by line, element or JSON pointer, and the rule.  Writers raise `InvalidSchedule` for a
schedule that is not valid on the topology.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.synth.naming.suggestions import one_of

if TYPE_CHECKING:
    from topoloom.schedules.formats.targets.runtimes import Runtime
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.synth.topology.topology import Topology

__all__ = [
    "FORMATS",
    "PROGRAMS",
    "SENDING",
    "Files",
    "Format",
    "FormatName",
    "Options",
    "one_text",
    "require_options",
    "write",
]

FormatName: TypeAlias = Literal[
    "json", "msccl-xml", "mscclpp-json", "chakra-et", "goal", "nccl-tuner-csv", "dot", "graphml"
]
"""The names of `FORMATS`."""

Files: TypeAlias = Mapping[str, bytes]
"""Several files: pairs of a suffix, such as ``.0.et``, and the content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a writer; None selects the writer's default."""

    dialect: str | None = None
    runtime: str | None = None
    inplace: bool | None = None
    instances: int | None = None
    ranks_per_node: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    scratch_budget: int | None = None
    channels: int | None = None
    bytes: int | None = None
    alpha_us: Decimal | None = None
    node_gbps: Decimal | None = None

    @property
    def given(self) -> dict[str, object]:
        """Return the options that are not None."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its writer, and how its files are recognized and replayed.

    ``options`` are the options that the writer accepts, ``needs`` the required ones.
    ``transcript`` replays files, for a runtime or dialect if given.  ``recognizes`` decides from
    the start of a text, without leading blanks, and from its JSON value (None for other text).
    """

    media_type: str
    write: "Callable[[Schedule, Topology, Options], Iterable[str] | Files]"
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    transcript: "Callable[[Sequence[bytes], Runtime | str | None], Transcript] | None" = None
    recognizes: Callable[[str, object], bool] | None = None


def write(
    form: str, schedule: "Schedule", topology: "Topology", options: Options
) -> Iterable[str] | Files:
    """Return a schedule in one of `FORMATS`: text in pieces, or several files.

    Raises:
        NotExportable: The format or option does not exist, or the format cannot express this
            schedule.

    >>> from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
    >>> from topoloom.synth.topology.topology import Topology
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> sorted(write("chakra-et", both, pair, Options(bytes=64)))
    ['.0.et', '.1.et']
    """
    require_options(form, options)
    return FORMATS[form].write(schedule, topology, options)


def require_options(form: str, options: Options) -> None:
    """Raise `NotExportable` unless the format exists and accepts, and gets, its options.

    >>> require_options("json", Options(dialect="rccl"))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NotExportable: /dialect: is for the format msccl-xml only
    """
    if form not in FORMATS:
        raise NotExportable("/format", one_of(form, FORMATS))
    for name in options.given:
        if name not in FORMATS[form].options:
            takers = [other for other in FORMATS if name in FORMATS[other].options]
            plural = "s" if len(takers) > 1 else ""
            raise NotExportable(
                f"/{name}", f"is for the format{plural} {' and '.join(takers)} only"
            )
    for name in FORMATS[form].needs:
        if name not in options.given:
            raise NotExportable(f"/{name}", f"must be given for the format {form}")


def _json(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.schedule.write import write as pieces

    return pieces(schedule)


def _msccl(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.msccl.write import render
    from topoloom.schedules.formats.targets.runtimes import runtimes_for

    meant = runtimes_for("msccl-xml", options.dialect, options.runtime)
    runtime = meant[0] if options.runtime else options.dialect or "msccl"
    return [render(schedule, topology, runtime, **_of_programs(options))]


def _mscclpp(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.mscclpp.write import render
    from topoloom.schedules.formats.targets.runtimes import runtime_of

    per_node = 1 if options.ranks_per_node is None else options.ranks_per_node
    runtime = runtime_of(options.runtime, "mscclpp-json") if options.runtime else None
    more = _of_programs(options)
    return [render(schedule, topology, runtime, ranks_per_node=per_node, **more)]


def _of_programs(options: Options) -> dict[str, Any]:
    """Return the options that all writers of programs share."""
    from topoloom.schedules.formats.targets.size_limits import Sizes

    return {
        "inplace": bool(options.inplace),
        "sizes": Sizes(options.min_bytes or 0, options.max_bytes, options.scratch_budget),
        "instances": 1 if options.instances is None else options.instances,
    }


def _chakra(schedule: "Schedule", topology: "Topology", options: Options) -> Files:
    from topoloom.schedules.formats.chakra.write import render

    files = render(schedule, topology, options.bytes or 0)
    return {f".{rank}.et": data for rank, data in enumerate(files)}


def _goal(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.goal.write import render

    return list(render(schedule, topology, options.bytes or 0))


def _tuner(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.nccl.write import render
    from topoloom.synth.topology.hops import hop_seconds
    from topoloom.synth.topology.rates import unit_bytes_per_second

    node = None if options.node_gbps is None else Fraction(options.node_gbps)
    alpha_us = None if options.alpha_us is None else Fraction(options.alpha_us)
    return render(
        schedule,
        topology,
        alpha_seconds=hop_seconds(topology, alpha_us),
        unit_bytes_per_second=unit_bytes_per_second(topology, node),
        ranks_per_node=options.ranks_per_node,
        channels=options.channels,
    )


def _dot(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.drawing.write import dot

    return dot(schedule, topology)


def _graphml(schedule: "Schedule", topology: "Topology", options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.drawing.write import graphml

    return graphml(schedule, topology)


def _msccl_transcript(files: Sequence[bytes], said: "Runtime | str | None") -> "Transcript":
    from topoloom.schedules.formats.inspection.dialects import readings_of
    from topoloom.schedules.formats.msccl import replay
    from topoloom.schedules.formats.targets.runtimes import target_runtimes

    text = one_text(files)
    return replay.transcript(
        text, target_runtimes("msccl-xml", said or readings_of(text)[0].dialect)[-1]
    )


def _mscclpp_transcript(files: Sequence[bytes], said: "Runtime | str | None") -> "Transcript":
    from topoloom.schedules.formats.mscclpp import replay
    from topoloom.schedules.formats.targets.runtimes import target_runtimes

    return replay.transcript(one_text(files), target_runtimes("mscclpp-json", said)[-1])


def _chakra_transcript(files: Sequence[bytes], _: "Runtime | str | None") -> "Transcript":
    from topoloom.schedules.formats.chakra import replay

    return replay.transcript(files)


def _goal_transcript(files: Sequence[bytes], _: "Runtime | str | None") -> "Transcript":
    from topoloom.schedules.formats.chakra import replay
    from topoloom.schedules.formats.goal.read import parse

    return replay.transcript_of(parse(one_text(files)))


def one_text(files: Sequence[bytes]) -> str:
    """Return the text of a single file; raise `InvalidProgram` otherwise.

    >>> one_text([b"<algo/>"])
    '<algo/>'
    """
    try:
        (data,) = files
        return data.decode()
    except ValueError:
        raise InvalidProgram("", "must be one file of text in UTF-8") from None


def _is_schedule(head: str, document: object) -> bool:
    return isinstance(document, dict) and str(document.get("schema", "")).startswith("schedule/")


def _is_mscclpp(head: str, document: object) -> bool:
    return isinstance(document, dict) and "gpus" in document and "schema" not in document


_TABLE = re.compile(r"(#[^\n]*\n|\n)*[ \t]*[a-z]+[ \t]*,[ \t]*[0-9]+[ \t]*,")

PROGRAMS = ("msccl-xml", "mscclpp-json")
"""The formats that runtimes load."""
SENDING = (*PROGRAMS, "chakra-et", "goal")
"""The formats whose files hold the sends of the ranks."""
_OF_PROGRAMS = ("runtime", "inplace", "instances", "min_bytes", "max_bytes", "scratch_budget")

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "json": Format("application/json", _json, recognizes=_is_schedule),
        "msccl-xml": Format(
            "application/xml",
            _msccl,
            ("dialect", *_OF_PROGRAMS),
            transcript=_msccl_transcript,
            recognizes=lambda head, document: head.startswith("<algo"),
        ),
        "mscclpp-json": Format(
            "application/vnd.mscclpp.plan+json",
            _mscclpp,
            ("ranks_per_node", *_OF_PROGRAMS),
            transcript=_mscclpp_transcript,
            recognizes=_is_mscclpp,
        ),
        "chakra-et": Format(
            "application/zip", _chakra, ("bytes",), ("bytes",), transcript=_chakra_transcript
        ),
        "goal": Format(
            "text/x-goal",
            _goal,
            ("bytes",),
            ("bytes",),
            transcript=_goal_transcript,
            recognizes=lambda head, document: "num_ranks" in head[:200],
        ),
        "nccl-tuner-csv": Format(
            "text/csv",
            _tuner,
            ("alpha_us", "node_gbps", "ranks_per_node", "channels"),
            recognizes=lambda head, document: _TABLE.match(head) is not None,
        ),
        "dot": Format("text/vnd.graphviz", _dot),
        "graphml": Format("application/graphml+xml", _graphml),
    }
)
"""The formats by name; the first is the default."""
