"""A program under construction: steps refer to each other and have no numbers yet.

`write` numbers the content of a `Draft` for the file; `excess` returns the runtime's limit that a
draft exceeds.
"""

from collections import Counter
from dataclasses import dataclass, field

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.chunk_moves import Move, MovePlan, Place
from topoloom.schedules.formats.msccl.program import (
    MAX_AWAITED_BLOCK,
    MAX_CHILDREN,
    MAX_ELEMENTS,
    MAX_OFFSET,
)
from topoloom.schedules.formats.targets.runtimes import Runtime

TOO_LONG = "/thread_block/steps"


@dataclass(slots=True, eq=False)
class DraftStep:
    """One step of a block; ``number`` counts the nops before it."""

    type: str
    source: Place
    target: Place
    count: int
    block: "DraftBlock"
    waits: "list[DraftStep]" = field(default_factory=list)
    number: int = 0
    awaited: bool = False


@dataclass(slots=True, eq=False)
class DraftBlock:
    """One thread block; a peer is -1 if the block has none."""

    send: int
    recv: int
    channel: int
    steps: list[DraftStep] = field(default_factory=list)
    id: int = 0

    @property
    def length(self) -> int:
        """Steps of the block in the file, nops included."""
        return sum(max(1, len(step.waits)) for step in self.steps)


class LocalBlocks:
    """The blocks of a GPU for local moves; a new block begins before one exceeds the limit."""

    def __init__(self, longest: int) -> None:
        self.longest, self.blocks = longest, list[DraftBlock]()
        self._room = 0
        # Copies out of the output; later writes to the output wait for them.
        self._saved: list[DraftStep] = []

    def add(self, move: Move, waits: list[DraftStep]) -> DraftStep:
        """Return the step of a move, after the steps that wrote the chunks that it reads."""
        adds = move.operand is not None
        if move.goal[0] == "o" and not adds:
            waits = waits + self._saved
        # An upper bound: steps of one block are a single wait.
        needed = max(1, len({step.block for step in waits}))
        if needed > self._room:
            self.blocks.append(DraftBlock(-1, -1, 0))
            self._room = self.longest
        self._room -= needed
        block = self.blocks[-1]
        step = DraftStep("re" if adds else "cpy", move.origin, move.goal, move.length, block, waits)
        if move.origin[0] == "o":
            self._saved.append(step)
        block.steps.append(step)
        return step


@dataclass(frozen=True, slots=True)
class Draft:
    """The blocks of every GPU."""

    plan: MovePlan
    channels: int
    gpus: tuple[tuple[DraftBlock, ...], ...]


def require_elements(plan: MovePlan) -> None:
    """Raise if a rank has too many elements, even without blocks and nops."""
    steps = Counter(move.source for move in plan.moves)
    steps.update(move.target for move in plan.moves if not move.is_local)
    needed = max(steps.values(), default=0) + plan.gpus + 1
    if needed > MAX_ELEMENTS:
        raise _too_many_elements(needed)


def _too_many_elements(needed: int) -> NotExportable:
    return NotExportable(
        "/gpu/elements", f"a rank keeps {MAX_ELEMENTS} elements; {needed} are needed"
    )


def excess(draft: Draft, limits: Runtime) -> NotExportable | None:
    """Return the limit that is exceeded, if any; blocks that are too long come first."""
    longest = max(block.length for blocks in draft.gpus for block in blocks)
    if longest > limits.steps:
        return NotExportable(
            TOO_LONG,
            f"on {limits.name} a thread block may have {limits.steps} steps; {longest} are "
            f"needed on {draft.channels} channels",
        )
    gpus = draft.plan.gpus
    if gpus > MAX_CHILDREN:
        return NotExportable("/ngpus", f"at most {MAX_CHILDREN} GPUs; {gpus} are needed")
    blocks = max(len(gpu) for gpu in draft.gpus)
    if blocks > limits.thread_blocks:
        return NotExportable(
            "/gpu/thread_blocks",
            f"on {limits.name} a GPU may have {limits.thread_blocks} thread blocks; "
            f"{blocks} are needed",
        )
    elements = max(sum(1 + block.length for block in gpu) for gpu in draft.gpus) + gpus + 1
    if elements > MAX_ELEMENTS:
        return _too_many_elements(elements)
    steps = [step for gpu in draft.gpus for block in gpu for step in block.steps]
    awaited = max((step.block.id for step in steps if step.awaited), default=0)
    if awaited > MAX_AWAITED_BLOCK:
        return NotExportable(
            "/gpu/thread_blocks",
            f"others can wait for {MAX_AWAITED_BLOCK + 1} thread blocks of a GPU; "
            f"{awaited + 1} are needed",
        )
    furthest = max((max(step.source[1], step.target[1]) for step in steps), default=0)
    if furthest > MAX_OFFSET:
        return NotExportable(
            "/chunks_per_shard",
            f"a buffer may have {MAX_OFFSET + 1} chunks that steps begin at; "
            f"{furthest + 1} are needed",
        )
    return None
