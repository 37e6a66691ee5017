"""Calls of MSCCL++ plans: their buffers on random data, and what must be in these afterwards.

Derived from the file of a plan alone.  The module needs numpy and the standard library, nothing of
Topoloom, so it shares no code with the writer and the replay of plans.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]

ORDERED = "ordered"
"""Stands for float32 whose sum depends on the order: it must be that of the ranks."""
TYPES = {"int32": 0, "uint32": 1, "float16": 2, "float32": 3, "bfloat16": 4, ORDERED: 3}
"""The numbers of the types in ``mscclpp::DataType``."""
WORDS = {"int32", "uint32", "float32", ORDERED}
"""Types of 4 bytes; the others have 2."""
SHARED = {"allgather": "input", "reducescatter": "output"}
"""The buffer in which a rank holds only its shard."""
POISON = 0xA5


@dataclass(frozen=True)
class Plan:
    """The calls that a plan serves; ``shards`` are the bounds of the ranks' shards, in chunks."""

    collective: str
    inplace: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    shards: tuple[tuple[int, int], ...]
    root: int | None
    idle: frozenset[int]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.inputs)

    @property
    def members(self) -> list[int]:
        """The ranks that take part."""
        return [rank for rank in range(self.ranks) if rank not in self.idle]


def read(document: Any) -> Plan:
    """Return what the JSON document of a plan says of its calls.

    >>> gpu = {"input_chunks": 1, "output_chunks": 2}
    >>> read({"collective": "allgather", "inplace": False, "gpus": [gpu, gpu]}).shards
    ((0, 1), (1, 2))
    """
    gpus, collective = document["gpus"], document["collective"]
    idle = frozenset(document.get("idle", ()))
    shared = SHARED.get(collective)
    sizes = [gpu[f"{shared}_chunks"] if shared else 0 for gpu in gpus]
    bounds = accumulate([0 if at in idle else size for at, size in enumerate(sizes)], initial=0)
    return Plan(
        collective,
        document["inplace"],
        tuple(gpu["input_chunks"] for gpu in gpus),
        tuple(gpu["output_chunks"] for gpu in gpus),
        tuple(pairwise(bounds)),
        document.get("root"),
        idle,
    )


def drawn(seed: tuple[int, ...], count: int, kind: str) -> Bytes:
    """Return random data of a type, as bytes: integers over their range, small ones as floats.

    All sums of up to 32 such floats are exact in every type, but not those of `ORDERED`.
    """
    length = count // (4 if kind in WORDS else 2)
    words = np.random.SFC64(seed).random_raw(-(-count // 8)).view(np.uint32)
    if kind in {"int32", "uint32"}:
        return words[:length].view(np.uint8)
    if kind == ORDERED:
        return ((words[:length] >> 9) | 0x3F800000).view(np.uint8)
    small = (words.view(np.uint16)[:length] & 7).astype(np.float32)
    return _bytes(small, kind)


def _bytes(values: NDArray[np.float32], kind: str) -> Bytes:
    if kind == "bfloat16":
        return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    return (values.astype(kind) if kind == "float16" else values).view(np.uint8)


def _floats(data: Bytes, kind: str) -> NDArray[np.float32]:
    if kind == "bfloat16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return data.view(np.float16 if kind == "float16" else np.float32).astype(np.float32)


def added(inputs: list[Bytes], kind: str) -> Bytes:
    """Return the sum of data of a type, in the order of the list; integers wrap around.

    >>> added([np.array([1, 2], np.int32).view(np.uint8)] * 3, "int32").view(np.int32)
    array([3, 6], dtype=int32)
    """
    if kind in {"int32", "uint32"}:
        whole = inputs[0].view(np.uint32).copy()
        for one in inputs[1:]:
            whole += one.view(np.uint32)
        return whole.view(np.uint8)
    total = _floats(inputs[0], kind)
    for one in inputs[1:]:
        total += _floats(one, kind)
    return _bytes(total, kind)


def result(plan: Plan, rank: int, inputs: list[Bytes], chunk: int, kind: str) -> Bytes | None:
    """Return the output that a rank must have, or None if it may have any.

    ``inputs`` are the inputs of all ranks, ``chunk`` the bytes of a chunk.
    """
    if rank in plan.idle:
        return None
    given = [inputs[member] for member in plan.members]
    match plan.collective:
        case "allgather":
            return np.concatenate(given)
        case "allreduce":
            return added(given, kind)
        case "reducescatter":
            first, last = plan.shards[rank]
            return added([one[first * chunk : last * chunk] for one in given], kind)
        case "alltoall":
            return np.concatenate([np.split(one, plan.ranks)[rank] for one in given])
        case "broadcast":
            return inputs[plan.root or 0]
        case "reduce":
            return added(given, kind) if rank == plan.root else None
        case other:
            raise ValueError(f"no collective of a plan: {other}")


@dataclass(frozen=True)
class Step:
    """One call: bytes of a chunk, type, seed, and unused bytes around each buffer.

    ``kept``: the buffers of the previous call are used again, so the executor keeps its setup.
    """

    chunk: int
    kind: str
    seed: int
    before: int = 0
    after: int = 0
    kept: bool = False


@dataclass(frozen=True)
class Layout:
    """The memory of a call at a rank: ``sizes`` of one or two allocations, in bytes.

    ``source`` and ``target`` are the places of input and output: allocation, first and last byte.
    """

    sizes: tuple[int, ...]
    source: tuple[int, int, int]
    target: tuple[int, int, int]


def layout(plan: Plan, rank: int, step: Step) -> Layout:
    """Return where input and output of a call lie; in place, a shard lies within the whole."""
    chunk, start = step.chunk, step.before
    entering, leaving = plan.inputs[rank] * chunk, plan.outputs[rank] * chunk
    around = step.before + step.after
    if not plan.inplace:
        sizes = (entering + around, leaving + around)
        return Layout(sizes, (0, start, start + entering), (1, start, start + leaving))
    shift = start + plan.shards[rank][0] * chunk * (entering != leaving)
    source = shift if entering < leaving else start
    target = shift if leaving < entering else start
    size = max(entering, leaving) + around
    return Layout((size,), (0, source, source + entering), (0, target, target + leaving))


def contents(plan: Plan, rank: int, step: Step) -> tuple[Layout, list[Bytes], list[Bytes]]:
    """Return the layout of a call, its memory before, and the inputs of all ranks."""
    made = layout(plan, rank, step)
    inputs = [
        drawn((step.seed, each), count * step.chunk, step.kind)
        for each, count in enumerate(plan.inputs)
    ]
    memory = [np.full(size, POISON, np.uint8) for size in made.sizes]
    place, first, last = made.source
    memory[place][first:last] = inputs[rank]
    return made, memory, inputs


def fault(
    plan: Plan, rank: int, step: Step, inputs: list[Bytes], memory: list[Bytes]
) -> str | None:
    """Return what is wrong in the memory of a rank after a call, or None.

    Checked are the output, the input of a call out of place, and the unused bytes around both.
    """
    made = layout(plan, rank, step)
    wanted = result(plan, rank, inputs, step.chunk, step.kind)
    place, first, last = made.target
    if wanted is not None and (wrong := _differing(memory[place][first:last], wanted)):
        return f"output: {wrong}"
    place, first, last = made.source
    untouched = not plan.inplace or rank in plan.idle
    if untouched and (wrong := _differing(memory[place][first:last], inputs[rank])):
        return f"input: {wrong}"
    if not plan.inplace and rank in plan.idle and (memory[1] != POISON).any():
        return "output of an idle rank: is written"
    for at, held in enumerate(memory):
        ends = [end for where, *both in (made.source, made.target) if where == at for end in both]
        if (held[: min(ends)] != POISON).any() or (held[max(ends) :] != POISON).any():
            return f"allocation {at}: bytes outside the buffer are written"
    return None


def _differing(found: Bytes, wanted: Bytes) -> str:
    places = np.flatnonzero(found != wanted)
    return f"{len(places)} of {len(wanted)} bytes, from byte {places[0]}" if len(places) else ""
