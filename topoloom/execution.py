"""Schedules: generate, verify, simulate and execute."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.arguments import (
    Rate,
    bytes_of,
    number,
    optional_whole,
    require_collections,
    require_type,
    topology_of,
    whole,
)

if TYPE_CHECKING:
    from topoloom.arguments import Source
    from topoloom.schedules.execute import Execution
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.schedules.simulate import Simulation
    from topoloom.schedules.verify import Violation
    from topoloom.synth.topology.topology import NodeId


def schedule(
    source: "Source",
    collective: str,
    *,
    algorithm: str | None = None,
    trees_per_root: int | None = None,
    max_gap: Fraction | int | None = None,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
    max_chunks: int | None = None,
) -> "Schedule":
    """Return a schedule that the independent checker has found valid, at the promised cost.

    ``algorithm`` is bfb, forestcoll, lifted, or for all-to-all mcf or shortest-paths; by default
    the algorithm that fits the topology.  The other options are those of
    `schedules.generate.collectives.make`.

    Raises:
        NoSchedule, UnknownCollective, TooLarge: As `schedules.generate.collectives.make`.

    >>> reduce = schedule("dgx-a100-2", "reduce", root="0.gpu3")
    >>> {tree.root for tree in reduce.trees}
    {'0.gpu3'}
    """
    from topoloom.schedules.generate.collectives import Options, require_supported
    from topoloom.schedules.generate.make_and_verify import default_algorithm, verified_schedule
    from topoloom.schedules.model.schedule import Collective

    require_collections(shards, participants)
    topology, asked = topology_of(source), Collective.of(collective)
    trees = optional_whole(trees_per_root, "trees_per_root")
    chunks = optional_whole(max_chunks, "max_chunks")
    options = Options(trees, max_gap, root, shards, participants, chunks)
    chosen = algorithm or default_algorithm(topology, asked, options)
    require_supported(chosen, options)
    return verified_schedule(topology, asked, chosen, options).schedule


def verify(schedule: "Schedule", source: "Source", *, limit: int = 100) -> "list[Violation]":
    """Return the violations of a schedule on a topology, at most ``limit``; empty if it is valid.

    The checker follows every chunk and shares no code with the generators.

    >>> gather = schedule("UniRing(3)", "allgather")
    >>> print(verify(gather, "BiRing(3)", limit=1)[0])
    /topology: is another topology than the given one
    """
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.verify import violations

    require_type(schedule, "schedule", "a schedule", Schedule)
    return violations(schedule, topology_of(source), limit=whole(limit, "limit", 1))


def simulate(
    schedule: "Schedule | Transcript",
    source: "Source",
    *,
    size: int | str,
    alpha_us: Rate | None = None,
    node_gbps: Rate | None = None,
    link_gbps: Rate | None = None,
    overhead_us: Rate = 0,
    chunk_us: Rate = 0,
    channels: int | None = None,
    chunks: int | None = None,
    synchronous: bool = False,
) -> "Simulation":
    """Return the time of a schedule, message by message, on an exact clock.

    Args:
        schedule: A valid schedule, or the messages of an exported program, from
            `schedules.formats.inspection.check_program.transcript_of`.
        size: M, bytes: the output of an allgather, the input of a reduce-scatter, else the buffer.
        alpha_us, overhead_us, chunk_us: Latency of a hop, and the time that a message, and every
            chunk of it, occupies its link beside its bytes, microseconds.  The latency is by
            default that of each link, if the topology states latencies, else 10.
        node_gbps, link_gbps: Either the most that a host sends, all ports together, or the rate of
            one unit of capacity, Gbit/s.  By default the topology's own unit, or 100 per host if
            the unit counts links.
        channels, chunks, synchronous: As `schedules.simulate.simulate`.

    Raises:
        NoSchedule, InvalidSchedule, TooLarge: As `schedules.simulate.simulate`.
        ValueError: Both rates are given, or a number is invalid.

    >>> gather = schedule("Torus(4, 4)", "allgather")
    >>> simulate(gather, "Torus(4, 4)", size="1MiB", alpha_us=10, node_gbps=100).seconds
    Fraction(9269, 78125000)
    """
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.schedules.simulate import Network
    from topoloom.schedules.simulate import simulate as run
    from topoloom.synth.topology.hops import hop_seconds
    from topoloom.synth.topology.rates import unit_bytes_per_second

    if node_gbps is not None and link_gbps is not None:
        raise ValueError("node_gbps, link_gbps: must not both be given")
    require_type(schedule, "schedule", "a schedule or a transcript", Schedule, Transcript)
    topology = topology_of(source)
    if link_gbps is not None:
        unit = number(link_gbps, "link_gbps") * 10**9 / 8
    else:
        per_node = None if node_gbps is None else number(node_gbps, "node_gbps")
        unit = unit_bytes_per_second(topology, per_node)
    alpha = None if alpha_us is None else number(alpha_us, "alpha_us")
    overhead = number(overhead_us, "overhead_us")
    chunk = number(chunk_us, "chunk_us")
    lanes = optional_whole(channels, "channels")
    return run(
        schedule,
        topology,
        Network(hop_seconds(topology, alpha), unit, overhead / 10**6, lanes, chunk / 10**6),
        size_bytes=bytes_of(size),
        chunks=optional_whole(chunks, "chunks"),
        synchronous=synchronous,
    )


def execute(
    schedule: "Schedule | Transcript",
    *,
    size: int | str = "1MiB",
    repeat: int = 1,
    pipeline_chunks: int = 4,
    timeout_seconds: float = 60.0,
) -> "Execution":
    """Run a schedule between processes on this machine, and compare every bit of the result.

    Needs PyTorch: ``pip install 'topoloom[execute]'``.  The times are those of this machine and do
    not predict the times of a cluster.  ``size`` is a multiple of 4 bytes.

    Raises:
        ExecutionFailed: PyTorch is missing, a process ended, or a message did not arrive in time.
        TooLarge, InvalidSchedule, InvalidProgram: As `schedules.execute.execute`.

    >>> execute(schedule("UniRing(3)", "allreduce"), size="3KiB").exact  # doctest: +SKIP
    True
    """
    from topoloom.schedules.execute import execute as run
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript

    require_type(schedule, "schedule", "a schedule or a transcript", Schedule, Transcript)
    return run(
        schedule,
        size_bytes=bytes_of(size),
        repeat=whole(repeat, "repeat"),
        pipeline_chunks=whole(pipeline_chunks, "pipeline_chunks"),
        timeout_seconds=float(number(timeout_seconds, "timeout_seconds")),
    )
