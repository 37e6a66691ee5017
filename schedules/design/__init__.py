"""Designs: the best topology for a workload, its schedules by message size, and its time.

All decisions are exact and need no database: a design obtains the frontier, schedules and
routes from a `Sources`.  Read the modules in this order: `request`, `sources`, `answer`,
`point_algorithms`, `forest_pruning`, `timing`, `rewiring`.

Every point of the frontier is timed twice: in its steps, by broadcast or slack schedules
(``usual_seconds``), and with the fastest algorithm for every message size (``seconds``).
"""

from fractions import Fraction

from topoloom.schedules.compare.topology_algorithms import ONE_SHOT
from topoloom.schedules.design.answer import Change, Choice, Design, DesignPoint, ScheduleInUse
from topoloom.schedules.design.forest_pruning import FOREST_NODES
from topoloom.schedules.design.point_algorithms import LIFTED_NODES
from topoloom.schedules.design.request import Limits, Speed
from topoloom.schedules.design.rewiring import CurrentWiring, allowed_points, planned_changes
from topoloom.schedules.design.sources import Generators, Sources
from topoloom.schedules.design.timing import Timing, usual_candidate
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.options import DEFAULT_OPTIONS, Options
from topoloom.schedules.workloads.tasks import Task, Workload
from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.search.frontier import Point as Measured
from topoloom.synth.search.hosts import Hosts

__all__ = [
    "FOREST_NODES",
    "LIFTED_NODES",
    "Change",
    "Choice",
    "CurrentWiring",
    "Design",
    "DesignPoint",
    "Generators",
    "Hosts",
    "Limits",
    "ScheduleInUse",
    "Sources",
    "Speed",
    "Task",
    "Workload",
    "collective_cost",
    "design",
    "require_cost",
]


def design(
    hosts: Hosts,
    speed: Speed,
    workload: Workload,
    sources: Sources,
    limits: Limits,
    *,
    all_to_all: bool = False,
    today: CurrentWiring | None = None,
) -> Design:
    """Return the best topology for a workload, with its times, schedules and baselines.

    Args:
        hosts, speed: N hosts of d ports, their rates and latencies.
        workload: Tasks to run.
        sources: Source of frontiers, schedules and routes.
        limits: Larger topologies have no schedule of the best point, but a reason.
        all_to_all: Include all-to-all on every point, even if the workload has none.
        today: Today's wiring.  The design then counts the changes to reach every point, and chooses
            the best among the points that fit within the limits.

    Raises:
        DoesNotFit: No point of the frontier can be wired, or none within the limits.
        ImpossibleRequest, InvalidRecipe, TooLarge: As the sources raise.
        ClaimBroken: A bug: a schedule does not have the measured cost.

    Ties in time go to fewer steps, then to the shorter recipe.  In addition to the sources,
    O(points * tasks * candidates' lines).

    >>> work = Workload((Task(Collective.ALLREDUCE, 10**6),), single=True)
    >>> speed = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> found = design(Hosts(12, 4), speed, work, Generators(), Limits(2048, 256))
    >>> str(found.best.measured.recipe), float(found.best_seconds), found.schedule.facts.steps
    ('Circulant(12, 2, 3)', 0.00018666666666666666, 4)
    """
    found = sources.frontier(hosts)
    timing = Timing(hosts, speed, workload, found.bounds, all_to_all)
    points = tuple(timing.point(one, sources) for one in found.points)
    changes = () if today is None else planned_changes(points, today)
    allowed = points if today is None else allowed_points(points, changes, today)
    points = timing.with_trees(points, min(point.seconds for point in allowed), sources)
    allowed = points if today is None else allowed_points(points, changes, today)
    usual = min(allowed, key=lambda point: (point.usual_seconds, *point.simplicity))
    fastest = min(allowed, key=lambda point: (point.seconds, *point.simplicity))
    best = usual if workload.single else fastest
    return Design(
        hosts,
        speed,
        workload,
        found.bounds,
        timing.bound_seconds,
        points,
        best,
        _best_schedule(best, hosts, workload, sources, limits) if workload.single else None,
        fastest,
        _used(fastest, sources),
        timing.baselines,
        timing.assumed,
        changes,
        "moves" if today is None else today.weighed,
    )


def collective_cost(gather: Cost, scatter: Cost, collective: Collective) -> Cost:
    """Return the cost of a collective in steps on a graph with the costs of both directions.

    An allgather has the cost of G, a reduce-scatter that of the transpose, an allreduce the sum.

    >>> collective_cost(Cost(2, Fraction(1)), Cost(3, Fraction(2)), Collective.ALLREDUCE)
    Cost(steps=5, bandwidth=Fraction(3, 1))
    """
    used = {
        Collective.ALLGATHER: (gather,),
        Collective.REDUCE_SCATTER: (scatter,),
        Collective.ALLREDUCE: (scatter, gather),
    }[collective]
    wire = sum((cost.bandwidth for cost in used), Fraction(0))
    return Cost(sum(cost.steps for cost in used), wire)


def require_cost(facts: ScheduleCosts, cost: Cost) -> None:
    """Raise `ClaimBroken` if the cost of a schedule's sends differs from the measured cost."""
    if (facts.steps, facts.bandwidth) != (cost.steps, cost.bandwidth):
        raise ClaimBroken(
            "schedule",
            f"costs {facts.steps} steps and {facts.bandwidth}, "
            f"not {cost.steps} and {cost.bandwidth}",
        )


def _best_schedule(
    best: DesignPoint, hosts: Hosts, workload: Workload, sources: Sources, limits: Limits
) -> ScheduleInUse:
    """Return the schedule of a single collective on the best point, at the measured cost.

    An all-to-all has the schedule of its fastest routing for the size.
    """
    (task,) = workload.tasks
    measured, collective = best.measured, task.collective
    if collective is Collective.ALL_TO_ALL:
        generator, options = best.choices[0].algorithm, DEFAULT_OPTIONS
    else:
        line = usual_candidate(measured, best.candidates[0]).best(task.size_bytes)
        generator = measured.algorithm
        options = Options(max_chunks=line.max_chunks, steps=measured.within)
    most = limits.max_nodes(collective)
    if hosts.nodes > most:
        reason = f"schedules are generated for at most {most} nodes here"
        return ScheduleInUse(collective, generator, None, reason, options)
    facts = sources.schedule(measured.recipe, collective, generator, options)
    if collective is not Collective.ALL_TO_ALL and options.max_chunks is None:
        costs = measured.cost, measured.transpose
        require_cost(facts, collective_cost(*costs, collective))
    return ScheduleInUse(collective, generator, facts, options=options)


def _used(point: DesignPoint, sources: Sources) -> tuple[ScheduleInUse, ...]:
    """Return a verified schedule, or the reason for none, for every algorithm in use."""
    used = dict.fromkeys(
        (one.task.collective, one.algorithm, one.max_chunks) for one in point.choices
    )
    return tuple(_schedule_of(point.measured, *one, sources) for one in used)


def _schedule_of(
    measured: Measured,
    collective: Collective,
    algorithm: str,
    max_chunks: int | None,
    sources: Sources,
) -> ScheduleInUse:
    in_steps = algorithm in (measured.algorithm, ONE_SHOT[measured.algorithm])
    options = Options(max_chunks=max_chunks, steps=measured.within if in_steps else None)
    try:
        facts = sources.schedule(measured.recipe, collective, algorithm, options)
    except TooLarge as limit:
        return ScheduleInUse(collective, algorithm, None, limit.rule, options)
    return ScheduleInUse(collective, algorithm, facts, options=options)
