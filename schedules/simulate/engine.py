"""Simulation of a schedule: every message over every link, on an exact clock."""

from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.simulate.clock import Network
from topoloom.schedules.simulate.lockstep import lockstep_of
from topoloom.schedules.simulate.messages import Messages, messages_of
from topoloom.schedules.simulate.routes_as_chains import routes_as_chains
from topoloom.schedules.simulate.run_messages import Simulation, run_messages
from topoloom.schedules.simulate.transcript_messages import messages_of_transcript
from topoloom.synth.topology.topology import Topology

CHOSEN_MESSAGES = 1 << 22
"""Maximum number of pieces where the number of chunks is not given."""


def simulate(
    schedule: Schedule | Transcript,
    topology: Topology,
    network: Network,
    *,
    size_bytes: int,
    chunks: int | None = None,
    synchronous: bool = False,
) -> Simulation:
    """Return the time of a valid schedule, message by message.

    A message of n bytes in k chunks occupies a link of c bytes/s for ``overhead + k chunk + n / c``
    and reaches its receiver ``alpha`` later.  The load of a link in a step is one message, whose
    sends leave in sequence; so is a piece of a tree or route on an edge.  Every link sends its
    messages in program order:

    - step schedules: as listed;
    - trees: by round, where piece p of an edge at depth v is in round v + p, then by depth, so
      that all trees share a link evenly;
    - routes, parts that run together, and programs: as trees.

    A message waits for its turn and for its data.

    Args:
        schedule: A transcript has the sends of an exported program.  The simulation chooses its
            paths over switches and merges parallel links; thread blocks, signals and work within a
            GPU take no time.
        size_bytes: M: the output of an allgather, the input of a reduce-scatter, all data that one
            rank sends in an all-to-all, else the buffer of every rank.
        chunks: Pieces of every message.  Default: 1 for steps; the best in lock step for trees,
            limited to `CHOSEN_MESSAGES` pieces in all; 1 for programs, which do not define slices.
        synchronous: All messages wait for the slowest message of the previous step, or round of
            trees.

    Raises:
        InvalidSchedule: A send or an edge uses a missing link, or edges do not follow one another.
        InvalidProgram: A transcript has a different number of ranks, or no path joins two of its
            ranks.
        NoSchedule: A number is out of its range, the steps of a synchronous schedule are cut into
            pieces, or links of the topology share a limit.
        TooLarge: More than `MAX_MESSAGES` pieces, or no clock of 62 bits is exact.

    *Synchronous steps* take exactly ``steps * (alpha + overhead) + K chunk + bandwidth * M / B``
    on links of one capacity, where K is the sum over steps of the most chunks on a link.
    *Synchronous trees* without switches take exactly the time of `lockstep`, or less (see there).

    *Upper bound.*  Without switches each time is a maximum of sums of earlier times, with the
    same order on each link in both modes.  A synchronous run satisfies the same inequalities,
    since all needs of a message arrive in an earlier round.  By induction in program order,
    no message starts later without synchronization.

    *Lower bounds* are the time of the busiest link, and ``alpha`` times the longest chain of
    messages.  Behind switches pieces are served in order of arrival, and neither mode bounds the
    other.

    O(pieces + needs) without switches, O(pieces log pieces) with them.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> chain = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> trees = tuple(Tree(i, 1, ((i, (i + 1) % 3), ((i + 1) % 3, (i + 2) % 3))) for i in range(3))
    >>> gather = TreeSchedule(Collective.ALLGATHER, chain.digest, (0, 1, 2), 1, trees)
    >>> slow = Network(1, 1)
    >>> [simulate(gather, chain, slow, size_bytes=30, chunks=p).seconds for p in (1, 2)]
    [Fraction(22, 1), Fraction(21, 1)]
    """
    if topology.shared:
        raise NoSchedule("/topology", "has links that share a limit: only their rates are known")
    if size_bytes < 0:
        raise NoSchedule("/size_bytes", "must not be negative")
    if chunks is not None and chunks < 1:
        raise NoSchedule("/chunks", "must be at least 1")
    if isinstance(schedule, Transcript):
        messages = messages_of_transcript(schedule, topology)
        return run_messages(messages, network, size_bytes, chunks or 1, synchronous)
    if isinstance(schedule, RouteSchedule):
        schedule = routes_as_chains(schedule, topology.switches)
    # Parts that run together form one simulation.
    parts: tuple[StepSchedule | TreeSchedule | SequenceSchedule, ...] = (schedule,)
    if isinstance(schedule, SequenceSchedule) and not schedule.together:
        parts = schedule.parts
    done = [_simulate(part, topology, network, size_bytes, chunks, synchronous) for part in parts]
    busy = [Fraction(0)] * topology.link_count
    for one in done:
        busy = [before + more for before, more in zip(busy, one.busy_seconds, strict=True)]
    return Simulation(
        sum((one.seconds for one in done), Fraction(0)),
        max((one.chunks for one in done), default=1),
        sum(one.messages for one in done),
        sum(one.events for one in done),
        tuple(busy),
    )


def _simulate(
    part: StepSchedule | TreeSchedule | SequenceSchedule,
    topology: Topology,
    network: Network,
    size_bytes: int,
    chunks: int | None,
    synchronous: bool,
) -> Simulation:
    messages = messages_of(part, topology)
    if chunks is None:
        chunks = 1 if isinstance(part, StepSchedule) else _pieces(messages, network, size_bytes)
    elif synchronous and chunks > 1 and isinstance(part, StepSchedule):
        raise NoSchedule("/chunks", "must be 1 for synchronous steps")
    return run_messages(messages, network, size_bytes, chunks, synchronous)


def _pieces(messages: Messages, network: Network, size_bytes: int) -> int:
    """Return the best number of pieces in lock step."""
    rounds = lockstep_of(messages, network, size_bytes)
    most = CHOSEN_MESSAGES // max(1, len(messages.units))
    return rounds.best_chunks(max(1, most))
