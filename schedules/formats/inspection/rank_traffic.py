"""Sum the traffic between the ranks of a program from its file, without a replay.

A replay proves that a program computes its collective, and takes as long as a run.  Summing the
sends takes only the time to read the file, and gives the rate for large data.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats import one_text
from topoloom.schedules.formats.chakra import read as chakra
from topoloom.schedules.formats.chakra.program import SEND, Traces
from topoloom.schedules.formats.goal import read as goal
from topoloom.schedules.formats.inspection.dialects import readings_of
from topoloom.schedules.formats.msccl import read as msccl
from topoloom.schedules.formats.msccl.program import SENDS
from topoloom.schedules.formats.mscclpp import read as mscclpp
from topoloom.schedules.formats.mscclpp.program import EVERY_GPU
from topoloom.schedules.formats.targets.runtimes import (
    MSCCL_XML,
    MSCCLPP_JSON,
    Runtime,
    target_runtimes,
)
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate.widest_paths import Paths
from topoloom.schedules.verify.costs import busiest_time
from topoloom.synth.topology.topology import NodeId, Topology


class Sent(NamedTuple):
    """Units that go from one rank to another.

    Sends with the same number ``shared``, from 0, are one operation of a switch that copies or
    adds: together they cross each link once.
    """

    source: int
    target: int
    units: int
    shared: int = -1


@dataclass(frozen=True, slots=True)
class Traffic:
    """All sends of a program for ``ranks`` ranks, ``idle`` of which take no part.

    ``whole`` is the number of units of all data: chunks, or bytes of a trace.  ``moves`` measures
    the work of a replay: sent chunks, or messages of a trace.
    """

    collective: Collective
    ranks: int
    idle: int
    whole: int
    sent: tuple[Sent, ...]
    moves: int


def traffic_of(form: str, files: Sequence[bytes], runtime: Runtime | str | None = None) -> Traffic:
    """Return the traffic between the ranks of a program, from its file.

    Args:
        form, files, runtime: As in `schedules.formats.inspection.check_program.transcript_of`.

    >>> from topoloom.schedules.formats.msccl.write import render
    >>> from topoloom.schedules.steps.bfb import allgather
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> traffic_of("msccl-xml", [render(allgather(pair), pair).encode()]).sent
    (Sent(source=0, target=1, units=1, shared=-1), Sent(source=1, target=0, units=1, shared=-1))
    """
    return _READERS[form](files, runtime)


def traffic_rate(traffic: Traffic, topology: Topology) -> Fraction | None:
    """Return M over the time in which the busiest link carries its part of M, in units of capacity.

    The rate for large data of a program that runs slice by slice: slices follow one another
    without idle links, and latency counts once.  Data goes from rank to rank over a shortest path,
    among these over the widest, in equal parts over equally wide paths.  One operation of a switch
    crosses each link once if a multicast switch is on the path.  None for a program without sends.

    Raises:
        InvalidProgram: The number of ranks differs from the number of compute nodes, or neither a
            link nor a path over switches leads from a sender to its receiver.

    >>> pair = Topology(range(2), [(0, 1, 4), (1, 0, 2)])
    >>> swap = (Sent(0, 1, 1), Sent(1, 0, 1))
    >>> traffic_rate(Traffic(Collective.ALLGATHER, 2, 0, 2, swap, 2), pair)
    Fraction(4, 1)
    """
    nodes = topology.compute_nodes
    if traffic.ranks != len(nodes):
        rule = f"must be for the {len(nodes)} compute nodes, not for {traffic.ranks}"
        raise InvalidProgram("/ranks", rule)
    demand: dict[tuple[int, int], int] = defaultdict(int)
    loads: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    crossed: set[tuple[int, int]] = set()
    paths = Paths(topology)
    for sent in traffic.sent:
        ways = paths.between(nodes[sent.source], nodes[sent.target])
        copied = any(paths.pairs[hop][1] in topology.multicast for hop in ways[0])
        if sent.shared < 0 or not copied:
            demand[sent.source, sent.target] += sent.units
            continue
        fresh = [hop for hop in ways[0] if (sent.shared, hop) not in crossed]
        crossed.update((sent.shared, hop) for hop in fresh)
        for hop in fresh:
            loads[paths.pairs[hop]] += sent.units
    for (source, target), units in demand.items():
        ways = paths.between(nodes[source], nodes[target])
        for way in ways:
            for hop in way:
                loads[paths.pairs[hop]] += Fraction(units, len(ways))
    time = busiest_time(loads, topology)
    return Fraction(traffic.whole) / time if time else None


def _msccl(files: Sequence[bytes], said: Runtime | str | None) -> Traffic:
    text = one_text(files)
    program = msccl.parse(
        text, target_runtimes(MSCCL_XML, said or readings_of(text)[0].dialect)[-1]
    )
    sent = tuple(
        Sent(gpu, block.send, step.count)
        for gpu, made in enumerate(program.gpus)
        for block in made.blocks
        for step in block.steps
        if step.type in SENDS
    )
    moves = sum(one.units for one in sent)
    return Traffic(program.collective, len(program.gpus), 0, program.chunks, sent, moves)


def _mscclpp(files: Sequence[bytes], said: Runtime | str | None) -> Traffic:
    program = mscclpp.parse(one_text(files), target_runtimes(MSCCLPP_JSON, said)[-1])
    sent: list[Sent] = []
    gpus, operations = range(len(program.gpus)), 0
    for gpu, made in enumerate(program.gpus):
        for operation in (one for block in made.blocks for one in block.operations):
            target = operation.target
            if target is None or target.gpu == gpu:
                continue
            if target.gpu != EVERY_GPU:
                sent.append(Sent(gpu, target.gpu, target.count))
                continue
            others = [other for other in gpus if other != gpu]
            if operation.sources[0].gpu == EVERY_GPU:
                sent += [Sent(other, gpu, target.count, operations) for other in others]
                operations += 1
            sent += [Sent(gpu, other, target.count, operations) for other in others]
            operations += 1
    moves = sum(one.units for one in sent)
    whole, idle = program.chunks, len(program.idle)
    return Traffic(program.collective, len(program.gpus), idle, whole, tuple(sent), moves)


def _chakra(files: Sequence[bytes], _: Runtime | str | None) -> Traffic:
    return _of_traces(chakra.parse(files))


def _goal(files: Sequence[bytes], _: Runtime | str | None) -> Traffic:
    return _of_traces(goal.parse(one_text(files)))


def _of_traces(traces: Traces) -> Traffic:
    sent = tuple(
        Sent(rank, step.peer, step.size)
        for rank, trace in enumerate(traces.ranks)
        for step in trace.steps
        if step.kind == SEND
    )
    ranks = len(traces.ranks)
    return Traffic(traces.collective, ranks, 0, traces.size_bytes, sent, len(sent))


_READERS: Mapping[str, Callable[[Sequence[bytes], Runtime | str | None], Traffic]] = (
    MappingProxyType(
        {
            MSCCL_XML: _msccl,
            MSCCLPP_JSON: _mscclpp,
            "chakra-et": _chakra,
            "goal": _goal,
        }
    )
)
