"""Assign moves to the thread blocks of a plan: the block of each move, and its dependencies.

MSCCL++ is one-sided: the sender stores into the receiver's buffer and then signals.  Each move
takes a *lane*: one channel from its source to its target, with a dedicated thread block at each
end.  The receiving block first signals that its GPU has begun; the sending block waits for this
signal once.  A copy is stored in its final place.  Data to be added is stored in its own place in
scratch, and the receiving block adds it.  Local moves run on blocks without peers, one block after
another.  A step that depends on another block of its GPU waits for a semaphore that these two
blocks share with no other.

No deadlock.  All blocks work in the order of the moves, and signals and releases never wait.
Every wait is for the same move at its other end or for an earlier move.  So the first move that is
not finished can run.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.chunk_moves import MovePlan, Place
from topoloom.schedules.formats.lowering.last_writers import LastWriters
from topoloom.schedules.formats.mscclpp.program import MAX_SEMAPHORES_PER_OPERATION
from topoloom.schedules.formats.targets.runtimes import Runtime

_Lane: TypeAlias = tuple[int, int, int]
"""Source, target, and index of the lane between them."""


@dataclass(slots=True, eq=False)
class DraftStep:
    """The action of a block for one move: ``length`` chunks from one place to another.

    ``added`` is the place of the data that a receiver adds to the chunks at ``source``; None if it
    only waits.  ``waits`` are steps of other blocks; ``acquires`` and ``releases`` are the
    semaphores that replace them.
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
    """One end of a lane, or (``peer`` is -1) a block for local copies and additions of a GPU."""

    peer: int
    sends: bool
    lane: int
    steps: list[DraftStep] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Upper bound on the operations of its steps."""
        if self.peer < 0:
            return sum(
                _groups(step.acquires) + _groups(step.releases) + 2 + bool(step.releases)
                for step in self.steps
            )
        steps = (_groups(step.acquires) + _groups(step.releases) + 4 for step in self.steps)
        # The beginning, and for each step: nop, work, nop, signal.
        return 2 + sum(steps)


@dataclass(frozen=True, slots=True)
class Draft:
    """The blocks of every GPU, and its numbers of semaphores and of scratch chunks."""

    plan: MovePlan
    gpus: tuple[tuple[DraftBlock, ...], ...]
    semaphores: tuple[int, ...]
    scratch: tuple[int, ...]


def arrange(plan: MovePlan, limits: Runtime, instances: int = 1) -> Draft:
    """Return the plan as thread blocks that fit the executor.

    Raises:
        NotExportable: A GPU would need more thread blocks than can run at once; the error names the
            number.

    Starts with one lane per instance for each pair of GPUs.  A pair whose blocks are too long
    gets more lanes, in proportion to their length, until all fit.
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


def _require_blocks(plan: MovePlan, lanes: dict[tuple[int, int], int], limits: Runtime) -> None:
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


def _draft(plan: MovePlan, lanes: dict[tuple[int, int], int]) -> Draft:
    blocks: list[dict[tuple[bool, int, int], DraftBlock]] = [{} for _ in range(plan.gpus)]
    for gpu in range(plan.gpus):
        if plan.copies_own(gpu):
            block = blocks[gpu][False, -1, 0] = DraftBlock(-1, False, 0)
            block.steps.append(DraftStep(*plan.own(gpu), plan.share(gpu), block))
    scratch = list(plan.scratch)
    # By GPU: copies out of its output; later writes to the output wait for them.
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


def _lanes_of(plan: MovePlan, lanes: dict[tuple[int, int], int]) -> Iterator[_Lane]:
    """Yield the lane of each move, in turn over its pair's lanes; local moves fill lane by lane."""
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
    """Turn waits that are not implied by others into semaphores; return the number of semaphores.

    Of several steps of one block the last suffices; a block need not wait for itself, nor for the
    dependencies of its own earlier steps.  So the n-th acquire of a semaphore by a block comes
    after the n-th release.
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
    """Return the number of operations that a list of semaphores takes."""
    return -(-len(semaphores) // MAX_SEMAPHORES_PER_OPERATION)
