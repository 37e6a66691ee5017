"""From moves to thread blocks of a plan: who does which, and what waits for what.

MSCCL++ is one-sided: the sender stores into the receiver's buffer and then signals.
Each move takes a *lane*: one channel from its source to its target, with a thread block at
each end that serves nothing else.  The receiving block first signals that its GPU has
begun, and the sending block waits for this once.  A copy is stored where it belongs; what is
to be added is stored in a place of scratch of its own, and the receiving block adds it.
What stays on a GPU is done by blocks without peers, each of which goes on where another ends.
Where a step needs what another block of its GPU did, that block releases a semaphore
that belongs to these two alone.

No deadlock.  All blocks work in the order of the moves, signals and releases never wait,
and what is waited for comes from the same move at its other end or from an earlier one.
So the first move that is not finished can go on.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.chunk_moves import Place, Plan
from topoloom.schedules.formats.lowering.last_writers import LastWriters
from topoloom.schedules.formats.mscclpp.program import MAX_SEMAPHORES_PER_OPERATION
from topoloom.schedules.formats.targets.runtimes import Runtime

_Lane: TypeAlias = tuple[int, int, int]
"""Source, target, and which of the lanes between them."""


@dataclass(slots=True, eq=False)
class DraftStep:
    """What a block does for one move: ``length`` chunks from one place to another.

    ``added`` is what a receiver adds to what arrives at ``source``; None if it only has
    to wait.  ``waits`` are steps of other blocks, later ``acquires`` and ``releases``
    are semaphores.
    """

    source: Place
    target: Place
    length: int
    block: "DraftBlock"
    added: Place | None = None
    waits: "list[DraftStep]" = field(default_factory=list)
    acquires: list[int] = field(default_factory=list)
    releases: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class DraftBlock:
    """One end of a lane, or (``peer`` is -1) what a GPU copies, or adds up, by itself."""

    peer: int
    sends: bool
    lane: int
    steps: list[DraftStep] = field(default_factory=list)

    @property
    def length(self) -> int:
        """The most operations its steps may need."""
        if self.peer < 0:
            return sum(
                _groups(step.acquires) + _groups(step.releases) + 2 + bool(step.releases)
                for step in self.steps
            )
        steps = (_groups(step.acquires) + _groups(step.releases) + 4 for step in self.steps)
        # Beginning, and for each step: nop, work, nop, signal.
        return 2 + sum(steps)


@dataclass(frozen=True, slots=True)
class Draft:
    """The blocks of every GPU, and how many semaphores and chunks of scratch it has."""

    plan: Plan
    gpus: tuple[tuple[DraftBlock, ...], ...]
    semaphores: tuple[int, ...]
    scratch: tuple[int, ...]


def arrange(plan: Plan, limits: Runtime, instances: int = 1) -> Draft:
    """Return the plan as thread blocks short enough for the executor.

    Raises
    ------
    NotExportable
        A GPU would need more thread blocks than run at once; the number needed is named.

    Notes
    -----
    Starts with as many lanes for each pair of GPUs as there are instances; a pair whose blocks
    are too long gets as many more as their length asks for, until all fit.
    """
    pairs = sorted({(move.source, move.target) for move in plan.moves})
    lanes = dict.fromkeys(pairs, instances)
    while True:
        _require_blocks(plan, lanes, limits)
        draft = _draft(plan, lanes)
        longest: Counter[tuple[int, int]] = Counter()
        for gpu, blocks in enumerate(draft.gpus):
            for block in blocks:
                peer = gpu if block.peer < 0 else block.peer
                pair = (gpu, peer) if block.sends else (peer, gpu)
                longest[pair] = max(longest[pair], block.length)
        crowded = {pair: most for pair, most in longest.items() if most > limits.steps}
        if not crowded:
            return draft
        for pair, most in crowded.items():
            lanes[pair] = max(lanes[pair] + 1, -(-lanes[pair] * most // limits.steps))


def _require_blocks(plan: Plan, lanes: dict[tuple[int, int], int], limits: Runtime) -> None:
    needed = Counter({gpu: int(plan.copies_own(gpu)) for gpu in range(plan.gpus)})
    for (source, target), count in lanes.items():
        for gpu in {source, target}:
            needed[gpu] += count
    most = max(needed.values())
    if most > limits.thread_blocks:
        raise NotExportable(
            "/gpus/threadblocks",
            f"on {limits.name} a GPU may have {limits.thread_blocks} thread blocks of "
            f"{limits.steps} operations; at least {most} are needed",
        )


def _draft(plan: Plan, lanes: dict[tuple[int, int], int]) -> Draft:
    blocks: list[dict[tuple[bool, int, int], DraftBlock]] = [{} for _ in range(plan.gpus)]
    for gpu in range(plan.gpus):
        if plan.copies_own(gpu):
            block = blocks[gpu][False, -1, 0] = DraftBlock(-1, False, 0)
            block.steps.append(DraftStep(*plan.own(gpu), plan.share(gpu), block))
    scratch = list(plan.scratch)
    # By GPU: copies out of its output, which is not overwritten before them.
    saved: dict[int, list[DraftStep]] = defaultdict(list)
    written, steps = LastWriters(plan), list[DraftStep]()

    def writers(gpu: int, place: Place, length: int) -> list[DraftStep]:
        return [steps[at - 1] for at in written.before(gpu, place, length)]

    for move, (source, target, lane) in zip(plan.moves, _lanes_of(plan, lanes), strict=True):
        if move.is_local:
            block = blocks[source].setdefault((False, -1, lane), DraftBlock(-1, False, lane))
            step = DraftStep(move.origin, move.goal, move.length, block, move.operand)
            step.waits = writers(source, move.origin, move.length)
            if move.operand is not None:
                step.waits += writers(source, move.goal, move.length)
            elif move.goal[0] == "o":
                step.waits += saved[source]
            if move.origin[0] == "o":
                saved[source].append(step)
            block.steps.append(step)
            steps.append(step)
            written.wrote(len(steps), target, move.goal, move.length)
            continue
        sending = blocks[source].setdefault((True, target, lane), DraftBlock(target, True, lane))
        receiving = blocks[target].setdefault(
            (False, source, lane), DraftBlock(source, False, lane)
        )
        place = move.goal
        if move.operand is not None:
            place = "s", scratch[target]
            scratch[target] += move.length
        send = DraftStep(move.origin, place, move.length, sending)
        receive = DraftStep(place, move.goal, move.length, receiving, move.operand)
        send.waits = writers(source, move.origin, move.length)
        if move.operand is not None:
            receive.waits = writers(target, move.goal, move.length)
        sending.steps.append(send)
        receiving.steps.append(receive)
        steps.append(receive)
        written.wrote(len(steps), target, move.goal, move.length)
    gpus = tuple(tuple(by_key[key] for key in sorted(by_key)) for by_key in blocks)
    semaphores = tuple(_give_semaphores(gpu) for gpu in gpus)
    return Draft(plan, gpus, semaphores, tuple(scratch))


def _lanes_of(plan: Plan, lanes: dict[tuple[int, int], int]) -> Iterator[_Lane]:
    """Yield the lane of each move: in turn those of its pair; on a GPU one after the other."""
    turn: dict[tuple[int, int], int] = defaultdict(int)
    local = Counter(move.source for move in plan.moves if move.is_local)
    for move in plan.moves:
        pair = move.source, move.target
        if move.is_local:
            yield *pair, turn[pair] * lanes[pair] // local[move.source]
        else:
            yield *pair, turn[pair] % lanes[pair]
        turn[pair] += 1


def _give_semaphores(blocks: tuple[DraftBlock, ...]) -> int:
    """Turn waits that say something new into semaphores; return how many there are.

    Of several steps of one block the last suffices; a block need not wait for itself,
    nor for what an earlier step of it has waited for.  So the n-th time that a block
    acquires a semaphore is after the n-th release.
    """
    place = {step: at for block in blocks for at, step in enumerate(block.steps)}
    numbers: dict[tuple[DraftBlock, DraftBlock], int] = {}
    for block in blocks:
        passed: dict[DraftBlock, int] = {}
        for step in block.steps:
            latest: dict[DraftBlock, DraftStep] = {}
            for other in sorted(step.waits, key=place.__getitem__):
                if other.block is not block and place[other] > passed.get(other.block, -1):
                    passed[other.block] = place[other]
                    latest[other.block] = other
            for other in latest.values():
                number = numbers.setdefault((other.block, block), len(numbers))
                step.acquires.append(number)
                other.releases.append(number)
    return len(numbers)


def _groups(semaphores: list[int]) -> int:
    """Return how many operations so many semaphores take."""
    return -(-len(semaphores) // MAX_SEMAPHORES_PER_OPERATION)
