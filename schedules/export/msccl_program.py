"""Reading MSCCL XML: from text to a program that keeps the rules of its dialect.

The reader accepts what the hand-written readers of the run times accept: elements,
attributes in double quotes separated by single spaces, comments.  No declaration, no
entities, no text.  It knows nothing of how programs are written.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schedules.errors import InvalidProgram
from schedules.export.msccl_dialects import (
    BLOCKS_PER_CHANNEL,
    DIALECTS,
    MAX_CHILDREN,
    MAX_COUNT,
    MAX_ELEMENTS,
    MAX_NAME,
    Dialect,
    Limits,
)
from schedules.model import Collective

__all__ = ["MAX_CHARACTERS", "RECEIVES", "SENDS", "Block", "Gpu", "Instruction", "Program", "parse"]

MAX_CHARACTERS = 1 << 28
MAX_ATTRIBUTES = 16

RECEIVES = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
SENDS = frozenset({"s", "rcs", "rrs", "rrcs"})
_READS = frozenset({"s", "rrs", "rrc", "rrcs", "cpy", "re"})
_WRITES = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
_TYPES = RECEIVES | SENDS | {"cpy", "re", "nop"}

_TOKEN = re.compile(
    r"\s*(?:<!--.*?-->|<(?P<close>/?)(?P<name>[a-z]+)"
    r'(?P<attributes>(?: [A-Za-z_]+="[^"<>&]*")*)(?P<single>/?)>)',
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r' ([A-Za-z_]+)="([^"]*)"')
_NUMBER = re.compile(r"-1|0|[1-9][0-9]{0,14}")


@dataclass(slots=True)
class _Element:
    name: str
    attributes: dict[str, str]
    children: "list[_Element]"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step as written."""

    type: str
    source_buffer: str
    source_offset: int
    target_buffer: str
    target_offset: int
    count: int
    wait_block: int
    wait_step: int
    is_awaited: bool

    @property
    def reads(self) -> bool:
        """Whether it reads the source buffer."""
        return self.type in _READS

    @property
    def writes(self) -> bool:
        """Whether it writes the target buffer."""
        return self.type in _WRITES


@dataclass(frozen=True, slots=True)
class Block:
    """One thread block; peers are -1 where it has none."""

    send: int
    recv: int
    channel: int
    steps: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: the sizes of its buffers in chunks, and its thread blocks by id."""

    sizes: Mapping[str, int]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program; ``modes`` holds whether it runs in place, for each way it may."""

    name: str
    collective: Collective
    modes: tuple[bool, ...]
    chunks: int
    gpus: tuple[Gpu, ...]


def parse(text: str, dialect: Dialect | str) -> Program:
    """Return the program that a file holds, if it keeps the rules of the dialect.

    Raises
    ------
    InvalidProgram
        Naming the offending element and the rule it breaks.

    Examples
    --------
    >>> parse("<algo/>", "msccl")
    Traceback (most recent call last):
    ...
    schedules.errors.InvalidProgram: /algo/name: is missing
    """
    limits = DIALECTS[Dialect.of(dialect)]
    root = _tree(text)
    if root.name != "algo":
        raise InvalidProgram("", "the outermost element must be algo")
    names = {name: collective for collective, name in limits.collectives.items()}
    title = _text(root, "name", "/algo")
    if len(title) > MAX_NAME:
        raise InvalidProgram("/algo/name", f"must have at most {MAX_NAME} characters")
    _choice(root, "proto", "/algo", ("Simple", "LL", "LL128"))
    collective = names[_choice(root, "coll", "/algo", tuple(names))]
    count = _number(root, "ngpus", "/algo", 2, MAX_CHILDREN)
    channels = _number(root, "nchannels", "/algo", 1, limits.channels)
    chunks = _number(root, "nchunksperloop", "/algo", 1)
    _check_bytes(root, limits)
    gpus: dict[int, Gpu] = {}
    for element in _children(root, "gpu", "/algo"):
        index = _number(element, "id", "/algo/gpu", 0, count - 1)
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
    modes = _modes(root, limits)
    program = Program(title, collective, modes, chunks, tuple(gpus[at] for at in range(count)))
    _check_sizes(program)
    return program


def _tree(text: str) -> _Element:
    if len(text) > MAX_CHARACTERS:
        raise InvalidProgram("", f"must have at most {MAX_CHARACTERS} characters")
    top = _Element("", {}, [])
    open_elements = [top]
    position, end = 0, len(text.rstrip())
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            line = text.count("\n", 0, position) + 1
            raise InvalidProgram(f"/line/{line}", "must go on with an element of the format")
        position = token.end()
        name = token["name"]
        if name is None:
            continue
        if token["close"]:
            if open_elements[-1].name != name or token["attributes"] or token["single"]:
                raise InvalidProgram(f"/{name}", "must be closed where it was opened")
            open_elements.pop()
            continue
        element = _Element(name, _attributes(token["attributes"], name), [])
        open_elements[-1].children.append(element)
        if len(open_elements[-1].children) > MAX_CHILDREN:
            raise InvalidProgram(f"/{name}", f"at most {MAX_CHILDREN} may follow one another")
        if not token["single"]:
            open_elements.append(element)
    if len(open_elements) > 1 or len(top.children) != 1:
        raise InvalidProgram("", "must be one element, closed at the end")
    return top.children[0]


def _attributes(text: str, name: str) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(text)
    if len(pairs) > MAX_ATTRIBUTES or len(dict(pairs)) < len(pairs):
        raise InvalidProgram(f"/{name}", f"must have at most {MAX_ATTRIBUTES} different attributes")
    return dict(pairs)


def _gpu(element: _Element, index: int, gpus: int, channels: int, limits: Limits) -> Gpu:
    place = f"/gpu/{index}"
    sizes = {buffer: _number(element, f"{buffer}_chunks", place, 0) for buffer in "ios"}
    blocks: dict[int, Block] = {}
    for child in _children(element, "tb", place):
        at = _number(child, "id", f"{place}/tb", 0, limits.thread_blocks - 1)
        here = f"{place}/tb/{at}"
        if at in blocks:
            raise InvalidProgram(here, "must be described once")
        peers = [_number(child, way, here, -1, gpus - 1) for way in ("send", "recv")]
        if index in peers:
            raise InvalidProgram(here, "a GPU must not be its own peer")
        channel = _number(child, "chan", here, 0, channels - 1)
        blocks[at] = Block(peers[0], peers[1], channel, _steps(child, here, sizes, limits))
    if sorted(blocks) != list(range(len(blocks))):
        raise InvalidProgram(place, "the ids of thread blocks must leave no gap")
    made = Gpu(sizes, tuple(blocks[at] for at in range(len(blocks))))
    _check_peers(made, place)
    _check_steps(made, place)
    return made


def _steps(
    block: _Element, place: str, sizes: dict[str, int], limits: Limits
) -> tuple[Instruction, ...]:
    steps = []
    for at, element in enumerate(_children(block, "step", place)):
        here = f"{place}/step/{at}"
        if at >= limits.steps:
            raise InvalidProgram(here, f"a thread block may have {limits.steps} steps")
        if _number(element, "s", here, 0) != at:
            raise InvalidProgram(here, "steps must be numbered in order, without gap")
        kind = _choice(element, "type", here, tuple(sorted(_TYPES)))
        least, most = (0, 0) if kind == "nop" else (1, MAX_COUNT)
        step = Instruction(
            kind,
            _choice(element, "srcbuf", here, ("i", "o", "s")),
            _number(element, "srcoff", here, -1),
            _choice(element, "dstbuf", here, ("i", "o", "s")),
            _number(element, "dstoff", here, -1),
            _number(element, "cnt", here, least, most),
            _number(element, "depid", here, -1),
            _number(element, "deps", here, -1),
            _number(element, "hasdep", here, 0, 1) == 1,
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
                if not gpu.blocks[step.wait_block].steps[step.wait_step].is_awaited:
                    raise InvalidProgram(here, "must depend on a step that has hasdep=1")
            elif after_nop or step.type == "nop":
                raise InvalidProgram(here, "a nop and the step after it must carry a dependency")
            if step.type == "nop" and step.is_awaited:
                raise InvalidProgram(here, "nothing can depend on a nop")
            after_nop = step.type == "nop"
        if after_nop:
            raise InvalidProgram(f"{place}/tb/{at}", "a nop must be followed by a step")


def _modes(root: _Element, limits: Limits) -> tuple[bool, ...]:
    inside = _number(root, "inplace", "/algo", 0, 1) == 1
    if not limits.says_outofplace:
        return (inside,)
    outside = _number(root, "outofplace", "/algo", 0, 1) == 1
    modes = (False,) * outside + (True,) * inside
    if not modes:
        raise InvalidProgram("/algo", "must serve calls in place or out of place")
    return modes


def _check_bytes(root: _Element, limits: Limits) -> None:
    for name in ("minBytes", "maxBytes"):
        if limits.says_outofplace or name in root.attributes:
            _number(root, name, "/algo", 0)


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


def _children(element: _Element, name: str, place: str) -> Iterator[_Element]:
    for child in element.children:
        if child.name != name:
            raise InvalidProgram(place, f"may hold {name} only, not {child.name}")
        yield child
    if name == "step":
        for child in element.children:
            if child.children:
                raise InvalidProgram(place, "a step must be empty")


def _text(element: _Element, key: str, place: str) -> str:
    if key not in element.attributes:
        raise InvalidProgram(f"{place}/{key}", "is missing")
    return element.attributes[key]


def _choice(element: _Element, key: str, place: str, choices: tuple[str, ...]) -> str:
    value = _text(element, key, place)
    if value not in choices:
        raise InvalidProgram(f"{place}/{key}", f"must be one of {', '.join(choices)}")
    return value


def _number(element: _Element, key: str, place: str, least: int, most: int = 10**15) -> int:
    value = _text(element, key, place)
    if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
        raise InvalidProgram(f"{place}/{key}", f"must be an integer from {least} to {most}")
    return int(value)
