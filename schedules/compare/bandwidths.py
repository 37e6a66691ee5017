"""Bandwidths, gap and time of a schedule or of a program file."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.schedules.errors import InvalidProgram, NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic
    from topoloom.schedules.simulate import Network

MAX_REPLAYED = 1 << 20
"""Maximum moves of a program that is replayed for its time: a few seconds of work."""


@dataclass(frozen=True, slots=True)
class SpeedSettings:
    """Host speeds, and the message size of interest.

    ``unit_bytes_per_second`` is the rate of one unit of capacity; ``size_bytes`` is None where no
    time is needed.  ``alpha_seconds`` is the latency of every hop, or None where each link has the
    latency that the topology states.  Every message occupies its link for ``overhead_seconds`` in
    addition to its bytes, and every chunk of it for ``chunk_seconds``.
    """

    unit_bytes_per_second: Fraction
    alpha_seconds: Fraction | None
    size_bytes: int | None = None
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)

    @property
    def network(self) -> "Network":
        """The network of the simulator."""
        # Deferred import: loads compiled code.
        from topoloom.schedules.simulate import Network

        return Network(
            self.alpha_seconds,
            self.unit_bytes_per_second,
            self.overhead_seconds,
            chunk_seconds=self.chunk_seconds,
        )


@dataclass(frozen=True, slots=True)
class Speed:
    """Rates for large messages in bytes/s.

    ``busbw`` is algbw times the bus factor of nccl-tests: the rate at which hosts must send.
    ``gap`` is the excess over the optimal time, None without a known optimum.  ``seconds`` is
    the time for the size, by the alpha-beta model of the schedule alone, or by a synchronous
    simulation where messages or chunks cost time.

    For a program, ``whole`` is algbw without slicing of messages, and ``schedule_algbw`` the algbw
    of its source schedule; None where unknown.
    """

    algbw: Fraction
    busbw: Fraction
    gap: Fraction | None
    on: SpeedSettings
    seconds: float | None = None
    whole: Fraction | None = None
    schedule_algbw: Fraction | None = None


def schedule_speed(
    facts: ScheduleCosts,
    topology: Topology,
    on: SpeedSettings,
    *,
    schedule: Callable[[], Schedule],
    best: Fraction | None = None,
) -> Speed:
    """Return the speed of a schedule.

    Args:
        facts: Costs of the schedule on ``topology``.
        schedule: Returns the schedule; called only where a time is needed.
        best: Algbw of the optimum, in the topology's units of capacity.

    >>> from topoloom.schedules.steps.bfb import allgather
    >>> from topoloom.schedules.generate.make_and_verify import schedule_costs
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> sent = allgather(pair)
    >>> on = SpeedSettings(Fraction(10**9), Fraction(1, 10**6), 8000)
    >>> costs = schedule_costs(sent, pair)
    >>> found = schedule_speed(costs, pair, on, schedule=lambda: sent, best=Fraction(2))
    >>> found.algbw, found.busbw, found.gap, round(found.seconds * 1e6, 3)
    (Fraction(2000000000, 1), Fraction(1000000000, 1), Fraction(0, 1), 5.0)
    """
    rate = algorithm_bandwidth(facts, topology)
    seconds = None if on.size_bytes is None else estimated_seconds(schedule(), topology, on)
    ranks = facts.ranks or len(topology.compute_nodes)
    return Speed(
        rate * on.unit_bytes_per_second,
        rate * on.unit_bytes_per_second * _bus_factor(facts.collective, ranks),
        None if best is None else best / rate - 1,
        on,
        seconds,
    )


def program_speed(
    traffic: "Traffic",
    topology: Topology,
    on: SpeedSettings,
    *,
    transcript: Callable[[], Transcript],
    facts: ScheduleCosts | None = None,
    best: Fraction | None = None,
) -> Speed:
    """Return the speed of a program file, from its sends.

    Rates are those of `schedules.formats.inspection.rank_traffic.traffic_rate`.  The time, and the
    rate of whole messages, are those of `simulated_seconds`.  They are None for a program of more
    than `MAX_REPLAYED` moves, and for copies by switches, which the simulation does not support.

    Args:
        traffic: The sends of the file.
        transcript: Replays the file.
        facts: Costs of the source schedule.
        best: Algbw of the optimum, in the topology's units of capacity.

    Raises:
        InvalidProgram: The program does not fit the topology, or has no sends.

    >>> from topoloom.schedules.steps.bfb import allgather
    >>> from topoloom.schedules.formats.inspection.check_program import transcript_of
    >>> from topoloom.schedules.formats.msccl.write import render
    >>> from topoloom.schedules.formats.inspection.rank_traffic import traffic_of
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> file = "msccl-xml", [render(allgather(pair), pair).encode()]
    >>> on = SpeedSettings(Fraction(10**9), Fraction(1, 10**6), 8000)
    >>> found = program_speed(traffic_of(*file), pair, on, transcript=lambda: transcript_of(*file))
    >>> found.algbw == found.whole == 2 * 10**9, found.seconds
    (True, 5e-06)
    """
    from topoloom.schedules.formats.inspection.rank_traffic import traffic_rate

    rate, unit = traffic_rate(traffic, topology), on.unit_bytes_per_second
    if rate is None:
        raise InvalidProgram("/ranks", "must send something")
    whole = seconds = None
    copied = bool(topology.multicast) and any(one.shared >= 0 for one in traffic.sent)
    if traffic.moves <= MAX_REPLAYED and not copied:
        sent = transcript()
        whole = simulated_seconds(sent, topology, SpeedSettings(unit, Fraction(0), traffic.whole))
        seconds = simulated_seconds(sent, topology, on)
    return Speed(
        rate * unit,
        rate * unit * _bus_factor(traffic.collective, traffic.ranks - traffic.idle),
        # An optimum of passes in sequence does not bound an allreduce of concurrent passes.
        None if best is None or best < rate else best / rate - 1,
        on,
        None if seconds is None else float(seconds),
        traffic.whole / whole if whole else None,
        None if facts is None else algorithm_bandwidth(facts, topology) * unit,
    )


def simulated_seconds(
    schedule: Schedule | Transcript, topology: Topology, on: SpeedSettings
) -> Fraction | None:
    """Return the time for the size, simulated message by message (`simulate`).

    None without a size, or where the simulation refuses: too many messages, or links that share
    a limit.
    """
    from topoloom.schedules.simulate import simulate

    if on.size_bytes is None:
        return None
    try:
        return simulate(schedule, topology, on.network, size_bytes=on.size_bytes).seconds
    except (NoSchedule, TooLarge):
        return None


def estimated_seconds(schedule: Schedule, topology: Topology, on: SpeedSettings) -> float:
    """Return the time for the size, without a simulation of messages where a formula exists.

    A synchronous simulation times messages and chunks that cost time; the judge in full rounds
    times links with latencies of their own.
    """
    # Deferred import: loads compiled code.
    from topoloom.schedules.simulate import Judge, simulate
    from topoloom.schedules.simulate.closed_form import estimate

    assert on.size_bytes is not None
    if on.alpha_seconds is None:
        judge = Judge(schedule, topology, on.network, in_rounds=True)
        return float(judge.time(on.size_bytes).seconds)
    if on.overhead_seconds or on.chunk_seconds:
        found = simulate(schedule, topology, on.network, size_bytes=on.size_bytes, synchronous=True)
        return float(found.seconds)
    return estimate(
        schedule,
        topology,
        size_bytes=on.size_bytes,
        alpha_seconds=float(on.alpha_seconds),
        unit_bytes_per_second=float(on.unit_bytes_per_second),
    ).seconds


def algorithm_bandwidth(facts: ScheduleCosts, topology: Topology) -> Fraction:
    """Return algbw in units of capacity: M divided by the transmission time.

    The transmission time is that of the busiest link: summed over steps, or once for pipelined
    trees and routes.
    """
    if facts.data is not None and facts.inverse_rate is not None:
        return facts.data / facts.inverse_rate
    assert facts.bandwidth is not None
    from topoloom.synth.topology.rates import node_capacity

    return node_capacity(topology) / facts.bandwidth


def _bus_factor(collective: Collective, ranks: int) -> Fraction:
    """Return the factor from algbw to busbw, as in nccl-tests."""
    if collective.has_root:
        return Fraction(1)
    passes = 2 if collective is Collective.ALLREDUCE else 1
    return Fraction(passes * (ranks - 1), ranks)
