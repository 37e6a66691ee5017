"""A design as a set of program files, each for the sizes at which its algorithm is the fastest.

Candidates are the algorithms of the co-design that the format can express and the runtime can
load; crossover points decide among them.  The files cover every size for which any of them can be
loaded, without overlap.  For all other calls, a table selects the algorithms of NCCL's tuner.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from topoloom.schedules.compare.crossover import Candidate, fastest_ranges
from topoloom.schedules.design.answer import Design, DesignPoint
from topoloom.schedules.design.runnable_schedules import candidate_schedule
from topoloom.schedules.design.timing import LARGEST_BYTES
from topoloom.schedules.errors import NotExportable, TooLarge
from topoloom.schedules.formats import PROGRAMS, Options, require_options, write
from topoloom.schedules.formats.inspection.requirements import requirements, served_sizes
from topoloom.schedules.formats.nccl.program import COLLECTIVES
from topoloom.schedules.formats.nccl.write import beside
from topoloom.schedules.formats.targets.runtimes import Runtime, runtimes_for
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology

Maker: TypeAlias = Callable[[DesignPoint, Topology, Collective, str, int | None], Schedule]
"""Returns the verified schedule of a candidate of a point, with a maximum number of chunks."""

_ENDINGS = {"msccl-xml": "xml", "mscclpp-json": "json"}


@dataclass(frozen=True, slots=True)
class SizedFile:
    """One file of a set.

    Attributes:
        first_bytes, last_bytes: Sizes of data that the file serves, inclusive; None for no limit.
        multiple: The runtime runs the file only for multiples of this number of elements (MSCCL
            XML) or bytes (MSCCL++); else its own algorithm.
        scheduler_multiple: The same where the msccl-scheduler library chooses the file.
        channels: MSCCL XML: minimum value of NCCL_MIN_NCHANNELS; 0 for other formats.  Of MSCCL
            XML: NCCL_MIN_NCHANNELS must be no less; 0 of others.
    """

    collective: Collective
    algorithm: str
    first_bytes: int
    last_bytes: int | None
    multiple: int
    scheduler_multiple: int
    channels: int
    name: str
    text: str

    @property
    def note(self) -> str:
        """The sizes of the file, in one line."""
        last = "on" if self.last_bytes is None else f"to {self.last_bytes}"
        unit = "elements" if self.channels else "bytes"
        served = f"from {self.first_bytes} {last} bytes, multiples of {self.multiple} {unit}"
        return f"{self.collective} {served}: {self.algorithm}, {self.name}"


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files, and the reasons why algorithms of the design have none, by name.

    ``tuner`` is a table for NCCL's tuner; empty for all-to-all, where NCCL has no choice.
    ``runtime`` is the name of the most capable intended runtime.
    """

    files: tuple[SizedFile, ...]
    left_out: tuple[tuple[Collective, str, str], ...]
    tuner: str
    runtime: str


def require_file_options(form: str, options: Options) -> None:
    """Raise `NotExportable` unless the format has file sets and supports these options."""
    if form not in PROGRAMS:
        raise NotExportable("/format", one_of(form, PROGRAMS))
    # ``channels`` is an option of the table.
    require_options(form, replace(options, channels=None))


def file_set(
    design: Design,
    form: str,
    options: Options,
    make: Maker = candidate_schedule,
    most_bytes: int | None = None,
) -> FileSet:
    """Return the programs of a design that together serve all sizes.

    Args:
        form: One of `formats.PROGRAMS`.
        options: Options of the format, and ``channels`` of the table.  ``min_bytes`` and
            ``max_bytes`` limit the sizes of the whole set.
        make: Returns schedules; default: generates them.
        most_bytes: Maximum total bytes of all files.

    Raises:
        NotExportable: The format has no file sets, the range of sizes is empty, no algorithm of a
            collective is expressible, or none serves a size in the range.  The error states the
            first reason.
        TooLarge: A schedule of the point exceeds the limits of generation, or the files exceed the
            maximum.

    A runtime that allocates scratch memory at start may limit the size of the last file;
    ``last_bytes`` is then the largest size served.  ``scratch_budget`` raises the limit.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.design import Generators, Hosts, Limits, Speed, Task, Workload
    >>> from topoloom.schedules.design import design as made
    >>> work = Workload((Task(Collective.ALLREDUCE, 10**6),), single=True)
    >>> speed = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> found = made(Hosts(5, 2), speed, work, Generators(), Limits(2048, 256))
    >>> files = file_set(found, "msccl-xml", Options(runtime="azure")).files
    >>> files[0].first_bytes, files[-1].last_bytes
    (0, None)
    """
    require_file_options(form, options)
    if options.max_bytes is not None and options.max_bytes < (options.min_bytes or 0):
        raise NotExportable("/max_bytes", f"must be at least min_bytes, {options.min_bytes}")
    of_table, options = options.channels, replace(options, channels=None)
    topology = build(design.co_design.measured.recipe)
    runtime = runtimes_for(form, options.dialect, options.runtime)[-1]
    files: list[SizedFile] = []
    left_out: list[tuple[Collective, str, str]] = []
    for collective, ways in zip(
        design.workload.collectives, design.co_design.candidates, strict=True
    ):
        made = partial(make, design.co_design, topology, collective)
        can, cannot = _writable(made, ways, topology, form, options)
        left_out += [(collective, name, str(error)) for name, error in cannot.items()]
        if not can:
            raise next(iter(cannot.values()))
        those = [way for way in ways if way.name in can]
        files += _of_collective(made, those, topology, form, options, runtime)
        if most_bytes is not None and sum(len(one.text) for one in files) > most_bytes:
            raise TooLarge("/format", f"must make files of at most {most_bytes} bytes together")
    table = _table(design, files, options, of_table)
    return FileSet(tuple(files), tuple(left_out), table, runtime.name)


def _table(
    design: Design, files: Sequence[SizedFile], options: Options, channels: int | None
) -> str:
    """Return the tuner table for calls without a file: sizes between multiples or out of range."""
    chosen = [one for one in design.workload.collectives if one in COLLECTIVES]
    if not chosen:
        return ""
    lines = beside(
        chosen,
        [one.note for one in files],
        design.hosts.nodes,
        alpha_seconds=design.speed.alpha_seconds,
        bytes_per_second=design.speed.bytes_per_second,
        ranks_per_node=options.ranks_per_node,
        channels=channels,
        least_channels=max(one.channels for one in files),
    )
    return "".join(lines)


def _writable(
    made: Callable[[str, int | None], Schedule],
    ways: Sequence[Candidate],
    topology: Topology,
    form: str,
    options: Options,
) -> tuple[set[str], dict[str, NotExportable]]:
    """Return the algorithms that the format can express, and the errors of the others."""
    can: set[str] = set()
    cannot: dict[str, NotExportable] = {}
    anything = replace(options, min_bytes=None, max_bytes=None)
    for way in ways:
        # Where chunks cost time, the largest data has the most chunks.
        schedule = made(way.name, way.best(LARGEST_BYTES).max_chunks)
        try:
            "".join(map(str, write(form, schedule, topology, anything)))
        except NotExportable as error:
            cannot[way.name] = error
        else:
            can.add(way.name)
    return can, cannot


def _of_collective(
    made: Callable[[str, int | None], Schedule],
    ways: list[Candidate],
    topology: Topology,
    form: str,
    options: Options,
    runtime: Runtime,
) -> list[SizedFile]:
    """Return the files of one collective, by size."""
    fastest, by_name = fastest_ranges(ways), {way.name: way for way in ways}
    last, least = options.max_bytes, options.min_bytes or 0
    found: list[SizedFile] = []
    # Descending: a file ends before the least size that the next file serves.
    for at, one in reversed(list(enumerate(fastest))):
        first = max(least, one.first_bytes if at else 0)
        if last is not None and last < first:
            continue
        schedule = made(one.name, by_name[one.name].best(max(1, first)).max_chunks)
        said = replace(options, min_bytes=first, max_bytes=last)
        text = "".join(map(str, write(form, schedule, topology, said)))
        needs = requirements(form, text, runtime)
        served = served_sizes(form, text, runtime)
        name = f"{schedule.collective}-{served[0]}-{one.name}.{_ENDINGS[form]}"
        numbers = needs.multiple, needs.scheduler_multiple, needs.channels
        found.append(SizedFile(schedule.collective, one.name, *served, *numbers, name, text))
        last = served[0] - 1
    return found[::-1]
