"""MSCCL++ execution plans: JSON for the executor of that library.

`schedules.formats.lowering.buffer_moves` assigns the places of chunks in buffers, `thread_blocks`
the thread blocks.

Threads of a block run independently between two ``nop`` operations.  Hence a ``nop`` stands after
a wait and before data is accessed or a signal is sent, and between an access to data and a signal.

The file names no root and no group that the executor would know: the executor follows the
operations.  ``root`` and ``idle`` at the top are members of this format's own, which the executor
skips; a reader checks the operations against them.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.buffer_moves import plan, require_few_messages
from topoloom.schedules.formats.lowering.chunk_moves import MovePlan
from topoloom.schedules.formats.mscclpp.program import (
    ALIGNMENT,
    COLLECTIVES,
    MAX_BUFFER_BYTES,
    ChannelType,
)
from topoloom.schedules.formats.mscclpp.switch_channels import semaphores, star, star_gpus
from topoloom.schedules.formats.mscclpp.thread_blocks import Draft, DraftBlock, DraftStep, arrange
from topoloom.schedules.formats.targets.fit_runtime import fit_runtime
from topoloom.schedules.formats.targets.runtimes import MSCCLPP_JSON, Runtime, target_runtimes
from topoloom.schedules.formats.targets.size_limits import ALL_SIZES, Sizes, require_instances
from topoloom.schedules.model.schedule import Schedule
from topoloom.schedules.verify import require_valid
from topoloom.synth.topology.topology import Topology


def render(
    schedule: Schedule,
    topology: Topology,
    runtime: Runtime | None = None,
    *,
    inplace: bool = False,
    ranks_per_node: int = 1,
    name: str = "",
    sizes: Sizes = ALL_SIZES,
    instances: int = 1,
) -> str:
    """Return a schedule as an MSCCL++ execution plan.

    Switches disappear: a path through switches is a message from its first to its last GPU.  The
    runtime distributes messages over parallel links.  Exception: if one multicast switch joins all
    GPUs of a machine and every tree is a star over it, the switch copies (`switch_channels`), on
    runtimes named for it.

    Args:
        schedule: Checked first, so only proven schedules are exported.
        runtime: The device; the default is the first of `runtimes.DEFAULTS` that accepts the plan.
        inplace: Whether the plan is for calls whose input lies within their output (or, for a
            reduce-scatter, the reverse).  A plan supports one of the two.
        ranks_per_node: The number of consecutive ranks, from rank 0, on one machine (more
            generally: of GPUs that can store into each other's memory).  They use memory channels,
            all others port channels.  With 1 all channels are port channels, which the executor
            also accepts within a machine.
        name: The executor caches a plan's setup under this name; generated from the content if
            empty.
        sizes: The sizes of data that the plan accepts, and the scratch that it may use.
        instances: The number of parts, on separate lanes, of every message.

    Raises:
        NotExportable: A rank that takes part has no shard and the collective has no root, or a
            limit of the executor cannot be met; the error names the limit and the number needed.

    Chunks are as coarse as the schedule allows, and each is a multiple of 16 bytes: the executor
    refuses other sizes.  The limits on sizes in the file keep every offset within 32 bits.

    >>> from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> blocks = json.loads(render(both, pair, ranks_per_node=2))["gpus"][0]["threadblocks"]
    >>> [[op["name"] for op in block["ops"]] for block in blocks]
    [['copy'], ['rlxsignal', 'wait'], ['rlxwait', 'nop', 'put', 'nop', 'signal']]
    """
    ranks = topology.compute_nodes
    if len(ranks) < 2:
        raise NotExportable("/gpus", "a plan needs at least 2 GPUs")
    if ranks_per_node < 1:
        raise NotExportable("/ranks_per_node", "must be at least 1")
    require_instances(instances)
    require_valid(schedule, topology)

    near = runtime is not None and runtime.multimem and ranks_per_node >= len(ranks)
    shape = star(schedule, topology, inplace, instances) if near else None
    if runtime is not None and shape is not None:
        _require_shards(shape)
        empty = Draft(shape, (), (), shape.scratch)
        head = _head(_require_addressable(empty), sizes, runtime)
        return _text(head, star_gpus(shape, runtime, instances), name)

    def made(candidate: Schedule, limits: Runtime) -> Draft:
        require_few_messages(candidate)
        moves = plan(candidate, ranks, inplace, instances=instances)
        _require_shards(moves)
        return _require_addressable(arrange(moves, limits, instances))

    draft, taken, _ = fit_runtime(schedule, target_runtimes(MSCCLPP_JSON, runtime), made)
    head = _head(draft, sizes, taken)
    gpus = [_gpu(draft, gpu, ranks_per_node) for gpu in range(len(ranks))]
    return _text(head, gpus, name)


def _text(head: dict[str, Any], gpus: list[dict[str, Any]], name: str) -> str:
    """Return the file; its name is derived from its content if none is given."""
    count = len(gpus)
    body = ",\n".join(_lines(gpus))
    digest = hashlib.sha256(f"{json.dumps(head)}{body}".encode()).hexdigest()[:12]
    made_up = f"topoloom-{head['collective']}-{count}-{digest}"
    opening = json.dumps({"name": name or made_up} | head)[:-1]
    return f'{opening}, "gpus": [\n{body}\n]}}\n'


def _lines(gpus: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the text of each GPU, one thread block a line."""
    for gpu in gpus:
        blocks = ",\n".join(map(json.dumps, gpu.pop("threadblocks")))
        yield f'{json.dumps(gpu)[:-1]}, "threadblocks": [\n{blocks}\n]}}'


def _require_shards(plan: MovePlan) -> None:
    """Raise if a GPU that takes part has an empty input or output."""
    for gpu in range(plan.gpus):
        if not all(plan.sizes(gpu)):
            raise NotExportable(
                f"/shards/{gpu}",
                "must not be 0: the executor divides by the chunks of every input and output; "
                "leave the rank out of the participants, or write a broadcast or reduce",
            )


def _largest_chunk(draft: Draft) -> int:
    """Return the largest chunk in bytes for which every offset has 32 bits."""
    most = max(draft.plan.whole, *draft.scratch)
    return MAX_BUFFER_BYTES // most // ALIGNMENT * ALIGNMENT


def _require_addressable(draft: Draft) -> Draft:
    """Return a draft; raise if no size of its chunks keeps all offsets within 32 bits."""
    if _largest_chunk(draft):
        return draft
    most = max(draft.plan.whole, *draft.scratch)
    raise NotExportable(
        "/gpus/scratch_chunks",
        f"a buffer may have {MAX_BUFFER_BYTES // ALIGNMENT} chunks of {ALIGNMENT} bytes; "
        f"{most} are needed",
    )


def _head(draft: Draft, sizes: Sizes, runtime: Runtime) -> dict[str, Any]:
    plan = draft.plan
    whole = plan.whole
    least, most = sizes.within(max(draft.scratch), whole, runtime)
    largest = _largest_chunk(draft) * whole
    if least > largest:
        raise NotExportable("/min_bytes", f"must be at most {largest}: offsets have 32 bits")
    return {
        "collective": COLLECTIVES[plan.collective],
        **_roles(plan),
        "protocol": "Simple",
        "inplace": plan.inplace,
        "reuse_resources": False,
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": ALIGNMENT,
        "min_message_size": max(least, ALIGNMENT * whole),
        "max_message_size": largest if most is None else min(largest, most),
    }


def _roles(plan: MovePlan) -> dict[str, Any]:
    """Return the members for the root and for idle GPUs, if the plan has them."""
    shares = [plan.share(gpu) for gpu in range(plan.gpus)]
    root = {"root": shares.index(plan.whole)} if plan.collective.has_root else {}
    return root | ({"idle": sorted(plan.idle)} if plan.idle else {})


def _gpu(draft: Draft, gpu: int, ranks_per_node: int) -> dict[str, Any]:
    blocks, plan = draft.gpus[gpu], draft.plan
    entering, leaving = plan.sizes(gpu)
    wiring = _Wiring(gpu, blocks, ranks_per_node)
    return {
        "id": gpu,
        "input_chunks": entering,
        "output_chunks": leaving,
        "scratch_chunks": draft.scratch[gpu],
        "channels": [
            {"channel_type": kind.value, "connected_to": peers}
            for kind, peers in wiring.connected.items()
            if peers
        ],
        "remote_buffers": [
            {"rank": peer, "type": buffer, "access_channel_types": [wiring.kind(peer).value]}
            for peer, buffer in wiring.buffers
        ],
        "semaphores": [{"init_value": 0}] * draft.semaphores[gpu],
        # A kernel needs at least one block to start.
        "threadblocks": [wiring.block(at, block) for at, block in enumerate(blocks)]
        or [{"id": 0, "ops": [_NOP], "channels": [], "remote_buffer_refs": []}],
    }


class _Wiring:
    """Channels and remote buffers of one GPU, and its thread blocks in terms of them."""

    def __init__(self, gpu: int, blocks: tuple[DraftBlock, ...], ranks_per_node: int) -> None:
        self.gpu, self.ranks_per_node = gpu, ranks_per_node
        self.connected: dict[ChannelType, list[int]] = {kind: [] for kind in ChannelType}
        self.channels: dict[DraftBlock, int] = {}
        ends = [block for block in blocks if block.peer >= 0]
        # The k-th channel to a peer is joined to its k-th one back: both GPUs must list their lanes
        # in one order, here first the lanes from the smaller rank to the larger.
        for block in sorted(ends, key=lambda end: (end.peer, self._falls(end), end.lane)):
            peers = self.connected[self.kind(block.peer)]
            self.channels[block] = len(peers)
            peers.append(block.peer)
        targets = {
            (block.peer, step.target[0]) for block in ends if block.sends for step in block.steps
        }
        self.buffers = sorted(targets)
        self.buffer_ids = {target: at for at, target in enumerate(self.buffers)}

    def kind(self, peer: int) -> ChannelType:
        """Return the channel type for a peer."""
        near = peer // self.ranks_per_node == self.gpu // self.ranks_per_node
        return ChannelType.MEMORY if near else ChannelType.PORT

    def _falls(self, block: DraftBlock) -> bool:
        source, target = (self.gpu, block.peer) if block.sends else (block.peer, self.gpu)
        return source > target

    def block(self, index: int, block: DraftBlock) -> dict[str, Any]:
        """Return a thread block as a JSON object of the file."""
        if block.peer < 0:
            return {"id": index, "ops": _own_work(block), "channels": [], "remote_buffer_refs": []}
        kind = self.kind(block.peer).value
        buffers = sorted({step.target[0] for step in block.steps}) if block.sends else []
        ids = [self.buffer_ids[block.peer, buffer] for buffer in buffers]
        ops = _sends(block, kind, buffers) if block.sends else _receives(block, kind)
        return {
            "id": index,
            "ops": ops,
            "channels": [{"channel_type": kind, "channel_ids": [self.channels[block]]}],
            "remote_buffer_refs": [{"access_channel_type": kind, "remote_buffer_ids": ids}]
            if ids
            else [],
        }


_NOP = {"name": "nop"}


def _own_work(block: DraftBlock) -> list[dict[str, Any]]:
    ops: list[dict[str, Any]] = []
    for step in block.steps:
        ops += semaphores("sem_acquire", step.acquires)
        if ops:
            ops.append(_NOP)
        ops.append(_copy(step) if step.added is None else _addition(step, step.added))
        if step.releases:
            ops += [_NOP, *semaphores("sem_release", step.releases)]
    return ops


def _copy(step: DraftStep) -> dict[str, Any]:
    return {
        "name": "copy",
        "src_buff": [_local(step.source, step.length)],
        "dst_buff": [_local(step.target, step.length)],
    }


def _sends(block: DraftBlock, kind: str, buffers: list[str]) -> list[dict[str, Any]]:
    channel = {"channel_ids": [0], "channel_type": kind}
    ops: list[dict[str, Any]] = [{"name": "rlxwait"} | channel, _NOP]
    for step in block.steps:
        if step.acquires:
            ops += [*semaphores("sem_acquire", step.acquires), _NOP]
        data = {
            "src_buff": [_local(step.source, step.length)],
            "dst_buff": [
                {
                    "buffer_id": buffers.index(step.target[0]),
                    "index": step.target[1],
                    "size": step.length,
                }
            ],
        }
        if kind == ChannelType.PORT:
            # Put, signal, and wait until the data has left: its place may be reused.
            ops.append({"name": "pwsf"} | data | channel)
        else:
            ops += [
                {"name": "put"} | data | {"channel_type": kind},
                _NOP,
                {"name": "signal"} | channel,
            ]
    return ops


def _receives(block: DraftBlock, kind: str) -> list[dict[str, Any]]:
    channel = {"channel_ids": [0], "channel_type": kind}
    ops: list[dict[str, Any]] = [{"name": "rlxsignal"} | channel]
    for step in block.steps:
        ops.append({"name": "wait"} | channel)
        ops += semaphores("sem_acquire", step.acquires)
        if step.added is not None:
            ops += [_NOP, _addition(step, step.added)]
        if step.releases:
            ops += [_NOP, *semaphores("sem_release", step.releases)]
    return ops


def _addition(step: DraftStep, added: tuple[str, int]) -> dict[str, Any]:
    return {
        "name": "re",
        "src_buff": [_local(added, step.length), _local(step.source, step.length)],
        "dst_buff": [_local(step.target, step.length)],
        "reduce_op": "sum",
    }


def _local(place: tuple[str, int], length: int) -> dict[str, Any]:
    return {"type": place[0], "index": place[1], "size": length}
