"""Assign moves to thread blocks: the block of each move, its order, and its dependencies.

Every (peer, channel) of a GPU gets one thread block that only sends and one that only receives,
so both directions run at once.  If a GPU has too few blocks, a sending and a receiving block are
merged.  Local moves run on blocks without peers, one after the other (`LocalBlocks`).

No deadlock.  All blocks of all GPUs run their steps in the order of the moves, and a
step waits only for steps of earlier moves.  Take the first move that is not finished.
Its steps are the next steps of their blocks, as every earlier step belongs to a finished
move; their dependencies are finished; and the connection between them is empty, as all
earlier messages on it belong to finished moves.  So the move can run, even if the
connection buffers no message.
"""

from collections import Counter, defaultdict
from typing import TypeAlias

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.chunk_moves import MovePlan, Place
from topoloom.schedules.formats.lowering.last_writers import LastWriters
from topoloom.schedules.formats.msccl.program import (
    BLOCKS_PER_CHANNEL,
    MAX_AWAITED_BLOCK,
    MAX_COUNT,
)
from topoloom.schedules.formats.msccl.program_builder import (
    TOO_LONG,
    Draft,
    DraftBlock,
    DraftStep,
    LocalBlocks,
    excess,
    require_elements,
)
from topoloom.schedules.formats.targets.runtimes import Runtime

_Key: TypeAlias = tuple[int, int, int]
"""Send peer or -1, receive peer or -1, channel."""


def arrange(plan: MovePlan, limits: Runtime, instances: int = 1) -> Draft:
    """Return the plan as thread blocks within the limits, on few channels.

    Args:
        instances: Least number of channels between two GPUs; consecutive moves of a pair rotate
            over them.

    Raises:
        NotExportable: Names the limit that cannot be met and the number that is needed.

    More channels shorten blocks but multiply them.  Channels are added until every block is
    short enough, first with separate blocks for sending and receiving, then with merged blocks.
    """
    spread = _spread(plan)
    most = limits.channels // (max(spread.values(), default=0) + 1)
    loads = Counter((move.source, move.target) for move in plan.moves if not move.is_local)
    busiest = max(loads.values(), default=0)
    problem = NotExportable(
        "/nchannels",
        f"on {limits.name} at most {limits.channels} channels exist; "
        f"{(max(spread.values(), default=0) + 1) * -(-busiest // limits.steps)} are needed",
    )
    require_elements(plan)
    for shared in (False, True):
        copies = max(instances, -(-busiest // limits.steps))
        while copies <= most:
            draft = _draft(plan, limits, spread, copies, shared)
            problem = excess(draft, limits)
            if problem is None:
                return draft
            if problem.field != TOO_LONG:
                break
            copies += 1 + copies // 4
    raise problem


def _spread(plan: MovePlan) -> dict[tuple[int, int], int]:
    """Return a channel for each pair of GPUs; no GPU exceeds the limit of peers on a channel.

    Peers at distance (target - source) mod N in one window of the limit's length
    share a channel: each GPU has at most one peer at each distance.
    """
    pairs = sorted({(move.source, move.target) for move in plan.moves if not move.is_local})
    peers: dict[tuple[str, int], int] = defaultdict(int)
    for source, target in pairs:
        peers["out", source] += 1
        peers["in", target] += 1
    if max(peers.values(), default=0) <= BLOCKS_PER_CHANNEL:
        return dict.fromkeys(pairs, 0)
    return {
        (source, target): ((target - source) % plan.gpus - 1) // BLOCKS_PER_CHANNEL
        for source, target in pairs
    }


def _draft(
    plan: MovePlan, limits: Runtime, spread: dict[tuple[int, int], int], copies: int, shared: bool
) -> Draft:
    channels = _channels(plan, spread, copies)
    blocks: list[dict[_Key, DraftBlock]] = [{} for _ in range(plan.gpus)]
    for gpu in range(plan.gpus):
        if plan.copies_own(gpu):
            blocks[gpu][-1, -1, 0] = _own_shard(plan, gpu)
    local = [LocalBlocks(limits.steps) for _ in range(plan.gpus)]
    ends = _ends(plan, channels, shared)
    written, steps = LastWriters(plan), list[DraftStep]()

    def writers(gpu: int, place: Place, length: int) -> list[DraftStep]:
        return [steps[at - 1] for at in written.before(gpu, place, length)]

    for move, channel in zip(plan.moves, channels, strict=True):
        source, target, length = move.source, move.target, move.length
        if move.is_local:
            waits = writers(source, move.origin, length)
            if move.operand is not None:
                waits += writers(source, move.goal, length)
            steps.append(local[source].add(move, waits))
            written.wrote(len(steps), target, move.goal, length)
            continue
        sending = _block(blocks[source], ends[0, source, target, channel])
        receiving = _block(blocks[target], ends[1, target, source, channel])
        send = DraftStep("s", move.origin, move.goal, length, sending)
        if move.operand is None:
            receive = DraftStep("r", move.origin, move.goal, length, receiving)
        else:
            receive = DraftStep("rrc", move.operand, move.goal, length, receiving)
            receive.waits = writers(target, move.goal, length)
        send.waits = writers(source, move.origin, length)
        sending.steps.append(send)
        receiving.steps.append(receive)
        steps.append(receive)
        written.wrote(len(steps), target, move.goal, length)
    gpus = tuple(
        _ordered([*own.blocks, *(by_key[key] for key in sorted(by_key))])
        for own, by_key in zip(local, blocks, strict=True)
    )
    for gpu in gpus:
        _number(gpu)
    return Draft(plan, max(channels, default=0) + 1, gpus)


def _ordered(blocks: list[DraftBlock]) -> tuple[DraftBlock, ...]:
    """Return the blocks; if there are too many ids, blocks that others wait for come first."""
    if len(blocks) > MAX_AWAITED_BLOCK + 1:
        awaited = {other.block for block in blocks for step in block.steps for other in step.waits}
        blocks = sorted(blocks, key=lambda block: block not in awaited)
    return tuple(blocks)


def _block(blocks: dict[_Key, DraftBlock], key: _Key) -> DraftBlock:
    if key not in blocks:
        blocks[key] = DraftBlock(*key)
    return blocks[key]


def _channels(plan: MovePlan, spread: dict[tuple[int, int], int], copies: int) -> list[int]:
    """Return the channel of each move: the moves of a pair rotate over its channels.

    Channels are numbered without gaps.  Local moves need no channel and get channel 0.
    """
    turn: dict[tuple[int, int], int] = defaultdict(int)
    wide = []
    for move in plan.moves:
        pair = move.source, move.target
        wide.append(-1 if move.is_local else spread[pair] * copies + turn[pair] % copies)
        turn[pair] += 1
    dense = {channel: index for index, channel in enumerate(sorted(set(wide) - {-1}))}
    return [dense.get(channel, 0) for channel in wide]


def _ends(
    plan: MovePlan, channels: list[int], shared: bool
) -> dict[tuple[int, int, int, int], _Key]:
    """Return the block of each (0 sending or 1 receiving, GPU, peer, channel)."""
    peers: dict[tuple[int, int], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for move, channel in zip(plan.moves, channels, strict=True):
        if move.is_local:
            continue
        peers[move.source, channel][0].add(move.target)
        peers[move.target, channel][1].add(move.source)
    ends: dict[tuple[int, int, int, int], _Key] = {}
    for (gpu, channel), (sends, receives) in peers.items():
        both = sorted(sends & receives)
        out = both + sorted(sends - receives)
        back = both + sorted(receives - sends)
        for index in range(max(len(out), len(back))):
            to = out[index] if index < len(out) else -1
            of = back[index] if index < len(back) else -1
            if to >= 0:
                ends[0, gpu, to, channel] = (to, of if shared else -1, channel)
            if of >= 0:
                ends[1, gpu, of, channel] = (to if shared else -1, of, channel)
    return ends


def _own_shard(plan: MovePlan, gpu: int) -> DraftBlock:
    """Return the block that copies a GPU's own shard from its input to its output."""
    block = DraftBlock(-1, -1, 0)
    (_, source), (_, goal) = plan.own(gpu)
    for start in range(0, plan.share(gpu), MAX_COUNT):
        count = min(MAX_COUNT, plan.share(gpu) - start)
        places = ("i", source + start), ("o", goal + start)
        block.steps.append(DraftStep("cpy", *places, count, block))
    return block


def _number(blocks: tuple[DraftBlock, ...]) -> None:
    """Assign numbers to blocks and steps, and keep only waits that no other wait implies.

    Of several steps of one block the last suffices; a block need not wait for itself, nor for
    the dependencies of its own earlier steps.
    """
    place: dict[DraftStep, int] = {}
    for index, block in enumerate(blocks):
        block.id = index
        place.update((step, at) for at, step in enumerate(block.steps))
    for block in blocks:
        passed: dict[DraftBlock, int] = defaultdict(lambda: -1)
        number = 0
        for step in block.steps:
            latest: dict[DraftBlock, DraftStep] = {}
            for other in step.waits:
                new = other.block is not block and place[other] > passed[other.block]
                if new:
                    passed[other.block] = place[other]
                    latest[other.block] = other
            step.waits = sorted(latest.values(), key=lambda other: other.block.id)
            for other in step.waits:
                other.awaited = True
            # Every wait but the last takes its own nop before the step.
            number += max(1, len(step.waits))
            step.number = number - 1
