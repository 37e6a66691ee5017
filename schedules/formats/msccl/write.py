"""MSCCL XML: programs for runtimes that run a file in place of a collective.

The file has no XML declaration and single spaces between attributes, since the runtimes' readers
are written by hand.  `buffer_moves` assigns the places of chunks in buffers.  `thread_blocks`
assigns thread blocks and proves that they cannot deadlock.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.buffer_moves import MovePlan, plan, require_few_messages
from topoloom.schedules.formats.lowering.transfers import chunks_per_shard, require_plain
from topoloom.schedules.formats.msccl.program import (
    LANGUAGES,
    MAX_COUNT,
    MAX_ELEMENTS,
    MAX_NAME,
    PROTOCOLS,
    Block,
    Dialect,
    Gpu,
    Instruction,
    Language,
    Program,
)
from topoloom.schedules.formats.msccl.program_builder import Draft, DraftBlock, DraftStep
from topoloom.schedules.formats.msccl.thread_blocks import arrange
from topoloom.schedules.formats.targets.fit_runtime import fit_runtime
from topoloom.schedules.formats.targets.runtimes import MSCCL_XML, Runtime, target_runtimes
from topoloom.schedules.formats.targets.size_limits import ALL_SIZES, Sizes, require_instances
from topoloom.schedules.model.schedule import Collective, Schedule
from topoloom.schedules.verify import require_valid
from topoloom.synth.topology.topology import Topology


def render(
    schedule: Schedule,
    topology: Topology,
    runtime: Runtime | str = "msccl",
    *,
    inplace: bool = False,
    protocol: str = "Simple",
    name: str = "",
    sizes: Sizes = ALL_SIZES,
    instances: int = 1,
) -> str:
    """Return a schedule as an MSCCL XML program.

    Switches disappear: a path through switches is a message from its first to its last GPU.
    The runtime distributes messages over parallel links, and pipelines: it runs the whole
    program once for each slice of the data.

    Args:
        schedule: Checked first, so only proven schedules are exported.
        runtime: The runtime that loads the file; a text is a dialect, ``msccl``, ``azure`` or
            ``rccl``, and stands for the first of its runtimes (`runtimes.DEFAULTS`) that accepts
            the program.
        inplace: Whether the program is for calls whose input lies within their output (or, for a
            reduce-scatter, the reverse).  A program supports one of the two.
        protocol: One of `PROTOCOLS`.
        name: The runtimes keep at most 63 characters; generated if empty.
        sizes: The sizes of data that the program accepts, and the scratch that it may use.
        instances: The number of parts, on separate channels, of every message, 1 to
            `MAX_INSTANCES`: one thread block alone does not saturate a fast link.

    Raises:
        NotExportable: A limit of the runtime cannot be met; the error names the limit and the
            number needed.

    Chunks are as coarse as the schedule allows.  One message carries at most 71 of them.  If
    the program exceeds a limit, blocks share channels, then trees are made coarser, and the
    generated name says so.

    >>> from topoloom.schedules.model.schedule import Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> print(render(both, pair, "rccl", inplace=True).splitlines()[2])
        <tb id="0" send="-1" recv="1" chan="0">
    """
    runtimes = target_runtimes(MSCCL_XML, runtime)
    language = LANGUAGES[Dialect(runtimes[0].dialect)]
    if protocol not in PROTOCOLS:
        names = ", ".join(PROTOCOLS)
        raise NotExportable("/protocol", f"must be one of {names}; not {protocol!r}")
    if schedule.collective not in language.collectives:
        names = ", ".join(one for one in Collective if one in language.collectives)
        raise NotExportable("/collective", f"must be one of {names} for MSCCL XML")
    require_instances(instances)
    ranks = topology.compute_nodes
    if len(ranks) < 2:
        raise NotExportable("/ngpus", "a program needs at least 2 GPUs")
    require_plain(schedule)
    require_valid(schedule, topology)

    def made(candidate: Schedule, limits: Runtime) -> Draft:
        require_few_messages(candidate)
        _require_movable(len(ranks), chunks_per_shard(candidate) * instances)
        return arrange(plan(candidate, ranks, inplace, MAX_COUNT, instances), limits, instances)

    draft, taken, used = fit_runtime(schedule, runtimes, made)
    title = f"topoloom-{language.collectives[schedule.collective]}-{len(ranks)}"
    if used is not schedule:
        title += f"-{chunks_per_shard(used)}-of-{chunks_per_shard(schedule)}-chunks"
    program = _program(draft, (name or title)[:MAX_NAME], protocol)
    scratch = max(draft.plan.scratch)
    least, most = sizes.within(scratch, program.chunks, taken)
    limits = (least, language.unlimited_bytes if most is None else most + language.past_bytes)
    return text(replace(program, bytes=limits), taken)


def text(program: Program, runtime: Runtime | str) -> str:
    """Return the file of a program; `read.parse` returns the program.

    >>> step = Instruction("cpy", "i", 0, "o", 0, 1, -1, -1, False)
    >>> gpu = Gpu({"i": 1, "o": 1, "s": 0}, (Block(-1, -1, 0, (step,)),))
    >>> file = text(Program("copy", "LL", Collective.ALLREDUCE, (False,), 1, 1, (gpu,)), "rccl")
    >>> file.partition(" nchannels")[0]
    '<algo name="copy" proto="LL"'
    """
    language = LANGUAGES[Dialect(target_runtimes(MSCCL_XML, runtime)[0].dialect)]
    root = ET.Element("algo", _header(program, language))
    for index, gpu in enumerate(program.gpus):
        sizes = {f"{buffer}_chunks": str(size) for buffer, size in gpu.sizes.items()}
        element = ET.SubElement(root, "gpu", {"id": str(index)} | sizes)
        for at, block in enumerate(gpu.blocks):
            _add_block(element, at, block)
    ET.indent(root)
    # The runtimes' readers would parse the space before the slash as an attribute.
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


def _require_movable(gpus: int, chunks: int) -> None:
    """Raise if every program that moves ``chunks`` chunks exceeds the limits."""
    least = -(-(gpus - 1) * chunks // MAX_COUNT)
    if least > MAX_ELEMENTS:
        raise NotExportable(
            "/chunks_per_shard",
            f"{gpus} shards of {chunks} chunks need at least {least} steps per GPU; "
            f"the format keeps {MAX_ELEMENTS} elements",
        )


def _program(draft: Draft, title: str, protocol: str) -> Program:
    """Return a draft in the terms of the format: numbered steps, a nop for each wait but one."""
    plan = draft.plan
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in title)
    gpus = tuple(
        Gpu(_sizes(plan, index), tuple(_block(block) for block in blocks))
        for index, blocks in enumerate(draft.gpus)
    )
    modes = (plan.inplace,)
    return Program(name, protocol, plan.collective, modes, draft.channels, plan.whole, gpus)


def _sizes(plan: MovePlan, index: int) -> dict[str, int]:
    entering, leaving = plan.sizes(index)
    if plan.inplace:
        # The format has one buffer: the larger of input and output, or the output if equal.
        scatters = plan.collective is Collective.REDUCE_SCATTER
        entering, leaving = (plan.whole, 0) if scatters else (0, plan.whole)
    return {"i": entering, "o": leaving, "s": plan.scratch[index]}


def _block(draft: DraftBlock) -> Block:
    steps = tuple(instruction for step in draft.steps for instruction in _instructions(step))
    return Block(draft.send, draft.recv, draft.channel, steps)


def _instructions(step: DraftStep) -> Iterator[Instruction]:
    waits = [(other.block.id, other.number) for other in step.waits] or [(-1, -1)]
    for wait in waits[:-1]:
        yield Instruction("nop", "i", -1, "o", -1, 0, *wait, False)
    yield Instruction(step.type, *step.source, *step.target, step.count, *waits[-1], step.awaited)


def _header(program: Program, language: Language) -> dict[str, str]:
    return {
        "name": program.name,
        "proto": program.protocol,
        "nchannels": str(program.channels),
        "nchunksperloop": str(program.chunks),
        "ngpus": str(len(program.gpus)),
        "coll": language.collectives[program.collective],
        "inplace": str(int(True in program.modes)),
        # msccl skips this attribute; tools for all dialects require it.
        "outofplace": str(int(False in program.modes)),
        "minBytes": str(program.bytes[0]),
        "maxBytes": str(program.bytes[1]),
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
