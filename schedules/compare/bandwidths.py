"""How fast a schedule, or the file of one, is: its bandwidths, its gap, its time for a size."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.schedules.errors import InvalidProgram, NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.model.verified_schedule import Facts
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic

__all__ = [
    "MAX_REPLAYED",
    "On",
    "Speed",
    "algbw_of",
    "program_speed",
    "simulated_seconds",
    "speed",
]


MAX_REPLAYED = 1 << 20
"""Moves of a program that is replayed for a time: some seconds of work."""


@dataclass(frozen=True, slots=True)
class On:
    """Of what speed hosts are, and how much data is asked about.

    ``unit_bytes_per_second`` is what one unit of capacity carries; ``size_bytes`` is None
    where no time is asked for.  Every message keeps its link busy for ``overhead_seconds`` beside
    its bytes, and every chunk of it for ``chunk_seconds``.
    """

    unit_bytes_per_second: Fraction
    alpha_seconds: Fraction
    size_bytes: int | None = None
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Speed:
    """Rates of much data in bytes/s; ``gap`` is how much longer than the optimum it takes.

    ``busbw`` is algbw times what nccl-tests multiply it by: the rate at which hosts must
    send.  ``gap`` is None where the optimum was not looked for.  ``seconds`` is the time
    of the size asked about, by the alpha-beta model of the schedule alone; where messages or
    chunks cost time, that of a synchronous simulation.

    Of a program ``whole`` is algbw where no message is cut into slices, and ``schedule_algbw`` that
    of the schedule that the program was made of; None where not known.
    """

    algbw: Fraction
    busbw: Fraction
    gap: Fraction | None
    on: On
    seconds: float | None = None
    whole: Fraction | None = None
    schedule_algbw: Fraction | None = None


def speed(
    facts: Facts,
    topology: Topology,
    on: On,
    *,
    schedule: Callable[[], Schedule],
    best: Fraction | None = None,
) -> Speed:
    """Return how fast a schedule is.

    Parameters
    ----------
    facts : Facts
        What the schedule costs on ``topology``.
    schedule : callable
        Gives the schedule itself, which is asked for only where a time is.
    best : Fraction, optional
        The algbw of the optimum, in the topology's units of capacity.

    Examples
    --------
    >>> from topoloom.schedules.steps.bfb import allgather
    >>> from topoloom.schedules.generate.make_and_verify import facts
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> sent = allgather(pair)
    >>> on = On(Fraction(10**9), Fraction(1, 10**6), 8000)
    >>> found = speed(facts(sent, pair), pair, on, schedule=lambda: sent, best=Fraction(2))
    >>> found.algbw, found.busbw, found.gap, round(found.seconds * 1e6, 3)
    (Fraction(2000000000, 1), Fraction(1000000000, 1), Fraction(0, 1), 5.0)
    """
    rate = algbw_of(facts, topology)
    seconds = None if on.size_bytes is None else _seconds(schedule(), topology, on, on.size_bytes)
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
    on: On,
    *,
    transcript: Callable[[], Transcript],
    facts: Facts | None = None,
    best: Fraction | None = None,
) -> Speed:
    """Return how fast a program is that was written to a file, from what the file sends.

    Rates are those of `schedules.formats.inspection.rank_traffic.traffic_rate`.  The time, and the
    rate of whole messages, are those of `simulated_seconds`; they are None for a program of more
    than `MAX_REPLAYED` moves, and where switches copy, which is not simulated.

    Parameters
    ----------
    traffic : Traffic
        The sends of the file.
    transcript : callable
        Replays the file.
    facts : Facts, optional
        Costs of the schedule that the file was made of.
    best : Fraction, optional
        The algbw of the optimum, in the topology's units of capacity.

    Raises
    ------
    InvalidProgram
        The program does not fit the topology, or sends nothing.

    Examples
    --------
    >>> from topoloom.schedules.steps.bfb import allgather
    >>> from topoloom.schedules.formats.inspection.check_program import transcript_of
    >>> from topoloom.schedules.formats.msccl.write import render
    >>> from topoloom.schedules.formats.inspection.rank_traffic import traffic_of
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> file = "msccl-xml", [render(allgather(pair), pair).encode()]
    >>> on = On(Fraction(10**9), Fraction(1, 10**6), 8000)
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
        whole = simulated_seconds(sent, topology, On(unit, Fraction(0), traffic.whole))
        seconds = simulated_seconds(sent, topology, on)
    return Speed(
        rate * unit,
        rate * unit * _bus_factor(traffic.collective, traffic.ranks - traffic.idle),
        # What both passes of an allreduce do at once is not bounded by one after the other.
        None if best is None or best < rate else best / rate - 1,
        on,
        None if seconds is None else float(seconds),
        traffic.whole / whole if whole else None,
        None if facts is None else algbw_of(facts, topology) * unit,
    )


def simulated_seconds(
    schedule: Schedule | Transcript, topology: Topology, on: On
) -> Fraction | None:
    """Return the time of the size asked about, message by message, as `simulate` has it.

    None where no size is asked about, or the simulation refuses: there are too many messages, or
    links share a limit.
    """
    from topoloom.schedules.simulate import Network, simulate

    if on.size_bytes is None:
        return None
    network = Network(
        on.alpha_seconds,
        on.unit_bytes_per_second,
        on.overhead_seconds,
        chunk_seconds=on.chunk_seconds,
    )
    try:
        return simulate(schedule, topology, network, size_bytes=on.size_bytes).seconds
    except (NoSchedule, TooLarge):
        return None


def _seconds(schedule: Schedule, topology: Topology, on: On, size_bytes: int) -> float:
    """Return the time of a size."""
    # Compiled code, loaded only where a time is asked for.
    from topoloom.schedules.simulate import Network, simulate
    from topoloom.schedules.simulate.closed_form import estimate

    if on.overhead_seconds or on.chunk_seconds:
        network = Network(
            on.alpha_seconds,
            on.unit_bytes_per_second,
            on.overhead_seconds,
            chunk_seconds=on.chunk_seconds,
        )
        found = simulate(schedule, topology, network, size_bytes=size_bytes, synchronous=True)
        return float(found.seconds)
    return estimate(
        schedule,
        topology,
        size_bytes=size_bytes,
        alpha_seconds=float(on.alpha_seconds),
        unit_bytes_per_second=float(on.unit_bytes_per_second),
    ).seconds


def algbw_of(facts: Facts, topology: Topology) -> Fraction:
    """Return algbw in units of capacity: M over its time on the wire.

    Of steps it is the sum over steps of the time of the busiest link, of trees and routes, which
    are pipelined, the time of the busiest link.
    """
    if facts.data is not None and facts.inverse_rate is not None:
        return facts.data / facts.inverse_rate
    assert facts.bandwidth is not None
    from topoloom.schedules.verify.costs import node_capacity

    return node_capacity(topology) / facts.bandwidth


def _bus_factor(collective: Collective, ranks: int) -> Fraction:
    """Return what nccl-tests multiply algbw by, to compare collectives and sizes."""
    if collective.has_root:
        return Fraction(1)
    passes = 2 if collective is Collective.ALLREDUCE else 1
    return Fraction(passes * (ranks - 1), ranks)
