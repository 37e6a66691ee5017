"""Run a schedule for real: on the tensors of a program, or to see whether every bit comes out.

`runner.Runner` runs collectives in a process group that somebody has.  `execute` starts
processes of its own, one per rank, which do the same over gloo on this machine's loopback, and
compares every element.  Nothing here knows how the schedule was made, and the schedule is not
verified first: what is wrong with it shows in the data.  The times of `execute` say how long this
machine took, where all ranks share its cores and memory; they say nothing of a cluster.

`plan`, `routing`, `transcripts`, `turns` and `data` are pure; `carrying` sends and receives;
`rank` is what a process of `execute` does; `host` starts and watches the processes; `team` is
the way to them.
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
from topoloom.schedules.execute.programs.plan import Plan, plan
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
    """What happened.

    ``rounds``: how many times each rank waited for its peers.  ``messages``, ``bytes_moved``:
    all that went between two ranks in one run.  ``seconds``: of each run, that of its
    slowest rank.  ``mistakes``: at each rank, what was wrong at the end of the first run
    in which anything was; empty if every element of every rank was right in all.
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
        """Whether every rank held, bit for bit, what the collective promises."""
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
    """Run a schedule between as many local processes as it has ranks, and check the result.

    Parameters
    ----------
    schedule : Schedule or Transcript
        Any; it need not be valid.  `schedules.verify` tells whether it is.  A transcript is
        what the ranks of an exported program send; it is run in rounds of messages that do
        not need each other.
    size_bytes : int
        M: the output of an allgather, the input of a reduce-scatter, the buffer of an
        allreduce, what each rank sends in an all-to-all.  A multiple of 4, since elements are
        32-bit integers; N times as much, which is what all ranks hold together, is at most
        `limits.MAX_BYTES_IN_ALL`.
    repeat : int
        How many runs, each on fresh data; 1 to `limits.MAX_REPEAT`.
    pipeline_chunks : int
        Pieces that each tree's data is cut into, 1 to `limits.MAX_PIPELINE_CHUNKS`; messages
        of a transcript are not cut.
    timeout_seconds : float
        How long a rank waits for a message, and the call for all.
    team : Team, optional
        Processes to use, at least as many as ranks; started for this call if left out.

    Raises
    ------
    InvalidSchedule
        The schedule names what is no rank; see `plan.plan`.
    InvalidProgram
        The transcript keeps several values of one part of the data at a rank.
    TooLarge
        A limit above is passed.
    ExecutionFailed
        PyTorch is missing, a process ended, or a message did not arrive in time.

    Examples
    --------
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
    """Return what is asked of the ranks, and what each of them does."""
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
    """Return whether every rank gathers all contributions and adds them up by itself."""
    return isinstance(schedule, StepSchedule | Transcript) and schedule.in_one_pass


def _task(schedule: Schedule | Transcript, found: Plan) -> Task:
    """Return the collective's precondition and postcondition; the parts' if they are several."""
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
