"""The schedules of a design, with the sizes at which each is the fastest."""

from topoloom.schedules.compare.crossover import fastest_ranges
from topoloom.schedules.design.answer import Design, DesignPoint
from topoloom.schedules.execute.limits import MAX_PIPELINE_CHUNKS
from topoloom.schedules.execute.runner import Served
from topoloom.schedules.generate.collectives import GATHERS
from topoloom.schedules.generate.make_and_verify import verified_schedule
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.options import Options
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology


def candidate_schedule(
    point: DesignPoint,
    topology: Topology,
    collective: Collective,
    name: str,
    max_chunks: int | None = None,
) -> Schedule:
    """Return the verified schedule of a candidate of a point, in its steps and chunks."""
    return verified_schedule(
        topology, collective, name, candidate_options(point, name, max_chunks)
    ).schedule


def candidate_options(point: DesignPoint, name: str, max_chunks: int | None = None) -> Options:
    """Return the options of a candidate of a point: its number of steps and chunks."""
    own = GATHERS.get(name, name) == point.measured.algorithm
    return Options(max_chunks=max_chunks, steps=point.measured.within if own else None)


def served_schedules(design: Design) -> tuple[Served, ...]:
    """Return the schedules that a `Runner` needs for a design, by collective and size.

    Args:
        design: Its co-design is used: the point of least time by the fastest algorithm for every
            size.

    Raises:
        TooLarge: A schedule of the point exceeds the limits of generation.

    Each schedule is verified.  Trees are cut as is best at the first size of their range.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.model.schedule import Collective
    >>> from topoloom.schedules.design import Generators, Hosts, Limits, Speed, Task, Workload
    >>> from topoloom.schedules.design import design as made
    >>> speed = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> work = Workload((Task(Collective.ALLGATHER, 10**6),), single=True)
    >>> found = made(Hosts(12, 4), speed, work, Generators(), Limits(2048, 256))
    >>> [(one.schedule.collective.value, one.first_bytes) for one in served_schedules(found)]
    [('allgather', 0)]
    """
    point = design.co_design
    topology = build(point.measured.recipe)
    found = []
    for collective, ways in zip(design.workload.collectives, point.candidates, strict=True):
        by_name = {way.name: way for way in ways}
        for index, fastest in enumerate(fastest_ranges(ways)):
            way, first = by_name[fastest.name], fastest.first_bytes if index else 0
            line = way.best(max(1, first))
            schedule = candidate_schedule(point, topology, collective, way.name, line.max_chunks)
            chunks = min(line.chunks, MAX_PIPELINE_CHUNKS)
            found.append(Served(schedule, first, chunks))
    return tuple(found)
