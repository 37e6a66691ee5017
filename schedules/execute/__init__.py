"""Run a schedule on tensors: in a process group, or between local processes to check its result.

`runner.Runner` runs collectives in an existing process group.  `execute` starts its own processes,
one per rank, which run over gloo on this machine's loopback, and compares every element.  The
executor shares no code with generators and does not verify the schedule first: faults show in the
data.  The times of `execute` are those of this machine, where all ranks share cores and memory;
they do not predict the times of a cluster.

The package `programs` and `expected_data` are pure; `point_to_point_executor` sends and receives.
In `processes`, `rank_process` is the program of one process of `execute`, `rank_launcher` starts
and watches the processes, and `local_group` is the caller's end.
"""

from dataclasses import dataclass

from topoloom.schedules.errors import ExecutionFailed, TooLarge
from topoloom.schedules.execute.expected_data import ELEMENT, Mistake, Task
from topoloom.schedules.execute.limits import (
    MAX_BYTES_IN_ALL,
    MAX_PIPELINE_CHUNKS,
    MAX_REPEAT,
    MAX_SECONDS,
)
from topoloom.schedules.execute.processes.local_group import Team
from topoloom.schedules.execute.processes.rank_process import Job
from topoloom.schedules.execute.programs.all_to_all_program import programs_of_exchange
from topoloom.schedules.execute.programs.plan import ExecutionPlan, plan
from topoloom.schedules.execute.programs.rank_program import Program, program_of
from topoloom.schedules.execute.programs.route_program import programs_of_routes
from topoloom.schedules.execute.programs.transcript_plan import gathering, plan_of_transcript
from topoloom.schedules.execute.runner import Runner, ranks_of
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    StepSchedule,
    schedule_parts,
)
from topoloom.schedules.model.transcript import Transcript
from topoloom.synth.topology.topology import NodeId

__all__ = ["Execution", "Mistake", "Runner", "Team", "execute", "ranks_of"]


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome of a run.

    ``rounds``: how many times each rank waited for its peers.  ``messages``, ``bytes_moved``: all
    traffic between two ranks in one run.  ``seconds``: of each run, the time of its slowest rank.
    ``mistakes``: the wrong elements at each rank after the first faulty run; empty if every element
    of every rank was right in all runs.
    """

    ranks: tuple[NodeId, ...]
    size_bytes: int
    rounds: int
    messages: int
    bytes_moved: int
    seconds: tuple[float, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def exact(self) -> bool:
        """Whether every rank held, bit for bit, the result of the collective."""
        return not self.mistakes


def execute(
    schedule: Schedule | Transcript,
    *,
    size_bytes: int = 1 << 20,
    repeat: int = 1,
    pipeline_chunks: int = 4,
    timeout_seconds: float = 60.0,
    team: Team | None = None,
) -> Execution:
    """Run a schedule between local processes, one per rank, and check the result.

    Args:
        schedule: Any schedule, valid or not; `schedules.verify` checks validity.  A transcript
            holds the messages of an exported program; it runs in rounds of messages that do not
            depend on each other.
        size_bytes: M: the output of an allgather, the input of a reduce-scatter, the buffer of an
            allreduce, the data that each rank sends in an all-to-all.  A multiple of 4, since
            elements are 32-bit integers; N times M, the data at all ranks together, is at most
            `limits.MAX_BYTES_IN_ALL`.
        repeat: Runs, each on new data; 1 to `limits.MAX_REPEAT`.
        pipeline_chunks: Pieces of each tree's data, 1 to `limits.MAX_PIPELINE_CHUNKS`; messages of
            a transcript are not cut.
        timeout_seconds: Time limit of a rank for a message, and of the whole call.
        team: Processes to use, at least one per rank; by default the call starts its own.

    Raises:
        InvalidSchedule: The schedule names a node that is no rank; see `plan.plan`.
        InvalidProgram: The transcript keeps several values of one part of the data at a rank.
        TooLarge: A limit above is exceeded.
        ExecutionFailed: PyTorch is missing, a process ended, or a message did not arrive in time.

    >>> from topoloom.schedules.generate.collectives import make
    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> allreduce = make(build(parse("Kautz(2, 2)")), "allreduce")
    >>> done = execute(allreduce, size_bytes=96)  # doctest: +SKIP
    >>> done.exact, done.rounds, done.messages  # doctest: +SKIP
    (True, 4, 48)
    """
    ranks = schedule.ranks if isinstance(schedule, Transcript) else ranks_of(schedule)
    folds = _folds(schedule)
    # Every rank gathers the whole contributions of all.
    held_bytes = size_bytes * len(ranks) if folds else size_bytes
    _require_limits(len(ranks), held_bytes, repeat, pipeline_chunks, timeout_seconds)
    elements = held_bytes // ELEMENT.itemsize
    task, programs = _planned(schedule, len(ranks), elements, pipeline_chunks)
    jobs = [Job(task, program, repeat) for program in programs]
    if team is None:
        with Team(len(ranks), timeout_seconds=timeout_seconds) as own:
            reports = own.run(jobs)
    elif team.ranks < len(ranks):
        raise ExecutionFailed("/team", f"must have at least {len(ranks)} ranks, not {team.ranks}")
    else:
        reports = team.run(jobs)
    sent = [
        transfer.elements
        for program in programs
        for _, turn in program.turns
        for transfer in turn.sends
    ]
    rounds = 1 + max((number for each in programs for number, _ in each.turns), default=-1)
    return Execution(
        ranks,
        size_bytes,
        rounds,
        len(sent),
        sum(sent) * ELEMENT.itemsize,
        tuple(map(max, zip(*(report.seconds for report in reports), strict=True))),
        tuple(mistake for report in reports for mistake in report.mistakes),
    )


def _planned(
    schedule: Schedule | Transcript, ranks: int, elements: int, pipeline_chunks: int
) -> tuple[Task, list[Program]]:
    """Return the task of the collective, and the program of each rank."""
    if schedule.collective is Collective.ALL_TO_ALL:
        bounds = tuple(elements * at // ranks for at in range(ranks + 1))
        whole = Task(bounds, False, starts_whole=True, ends_whole=True, exchanges=True)
        if isinstance(schedule, Transcript):
            return whole, list(programs_of_exchange(schedule, elements))
        if isinstance(schedule, RouteSchedule):
            return whole, list(programs_of_routes(schedule, elements))
    if isinstance(schedule, Transcript):
        told = gathering(schedule) if schedule.in_one_pass else schedule
        found = plan_of_transcript(told, elements)
    else:
        found = plan(schedule, elements, pipeline_chunks)
    return _task(schedule, found), [program_of(found, rank) for rank in range(ranks)]


def _folds(schedule: Schedule | Transcript) -> bool:
    """Return whether every rank gathers all contributions and adds them by itself."""
    return isinstance(schedule, StepSchedule | Transcript) and schedule.in_one_pass


def _task(schedule: Schedule | Transcript, found: ExecutionPlan) -> Task:
    """Return the pre- and postcondition of the collective: the first part's and the last part's."""
    if _folds(schedule):
        return Task(found.bounds, reduces=False, starts_whole=False, ends_whole=True, folds=True)
    if isinstance(schedule, Transcript):
        gathers = schedule.collective.outward
        scatters = schedule.collective.inward
        ends = {"starts_whole": not gathers, "ends_whole": not scatters}
        return Task(found.bounds, not gathers, **ends, idle=schedule.idle)
    parts = schedule_parts(schedule)
    return Task(
        found.bounds,
        reduces=not all(part.collective.outward for part in parts),
        starts_whole=not parts[0].collective.outward,
        ends_whole=parts[-1].collective.outward,
    )


def _require_limits(
    ranks: int, size_bytes: int, repeat: int, pipeline_chunks: int, timeout_seconds: float
) -> None:
    if size_bytes < 0 or size_bytes % ELEMENT.itemsize:
        raise TooLarge("/bytes", f"must be a multiple of {ELEMENT.itemsize}")
    if size_bytes * ranks > MAX_BYTES_IN_ALL:
        rule = f"must be at most {MAX_BYTES_IN_ALL // ranks} between {ranks} ranks"
        raise TooLarge("/bytes", rule)
    if not 1 <= repeat <= MAX_REPEAT:
        raise TooLarge("/repeat", f"must lie in 1 to {MAX_REPEAT}")
    if not 1 <= pipeline_chunks <= MAX_PIPELINE_CHUNKS:
        raise TooLarge("/pipeline_chunks", f"must lie in 1 to {MAX_PIPELINE_CHUNKS}")
    if not 0 < timeout_seconds <= MAX_SECONDS:
        raise TooLarge("/timeout_seconds", "must be above 0, at most a day")
