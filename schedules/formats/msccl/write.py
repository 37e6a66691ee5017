"""MSCCL XML: programs for the run times that replace a collective by a file.

The file has no XML declaration and single spaces between attributes, since the
readers are written by hand.  How chunks lie in buffers is told in `buffer_moves`, how
thread blocks are made and why they cannot deadlock in `blocks`.
"""

import xml.etree.ElementTree as ET

from schedules.errors import NotExportable
from schedules.formats.buffer_moves import plan
from schedules.formats.msccl.blocks import Block, Program, arrange
from schedules.formats.msccl.dialects import (
    DIALECTS,
    MAX_COUNT,
    MAX_ELEMENTS,
    MAX_NAME,
    Dialect,
    Limits,
)
from schedules.formats.transfers import chunks_per_shard
from schedules.model import Collective, Schedule
from schedules.verify import require_valid
from synth.topology import Topology

__all__ = ["DIALECTS", "PROTOCOLS", "Dialect", "render"]

PROTOCOLS = ("Simple", "LL", "LL128")


def render(
    schedule: Schedule,
    topology: Topology,
    dialect: Dialect | str = Dialect.MSCCL,
    *,
    inplace: bool = False,
    protocol: str = "Simple",
    name: str = "",
) -> str:
    """Return a schedule as an MSCCL XML program.

    Switches disappear: a path through them is a message from its first to its last
    GPU.  Parallel links are left to the run time.  Pipelining is its work, too: it
    runs the whole program once for each slice of the data.

    Parameters
    ----------
    schedule : Schedule
        It is checked first: what is exported is what was proved.
    dialect : Dialect or str
        ``msccl``, ``azure`` or ``rccl``.
    inplace : bool
        Whether the program is for calls whose input lies within their output (or,
        for a reduce-scatter, the other way round).  A program serves one of the two.
    protocol : str
        One of `PROTOCOLS`.
    name : str
        Kept by the run times up to 63 characters; made up if empty.

    Raises
    ------
    InvalidSchedule
        The schedule is not valid on the topology.
    NotExportable
        A limit of the dialect cannot be met; the limit and the number needed are named.

    Notes
    -----
    Chunks are as coarse as the schedule allows.  One message carries at most 71 of
    them.  The byte limits let every size pass.

    Examples
    --------
    >>> from schedules.model import Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> print(render(both, pair, "rccl", inplace=True).splitlines()[2])
        <tb id="0" send="-1" recv="1" chan="0">
    """
    limits = DIALECTS[Dialect.of(dialect)]
    if protocol not in PROTOCOLS:
        names = ", ".join(PROTOCOLS)
        raise NotExportable("/protocol", f"must be one of {names}; not {protocol!r}")
    if schedule.collective not in limits.collectives:
        names = ", ".join(one for one in Collective if one in limits.collectives)
        raise NotExportable("/collective", f"must be one of {names} for MSCCL XML")
    ranks = topology.compute_nodes
    if len(ranks) < 2:
        raise NotExportable("/ngpus", "a program needs at least 2 GPUs")
    require_valid(schedule, topology)
    _require_movable(len(ranks), chunks_per_shard(schedule))
    program = arrange(plan(schedule, ranks, inplace, MAX_COUNT), limits)
    title = name or f"topoloom-{limits.collectives[schedule.collective]}-{len(ranks)}"
    root = ET.Element("algo", _header(program, limits, protocol, title[:MAX_NAME]))
    for index, blocks in enumerate(program.gpus):
        gpu = ET.SubElement(root, "gpu", _gpu(program, index))
        for block in blocks:
            _add_block(gpu, block)
    ET.indent(root)
    # Hand-written readers would take the space before the slash for an attribute.
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


def _require_movable(gpus: int, chunks: int) -> None:
    """Raise where no program within the limits could move so many chunks."""
    least = -(-(gpus - 1) * chunks // MAX_COUNT)
    if least > MAX_ELEMENTS:
        raise NotExportable(
            "/chunks_per_shard",
            f"{gpus} shards of {chunks} chunks need at least {least} steps per GPU; "
            f"the format keeps {MAX_ELEMENTS} elements",
        )


def _header(program: Program, limits: Limits, protocol: str, title: str) -> dict[str, str]:
    plan = program.plan
    return {
        "name": "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in title),
        "proto": protocol,
        "nchannels": str(program.channels),
        "nchunksperloop": str(plan.gpus * plan.chunks_per_shard),
        "ngpus": str(plan.gpus),
        "coll": limits.collectives[plan.collective],
        "inplace": str(int(plan.inplace)),
        # Unknown to msccl, which skips it; tools for all dialects ask for it.
        "outofplace": str(int(not plan.inplace)),
        "minBytes": "0",
        "maxBytes": str(limits.unlimited_bytes),
    }


def _gpu(program: Program, index: int) -> dict[str, str]:
    plan = program.plan
    shard, whole = plan.chunks_per_shard, plan.gpus * plan.chunks_per_shard
    sizes = {
        Collective.ALLGATHER: (shard, whole),
        Collective.REDUCE_SCATTER: (whole, shard),
        Collective.ALLREDUCE: (whole, whole),
    }
    entering, leaving = sizes[plan.collective]
    if plan.inplace:
        # One buffer only: the larger one, and the output if they are equal.
        scatters = plan.collective is Collective.REDUCE_SCATTER
        entering, leaving = (whole, 0) if scatters else (0, whole)
    return {
        "id": str(index),
        "i_chunks": str(entering),
        "o_chunks": str(leaving),
        "s_chunks": str(plan.scratch[index]),
    }


def _add_block(gpu: ET.Element, block: Block) -> None:
    peers = {"send": str(block.send), "recv": str(block.recv), "chan": str(block.channel)}
    element = ET.SubElement(gpu, "tb", {"id": str(block.id)} | peers)
    for step in block.steps:
        first = step.number - max(0, len(step.waits) - 1)
        waits = [(str(other.block.id), str(other.number)) for other in step.waits]
        for index, wait in enumerate(waits[:-1]):
            _add_step(element, first + index, "nop", ("i", -1), ("o", -1), 0, wait, False)
        last = waits[-1] if waits else ("-1", "-1")
        _add_step(
            element,
            step.number,
            step.type,
            step.source,
            step.target,
            step.count,
            last,
            step.awaited,
        )


def _add_step(
    block: ET.Element,
    number: int,
    kind: str,
    source: tuple[str, int],
    target: tuple[str, int],
    count: int,
    wait: tuple[str, str],
    awaited: bool,
) -> None:
    attributes = {
        "s": str(number),
        "type": kind,
        "srcbuf": source[0],
        "srcoff": str(source[1]),
        "dstbuf": target[0],
        "dstoff": str(target[1]),
        "cnt": str(count),
        "depid": wait[0],
        "deps": wait[1],
        "hasdep": str(int(awaited)),
    }
    ET.SubElement(block, "step", attributes)
