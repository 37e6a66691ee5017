"""MSCCL XML: programs for the run times that replace a collective by a file.

The file has no XML declaration and single spaces between attributes, since the
readers are written by hand.  How chunks lie in buffers is told in `buffer_moves`, how
thread blocks are made and why they cannot deadlock in `blocks`.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from schedules.errors import NotExportable
from schedules.formats.buffer_moves import Plan, plan, require_few_messages
from schedules.formats.msccl.blocks import Draft, DraftBlock, DraftStep, arrange
from schedules.formats.msccl.program import (
    DIALECTS,
    MAX_COUNT,
    MAX_ELEMENTS,
    MAX_NAME,
    PROTOCOLS,
    Block,
    Dialect,
    Gpu,
    Instruction,
    Limits,
    Program,
)
from schedules.formats.transfers import chunks_per_shard
from schedules.model import Collective, Schedule
from schedules.verify import require_valid
from synth.topology import Topology

__all__ = ["render", "text"]


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
    require_few_messages(schedule)
    require_valid(schedule, topology)
    _require_movable(len(ranks), chunks_per_shard(schedule))
    draft = arrange(plan(schedule, ranks, inplace, MAX_COUNT), limits)
    title = name or f"topoloom-{limits.collectives[schedule.collective]}-{len(ranks)}"
    return text(_program(draft, title[:MAX_NAME], protocol), dialect)


def text(program: Program, dialect: Dialect | str) -> str:
    """Return the file that holds a program; `read.parse` gives the program back.

    The byte limits of the file let every size pass.

    >>> step = Instruction("cpy", "i", 0, "o", 0, 1, -1, -1, False)
    >>> gpu = Gpu({"i": 1, "o": 1, "s": 0}, (Block(-1, -1, 0, (step,)),))
    >>> file = text(Program("copy", "LL", Collective.ALLREDUCE, (False,), 1, 1, (gpu,)), "rccl")
    >>> file.partition(" nchannels")[0]
    '<algo name="copy" proto="LL"'
    """
    limits = DIALECTS[Dialect.of(dialect)]
    root = ET.Element("algo", _header(program, limits))
    for index, gpu in enumerate(program.gpus):
        sizes = {f"{buffer}_chunks": str(size) for buffer, size in gpu.sizes.items()}
        element = ET.SubElement(root, "gpu", {"id": str(index)} | sizes)
        for at, block in enumerate(gpu.blocks):
            _add_block(element, at, block)
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


def _program(draft: Draft, title: str, protocol: str) -> Program:
    """Return a draft as the format says it: steps by number, nops for all waits but one."""
    plan = draft.plan
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in title)
    gpus = tuple(
        Gpu(_sizes(plan, index), tuple(_block(block) for block in blocks))
        for index, blocks in enumerate(draft.gpus)
    )
    whole = plan.gpus * plan.chunks_per_shard
    return Program(name, protocol, plan.collective, (plan.inplace,), draft.channels, whole, gpus)


def _sizes(plan: Plan, index: int) -> dict[str, int]:
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
    return {"i": entering, "o": leaving, "s": plan.scratch[index]}


def _block(draft: DraftBlock) -> Block:
    steps = tuple(instruction for step in draft.steps for instruction in _instructions(step))
    return Block(draft.send, draft.recv, draft.channel, steps)


def _instructions(step: DraftStep) -> Iterator[Instruction]:
    waits = [(other.block.id, other.number) for other in step.waits] or [(-1, -1)]
    for wait in waits[:-1]:
        yield Instruction("nop", "i", -1, "o", -1, 0, *wait, False)
    yield Instruction(step.type, *step.source, *step.target, step.count, *waits[-1], step.awaited)


def _header(program: Program, limits: Limits) -> dict[str, str]:
    return {
        "name": program.name,
        "proto": program.protocol,
        "nchannels": str(program.channels),
        "nchunksperloop": str(program.chunks),
        "ngpus": str(len(program.gpus)),
        "coll": limits.collectives[program.collective],
        "inplace": str(int(True in program.modes)),
        # Unknown to msccl, which skips it; tools for all dialects ask for it.
        "outofplace": str(int(False in program.modes)),
        "minBytes": "0",
        "maxBytes": str(limits.unlimited_bytes),
    }


def _add_block(gpu: ET.Element, at: int, block: Block) -> None:
    peers = {"send": str(block.send), "recv": str(block.recv), "chan": str(block.channel)}
    element = ET.SubElement(gpu, "tb", {"id": str(at)} | peers)
    for number, step in enumerate(block.steps):
        attributes = {
            "s": str(number),
            "type": step.type,
            "srcbuf": step.source_buffer,
            "srcoff": str(step.source_offset),
            "dstbuf": step.target_buffer,
            "dstoff": str(step.target_offset),
            "cnt": str(step.count),
            "depid": str(step.wait_block),
            "deps": str(step.wait_step),
            "hasdep": str(int(step.is_awaited)),
        }
        ET.SubElement(element, "step", attributes)
