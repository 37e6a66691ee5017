"""A design as a set of files: each for the sizes at which its algorithm is the fastest.

Of all algorithms of the co-design those are taken that the format can say and the run-time can
load; among them the switch-over points decide.  So the files together serve every size for which
any of them may be loaded, and no two the same size.
"""

from dataclasses import dataclass, replace

from schedules.design.answer import Design
from schedules.design.running import scheduled
from schedules.errors import NotExportable
from schedules.formats import PROGRAMS, Options, write
from schedules.formats.requirements import requirements, served_sizes
from schedules.formats.runtimes import Runtime, runtimes_for
from schedules.model import Collective, Schedule
from schedules.switch_over import Candidate, ranges
from synth.build import build
from synth.topology import Topology

__all__ = ["FileSet", "SizedFile", "file_set"]


@dataclass(frozen=True, slots=True)
class SizedFile:
    """One file of a set.

    Attributes
    ----------
    first_bytes, last_bytes : int
        The sizes of data that the file is for, both included; None is no limit.
    multiple : int
        Of so many elements (MSCCL XML) or bytes (MSCCL++) the size must be a multiple, else the
        run-time runs its own algorithm.
    scheduler_multiple : int
        The same where the msccl-scheduler library chooses the file.
    """

    collective: Collective
    algorithm: str
    first_bytes: int
    last_bytes: int | None
    multiple: int
    scheduler_multiple: int
    text: str


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files, and why algorithms of the design are in none of them, by their names."""

    files: tuple[SizedFile, ...]
    left_out: tuple[tuple[Collective, str, str], ...]


def file_set(design: Design, form: str, options: Options) -> FileSet:
    """Return the programs of a design that together serve all sizes.

    Parameters
    ----------
    form : str
        One of `formats.PROGRAMS`.
    options : Options
        As of the format; ``min_bytes`` and ``max_bytes`` are what the set is for as a whole.

    Raises
    ------
    NotExportable
        It is another format, no algorithm of a collective can be written, or none at all for a
        size within what was asked; why is told for the first.
    TooLarge
        A schedule of the point is beyond what is generated.

    Notes
    -----
    A run-time that allocates scratch at start may set the last file a limit: then ``last_bytes`` is
    the largest size that is served.  ``scratch_budget`` raises it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from schedules.design import Generators, Hosts, Limits, Speed, Task, Workload
    >>> from schedules.design import design as made
    >>> work = Workload((Task(Collective.ALLREDUCE, 10**6),), single=True)
    >>> speed = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> found = made(Hosts(5, 2), speed, work, Generators(), Limits(2048, 256))
    >>> files = file_set(found, "msccl-xml", Options(runtime="azure")).files
    >>> files[0].first_bytes, files[-1].last_bytes
    (0, None)
    """
    if form not in PROGRAMS:
        raise NotExportable("/format", f"must be one of {', '.join(PROGRAMS)}; not {form!r}")
    topology = build(design.co_design.measured.recipe)
    runtime = runtimes_for(form, options.dialect, options.runtime)[-1]
    files: list[SizedFile] = []
    left_out: list[tuple[Collective, str, str]] = []
    for collective, ways in zip(
        design.workload.collectives, design.co_design.candidates, strict=True
    ):
        can, cannot = _writable(design, topology, collective, ways, form, options)
        left_out += [(collective, name, str(error)) for name, error in cannot.items()]
        if not can:
            raise next(iter(cannot.values()))
        those = [way for way in ways if way.name in can]
        files += _of_collective(those, can, topology, form, options, runtime)
    return FileSet(tuple(files), tuple(left_out))


def _writable(
    design: Design,
    topology: Topology,
    collective: Collective,
    ways: tuple[Candidate, ...],
    form: str,
    options: Options,
) -> tuple[dict[str, Schedule], dict[str, NotExportable]]:
    """Return the schedules that the format can say, and what is said against the others."""
    can: dict[str, Schedule] = {}
    cannot: dict[str, NotExportable] = {}
    anything = replace(options, min_bytes=None, max_bytes=None)
    for way in ways:
        schedule = scheduled(design.co_design, topology, collective, way.name)
        try:
            "".join(map(str, write(form, schedule, topology, anything)))
        except NotExportable as error:
            cannot[way.name] = error
        else:
            can[way.name] = schedule
    return can, cannot


def _of_collective(
    ways: list[Candidate],
    schedules: dict[str, Schedule],
    topology: Topology,
    form: str,
    options: Options,
    runtime: Runtime,
) -> list[SizedFile]:
    """Return the files of one collective, by size."""
    fastest = ranges(ways)
    last, least = options.max_bytes, options.min_bytes or 0
    found: list[SizedFile] = []
    # From the largest sizes down: a file ends before the least size that the next one serves.
    for at, one in reversed(list(enumerate(fastest))):
        first = max(least, one.first_bytes if at else 0)
        if last is not None and last < first:
            continue
        schedule, said = schedules[one.name], replace(options, min_bytes=first, max_bytes=last)
        text = "".join(map(str, write(form, schedule, topology, said)))
        needs = requirements(form, text, runtime)
        served = served_sizes(form, text, runtime)
        multiples = needs.multiple, needs.scheduler_multiple
        found.append(SizedFile(schedule.collective, one.name, *served, *multiples, text))
        last = served[0] - 1
    return found[::-1]
