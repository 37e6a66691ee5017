"""Read MSCCL XML: from text to a program that keeps the rules of its runtime.

The rules are those of the runtimes' readers.  Further rules prevent hangs and silent errors:
numbers that the readers' fields would truncate, scratch beyond the device's memory.  The reader
shares no code with the writer.
"""

from collections import Counter

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.program import (
    ATTRIBUTES,
    BLOCKS_PER_CHANNEL,
    BUFFERS,
    DEFAULT_MAX_BYTES,
    LANGUAGES,
    MAX_AWAITED_BLOCK,
    MAX_CHILDREN,
    MAX_COUNT,
    MAX_ELEMENTS,
    MAX_NAME,
    MAX_OFFSET,
    PROTOCOLS,
    RECEIVES,
    SENDS,
    THREADS_OF_A_WARP,
    TYPES,
    Block,
    Dialect,
    Gpu,
    Instruction,
    Language,
    Program,
)
from topoloom.schedules.formats.msccl.xml_elements import Element, read_elements
from topoloom.schedules.formats.targets.runtimes import MSCCL_XML, Runtime, target_runtimes
from topoloom.schedules.model.schedule import Collective


def parse(text: str, runtime: Runtime | str) -> Program:
    """Return the program in a file, if it keeps the rules of the runtime.

    ``runtime`` may be a dialect; then the rules are those of the dialect's largest device.

    >>> parse("<algo/>", "msccl")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /algo/name: is missing
    """
    limits = target_runtimes(MSCCL_XML, runtime)[-1]
    language = LANGUAGES[Dialect(limits.dialect)]
    root = _outermost(text)
    names = {name: collective for collective, name in language.collectives.items()}
    title = root.text("name", "/algo") if language.needs_name else root.attributes.get("name", "")
    _check_threads(root, language)
    protocol = root.choice("proto", "/algo", PROTOCOLS)
    collective = names[root.choice("coll", "/algo", tuple(names))]
    count = root.number("ngpus", "/algo", 2, MAX_CHILDREN)
    channels = root.number("nchannels", "/algo", 1, limits.channels)
    chunks = root.number("nchunksperloop", "/algo", 1)
    sizes = _bytes(root, language)
    gpus: dict[int, Gpu] = {}
    for element in root.children("gpu", "/algo"):
        index = element.number("id", "/algo/gpu", 0, count - 1)
        if index in gpus:
            raise InvalidProgram(f"/gpu/{index}", "must be described once")
        gpus[index] = _gpu(element, index, count, channels, limits)
        own = 1 + count + sum(1 + len(block.steps) for block in gpus[index].blocks)
        if own > MAX_ELEMENTS:
            raise InvalidProgram(
                f"/gpu/{index}", f"a rank keeps {MAX_ELEMENTS} elements, not {own}"
            )
    if len(gpus) < count:
        raise InvalidProgram("/algo", f"must describe all {count} GPUs")
    modes = _modes(root, language)
    if collective is Collective.ALL_TO_ALL and True in modes:
        raise InvalidProgram("/algo/inplace", "an all-to-all needs an output of its own")
    made = tuple(gpus[at] for at in range(count))
    program = Program(title[:MAX_NAME], protocol, collective, modes, channels, chunks, made, sizes)
    _check_sizes(program)
    _check_scratch(program, limits)
    return program


def ignored_parts(text: str) -> Counter[str]:
    """Return the parts of a file that no runtime reads, with the count of each.

    >>> ignored_parts('<algo redop="sum"><gpu id="0"><copy/><copy><tb/></copy></gpu></algo>')
    Counter({'element copy of gpu': 2, 'attribute redop of algo': 1})
    """
    found: Counter[str] = Counter()
    level = [read_elements(text)]
    for name, known in ATTRIBUTES.items():
        inner = [(child, holder) for holder in level for child in holder.inner]
        for child, holder in inner:
            if child.name != name:
                found[_described(child, holder)] += 1
        level = [child for child, _ in inner if child.name == name]
        for element in level:
            found.update(f"attribute {k} of {name}" for k in element.attributes if k not in known)
    return found


def _described(child: Element, holder: Element) -> str:
    return f"element {child.name} of {holder.name}" if holder.name else f"element {child.name}"


def _outermost(text: str) -> Element:
    """Return the root element that the runtimes look for."""
    programs = list(read_elements(text).children("algo", "/algo"))
    if len(programs) != 1:
        raise InvalidProgram("", f"must hold one element algo, not {len(programs)}")
    return programs[0]


def _check_threads(root: Element, language: Language) -> None:
    """Raise if microsoft/msccl reads a number of threads that is no multiple of a warp."""
    if language.needs_outofplace or "nthreads" not in root.attributes:
        return
    if root.number("nthreads", "/algo", 0) % THREADS_OF_A_WARP:
        raise InvalidProgram("/algo/nthreads", f"must be a multiple of {THREADS_OF_A_WARP}")


def _gpu(element: Element, index: int, gpus: int, channels: int, limits: Runtime) -> Gpu:
    place = f"/gpu/{index}"
    sizes = {buffer: element.number(f"{buffer}_chunks", place, 0) for buffer in BUFFERS}
    blocks: dict[int, Block] = {}
    for child in element.children("tb", place):
        at = child.number("id", f"{place}/tb", 0, MAX_CHILDREN)
        if at >= limits.thread_blocks:
            raise InvalidProgram(
                f"{place}/tb/{at}",
                f"on {limits.name} a GPU may have {limits.thread_blocks} thread blocks",
            )
        here = f"{place}/tb/{at}"
        if at in blocks:
            raise InvalidProgram(here, "must be described once")
        peers = [child.number(way, here, -1, gpus - 1) for way in ("send", "recv")]
        if index in peers:
            raise InvalidProgram(here, "a GPU must not be its own peer")
        channel = child.number("chan", here, 0, channels - 1)
        blocks[at] = Block(peers[0], peers[1], channel, _steps(child, here, sizes, limits))
    if sorted(blocks) != list(range(len(blocks))):
        raise InvalidProgram(place, "the ids of thread blocks must leave no gap")
    made = Gpu(sizes, tuple(blocks[at] for at in range(len(blocks))))
    _check_peers(made, place)
    _check_steps(made, place)
    return made


def _steps(
    block: Element, place: str, sizes: dict[str, int], limits: Runtime
) -> tuple[Instruction, ...]:
    steps = []
    for at, element in enumerate(block.children("step", place)):
        here = f"{place}/step/{at}"
        if at >= limits.steps:
            rule = f"on {limits.name} a thread block may have {limits.steps} steps"
            raise InvalidProgram(here, rule)
        if element.number("s", here, 0) != at:
            raise InvalidProgram(here, "steps must be numbered in order, without gap")
        kind = element.choice("type", here, tuple(sorted(TYPES)))
        least, most = (0, 0) if kind == "nop" else (1, MAX_COUNT)
        step = Instruction(
            kind,
            element.choice("srcbuf", here, BUFFERS),
            element.number("srcoff", here, -1),
            element.choice("dstbuf", here, BUFFERS),
            element.number("dstoff", here, -1),
            element.number("cnt", here, least, most),
            element.number("depid", here, -1),
            element.number("deps", here, -1),
            element.number("hasdep", here, 0, 1) == 1,
        )
        ends = (
            (step.reads, step.source_buffer, step.source_offset),
            (step.writes, step.target_buffer, step.target_offset),
        )
        for used, buffer, offset in ends:
            if used and not 0 <= offset <= sizes[buffer] - step.count:
                raise InvalidProgram(
                    here, f"must stay within the {sizes[buffer]} chunks of {buffer}"
                )
        if max(step.source_offset, step.target_offset) > MAX_OFFSET:
            raise InvalidProgram(here, f"must begin at most at chunk {MAX_OFFSET} of a buffer")
        steps.append(step)
    return tuple(steps)


def _check_peers(gpu: Gpu, place: str) -> None:
    for way, types in (("send", SENDS), ("recv", RECEIVES)):
        taken: Counter[tuple[int, int]] = Counter()
        crowd: Counter[int] = Counter()
        for at, block in enumerate(gpu.blocks):
            peer = block.send if way == "send" else block.recv
            if peer >= 0:
                taken[peer, block.channel] += 1
                crowd[block.channel] += 1
                if taken[peer, block.channel] > 1:
                    raise InvalidProgram(
                        f"{place}/tb/{at}",
                        f"no two thread blocks may {way} with peer {peer} on channel "
                        f"{block.channel}",
                    )
            elif any(step.type in types for step in block.steps):
                raise InvalidProgram(f"{place}/tb/{at}", f"must have a {way} peer for its steps")
        if max(crowd.values(), default=0) > BLOCKS_PER_CHANNEL:
            raise InvalidProgram(
                place, f"at most {BLOCKS_PER_CHANNEL} thread blocks may {way} on one channel"
            )


def _check_steps(gpu: Gpu, place: str) -> None:
    for at, block in enumerate(gpu.blocks):
        after_nop = False
        for index, step in enumerate(block.steps):
            here = f"{place}/tb/{at}/step/{index}"
            waits = step.wait_block >= 0
            if waits != (step.wait_step >= 0):
                raise InvalidProgram(here, "depid and deps must both be given or both be -1")
            if waits:
                known = step.wait_block < len(gpu.blocks) and step.wait_step < len(
                    gpu.blocks[step.wait_block].steps
                )
                if not known:
                    raise InvalidProgram(here, "must depend on a step of this GPU")
                if step.wait_block > MAX_AWAITED_BLOCK:
                    rule = f"must depend on one of the thread blocks 0 to {MAX_AWAITED_BLOCK}"
                    raise InvalidProgram(here, rule)
                if not gpu.blocks[step.wait_block].steps[step.wait_step].is_awaited:
                    raise InvalidProgram(here, "must depend on a step that has hasdep=1")
            elif after_nop or step.type == "nop":
                raise InvalidProgram(here, "a nop and the step after it must carry a dependency")
            if step.type == "nop" and step.is_awaited:
                raise InvalidProgram(here, "nothing can depend on a nop")
            after_nop = step.type == "nop"
        if after_nop:
            raise InvalidProgram(f"{place}/tb/{at}", "a nop must be followed by a step")


def _modes(root: Element, language: Language) -> tuple[bool, ...]:
    inside = root.number("inplace", "/algo", 0, 1) == 1
    if not language.needs_outofplace:
        return (inside,)
    outside = root.number("outofplace", "/algo", 0, 1) == 1
    modes = (False,) * outside + (True,) * inside
    if not modes:
        raise InvalidProgram("/algo", "must serve calls in place or out of place")
    return modes


def _bytes(root: Element, language: Language) -> tuple[int, int]:
    """Return the least size and the file's limit of sizes, as the runtime interprets them."""
    found = {"minBytes": 0, "maxBytes": DEFAULT_MAX_BYTES}
    for name in found:
        if language.needs_outofplace or name in root.attributes:
            found[name] = root.number(name, "/algo", 0)
    least, most = found["minBytes"], found["maxBytes"]
    if most != language.unlimited_bytes and most < least + language.past_bytes:
        rule = "must let some size from minBytes on pass"
        if most == 0:
            rule += "; 0 is no limit to azure and rccl, not to this dialect"
        raise InvalidProgram("/algo/maxBytes", rule)
    return least, most


def _check_scratch(program: Program, limits: Runtime) -> None:
    """Raise if the scratch that is allocated on loading exceeds the device's memory."""
    if not limits.scratch_at_start:
        return
    most = max(gpu.sizes["s"] for gpu in program.gpus)
    needed = program.bytes[1] * most // program.chunks
    if needed > limits.memory_bytes:
        raise InvalidProgram(
            "/algo/maxBytes",
            f"makes {limits.name} allocate {needed} bytes of scratch when it loads the file; "
            f"the device has {limits.memory_bytes}",
        )


def _check_sizes(program: Program) -> None:
    gpus = len(program.gpus)
    shares = {
        "i": gpus if program.collective is Collective.ALLGATHER else 1,
        "o": gpus if program.collective is Collective.REDUCE_SCATTER else 1,
    }
    for index, gpu in enumerate(program.gpus):
        for buffer, share in shares.items():
            size = gpu.sizes[buffer]
            if size == 0 and False not in program.modes:
                continue
            if size * share != program.chunks:
                raise InvalidProgram(
                    f"/gpu/{index}/{buffer}_chunks",
                    f"times {share} must be nchunksperloop, {program.chunks}",
                )
