"""Count signals and semaphores of an MSCCL++ plan: releases and waits match one to one.

The k-th channel of a GPU to a peer is joined to the k-th channel of the peer to the GPU; both are
*ends* of one channel.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.mscclpp.program import (
    SIGNALS,
    WAITS,
    ChannelType,
    Operation,
    Program,
)

End: TypeAlias = tuple[int, ChannelType, int]
"""GPU, type and number of one of its channels."""


def joined_ends(program: Program) -> dict[End, End]:
    """Return the other end of each channel: the k-th channel to a peer joins the k-th one back."""
    numbers: dict[tuple[int, ChannelType, int], list[int]] = defaultdict(list)
    for index, gpu in enumerate(program.gpus):
        for kind, peers in gpu.peers.items():
            for number, peer in enumerate(peers):
                numbers[index, kind, peer].append(number)
    return {
        (gpu, kind, number): (peer, kind, back)
        for (gpu, kind, peer), mine in numbers.items()
        for number, back in zip(mine, numbers[peer, kind, gpu], strict=True)
    }


def _operations(program: Program) -> Iterator[tuple[int, int, Operation]]:
    for index, gpu in enumerate(program.gpus):
        for at, block in enumerate(gpu.blocks):
            for operation in block.operations:
                yield index, at, operation


def check_signals(program: Program, ends: dict[End, End]) -> None:
    """Raise unless the signals of every channel match the waits of one block one to one."""
    signals: Counter[End] = Counter()
    waits: Counter[End] = Counter()
    users: dict[tuple[str, End], set[int]] = defaultdict(set)
    for gpu, block, operation in _operations(program):
        if operation.channel is None:
            continue
        end = gpu, *operation.channel
        if operation.name in SIGNALS:
            signals[ends[end]] += 1
            users["signal", end].add(block)
        if operation.name in WAITS:
            waits[end] += 1
            users["wait for", end].add(block)
    for end in sorted(signals.keys() | waits.keys()):
        gpu, kind, number = end
        if signals[end] != waits[end]:
            raise InvalidProgram(
                f"/gpus/{gpu}",
                f"its {kind} channel {number} must be waited for as often as it is signalled: "
                f"{waits[end]} waits, {signals[end]} signals",
            )
    for (verb, (gpu, kind, number)), blocks in sorted(users.items()):
        if len(blocks) > 1:
            raise InvalidProgram(
                f"/gpus/{gpu}", f"one thread block only may {verb} its {kind} channel {number}"
            )


def check_semaphores(program: Program) -> None:
    """Raise unless every semaphore ends with its initial value and joins two thread blocks."""
    changes: Counter[tuple[int, int]] = Counter()
    users: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    for gpu, block, operation in _operations(program):
        for number in operation.semaphores:
            changes[gpu, number] += 1 if operation.name == "sem_release" else -1
            users[gpu, number, operation.name].add(block)
    for (gpu, number), change in changes.items():
        if change:
            raise InvalidProgram(
                f"/gpus/{gpu}/semaphores/{number}", "must be acquired as often as released"
            )
    for (gpu, number, _), blocks in users.items():
        if len(blocks) > 1:
            raise InvalidProgram(
                f"/gpus/{gpu}/semaphores/{number}",
                "must be released by one thread block and acquired by one",
            )
