"""Every format that schedules are written in: its name, media type, options, and writer.

Run times, simulators and people take different things; this table is what the command
line and the service read.  Writers are imported when they are first needed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.model.schedule import Schedule
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import Topology

__all__ = [
    "FORMATS",
    "PROGRAMS",
    "SENDING",
    "Files",
    "Format",
    "Options",
    "require_options",
    "write",
]

DEFAULT_ALPHA_US = 10

Files: TypeAlias = Mapping[str, bytes]
"""Several files: what to put behind a common name, such as ``.0.et``, and the content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be said about a format; None is what the writer does by itself."""

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
        """The options that were given."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True)
class Format:
    """One format; ``needs`` are options that must be given."""

    media_type: str
    write: Callable[[Schedule, Topology, Options], Iterable[str] | Files]
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def write(
    form: str, schedule: Schedule, topology: Topology, options: Options
) -> Iterable[str] | Files:
    """Return a schedule in one of `FORMATS`: text in pieces, or several files.

    Raises
    ------
    NotExportable
        There is no such format or option, or it cannot express this schedule.
    InvalidSchedule
        The schedule is not valid on the topology.

    Examples
    --------
    >>> from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> sorted(write("chakra-et", both, pair, Options(bytes=64)))
    ['.0.et', '.1.et']
    """
    require_options(form, options)
    return FORMATS[form].write(schedule, topology, options)


def require_options(form: str, options: Options) -> None:
    """Raise `NotExportable` unless there is this format and it takes, and gets, its options.

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


def _json(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.schedule.write import write as pieces

    return pieces(schedule)


def _msccl(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.msccl.write import render
    from topoloom.schedules.formats.targets.runtimes import runtimes_for

    meant = runtimes_for("msccl-xml", options.dialect, options.runtime)
    runtime = meant[0] if options.runtime else options.dialect or "msccl"
    return [render(schedule, topology, runtime, **_of_programs(options))]


def _mscclpp(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.mscclpp.write import render
    from topoloom.schedules.formats.targets.runtimes import runtime_of

    per_node = 1 if options.ranks_per_node is None else options.ranks_per_node
    runtime = runtime_of(options.runtime, "mscclpp-json") if options.runtime else None
    more = _of_programs(options)
    return [render(schedule, topology, runtime, ranks_per_node=per_node, **more)]


def _of_programs(options: Options) -> dict[str, Any]:
    """Return what writers of programs have in common."""
    from topoloom.schedules.formats.targets.size_limits import Sizes

    return {
        "inplace": bool(options.inplace),
        "sizes": Sizes(options.min_bytes or 0, options.max_bytes, options.scratch_budget),
        "instances": 1 if options.instances is None else options.instances,
    }


def _chakra(schedule: Schedule, topology: Topology, options: Options) -> Files:
    from topoloom.schedules.formats.chakra.write import render

    files = render(schedule, topology, options.bytes or 0)
    return {f".{rank}.et": data for rank, data in enumerate(files)}


def _tuner(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.nccl.write import render
    from topoloom.schedules.verify.costs import unit_bytes_per_second

    node = None if options.node_gbps is None else Fraction(options.node_gbps)
    alpha_us = DEFAULT_ALPHA_US if options.alpha_us is None else options.alpha_us
    return render(
        schedule,
        topology,
        alpha_seconds=Fraction(alpha_us) / 10**6,
        unit_bytes_per_second=unit_bytes_per_second(topology, node),
        ranks_per_node=options.ranks_per_node,
        channels=options.channels,
    )


def _dot(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.drawing.write import dot

    return dot(schedule, topology)


def _graphml(schedule: Schedule, topology: Topology, options: Options) -> Iterable[str]:
    from topoloom.schedules.formats.drawing.write import graphml

    return graphml(schedule, topology)


PROGRAMS = ("msccl-xml", "mscclpp-json")
"""The formats that run-times load."""
SENDING = (*PROGRAMS, "chakra-et")
"""The formats whose files tell what ranks send."""
_OF_PROGRAMS = ("runtime", "inplace", "instances", "min_bytes", "max_bytes", "scratch_budget")

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "json": Format("application/json", _json),
        "msccl-xml": Format("application/xml", _msccl, ("dialect", *_OF_PROGRAMS)),
        "mscclpp-json": Format(
            "application/vnd.mscclpp.plan+json", _mscclpp, ("ranks_per_node", *_OF_PROGRAMS)
        ),
        "chakra-et": Format("application/zip", _chakra, ("bytes",), ("bytes",)),
        "nccl-tuner-csv": Format(
            "text/csv", _tuner, ("alpha_us", "node_gbps", "ranks_per_node", "channels")
        ),
        "dot": Format("text/vnd.graphviz", _dot),
        "graphml": Format("application/graphml+xml", _graphml),
    }
)
"""The formats by name; the first is the default."""
