"""Read MSCCL++ execution plans: from text to a program that keeps the executor's rules.

The reader accepts the operations that move and add data between ranks without packets: the part
of the format that the replay can follow.  A switch must join all GPUs.  The reader shares no code
with the writer.

Required members, defaults of missing members and the skipping of unknown members follow
``ExecutionPlan::Impl`` in microsoft/mscclpp 0.9.0, src/core/executor/execution_plan.cc.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.json_fields import Fields
from topoloom.schedules.formats.mscclpp.program import (
    ALIGNMENT,
    BUFFERS,
    COLLECTIVES,
    EVERY_GPU,
    MAX_BUFFER_BYTES,
    MAX_CHANNELS,
    MAX_CHUNKS,
    MAX_GPUS,
    MAX_SEMAPHORES_PER_OPERATION,
    MEMBERS,
    NAMES,
    PUTS,
    SEMAPHORES,
    SWITCH,
    SWITCHED,
    Block,
    ChannelType,
    Chunks,
    Gpu,
    Operation,
    Program,
)
from topoloom.schedules.formats.targets.runtimes import MSCCLPP_JSON, Runtime, target_runtimes
from topoloom.schedules.model.schedule import Collective

_SHARED = {Collective.ALLGATHER: "i", Collective.REDUCE_SCATTER: "o"}
"""The buffer in which every GPU holds only its shard."""
_MOST = 2**64 - 1
"""Default of the executor for a missing ``max_message_size``."""


def parse(text: str, runtime: Runtime | None = None) -> Program:
    """Return the program in a file, if the executor would accept it.

    The default runtime is the largest device.

    >>> parse("{}")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /name: must be a text
    """
    limits = target_runtimes(MSCCLPP_JSON, runtime)[-1]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidProgram("", f"must be JSON: {error}") from None
    top = Fields.of(document, "")
    name = top.text("name")
    names = {name: collective for collective, name in COLLECTIVES.items()}
    collective = names[top.choice("collective", tuple(names))]
    top.choice("protocol", ("Simple",))
    inplace = top.flag("inplace")
    if inplace and collective is Collective.ALL_TO_ALL:
        raise InvalidProgram("/inplace", "an all-to-all needs an output of its own")
    for flag in ("reuse_resources", "use_double_scratch_buffer"):
        if top.values.get(flag, False) is not False:
            raise InvalidProgram(f"/{flag}", "must be false")
    gpus = top.objects("gpus", 2, MAX_GPUS)
    sizes = [_sizes(gpu) for gpu in gpus]
    idle = _idle(top, collective, len(gpus))
    bounds = _bounds(top, collective, sizes, idle)
    chunks = bounds[-1]
    _check_bytes(top, chunks, sizes)
    made = tuple(_gpu(gpu, at, sizes, limits) for at, gpu in enumerate(gpus))
    _check_pairs(made)
    for at, gpu in enumerate(made):
        if gpu.switches != made[0].switches:
            raise InvalidProgram(f"/gpus/{at}/channels", "must have the switch channels of GPU 0")
    return Program(name, collective, inplace, chunks, made, bounds, idle)


def sizes_of(text: str) -> tuple[int, int]:
    """Return the least and the largest size that a plan accepts; the plan must satisfy `parse`.

    >>> sizes_of('{"min_message_size": 32, "max_message_size": 96}')
    (32, 96)
    """
    top = Fields.of(json.loads(text), "")
    return top.number("min_message_size", 0, _MOST, 0), _most_bytes(top)


def ignored_members(text: str) -> Counter[str]:
    """Return the members of a plan that the executor skips, with the count of each.

    >>> ignored_members('{"name": "a", "author": "b", "gpus": [{"id": 0, "note": 1}, {"note": 2}]}')
    Counter({'member note of gpus': 2, 'member author': 1})
    """
    found: Counter[str] = Counter()
    _collect(json.loads(text), MEMBERS, "", found)
    return found


def _collect(value: Any, known: Mapping[str, Any], holder: str, found: Counter[str]) -> None:
    for entry in value if isinstance(value, list) else (value,):
        for key, inner in entry.items() if isinstance(entry, dict) else ():
            if key in known:
                _collect(inner, known[key], key, found)
            else:
                found[f"member {key} of {holder}" if holder else f"member {key}"] += 1


def _most_bytes(top: Fields) -> int:
    return top.number("max_message_size", 0, _MOST, _MOST)


def _sizes(gpu: Fields) -> dict[str, int]:
    return {
        "i": gpu.number("input_chunks", 1, MAX_CHUNKS),
        "o": gpu.number("output_chunks", 1, MAX_CHUNKS),
        "s": gpu.number("scratch_chunks", 0, MAX_CHUNKS),
    }


def _idle(top: Fields, collective: Collective, gpus: int) -> frozenset[int]:
    """Return the GPUs that take no part."""
    if "idle" not in top.values:
        return frozenset()
    if collective is Collective.ALL_TO_ALL:
        raise InvalidProgram("/idle", "an all-to-all is among all GPUs")
    idle = top.numbers("idle", 0, gpus - 1, 0, gpus - 2)
    if len(set(idle)) < len(idle):
        raise InvalidProgram("/idle", "must name a GPU once")
    return frozenset(idle)


def _bounds(
    top: Fields, collective: Collective, sizes: list[dict[str, int]], idle: frozenset[int]
) -> tuple[int, ...]:
    """Return the bounds of the shard of each GPU, in chunks of the whole.

    Buffers that hold all data have the same length on all GPUs, and the shards make it up.  GPUs
    that take no part hold all data in input and output.
    """
    shared = _SHARED.get(collective)
    whole = sizes[0]["o" if shared == "i" else "i"]
    if collective.has_root:
        root = top.number("root", 0, len(sizes) - 1)
        if root in idle:
            raise InvalidProgram("/root", "must take part")
        shares = [whole if at == root else 0 for at in range(len(sizes))]
    elif shared:
        shares = [0 if at in idle else size[shared] for at, size in enumerate(sizes)]
    else:
        if whole % len(sizes) and collective is Collective.ALL_TO_ALL:
            raise InvalidProgram("/gpus/0", "its chunks must be a multiple of the GPUs")
        ends = [whole * at // len(sizes) for at in range(len(sizes) + 1)]
        shares = [high - low for low, high in pairwise(ends)]
    for at, size in enumerate(sizes):
        full = [size[buffer] for buffer in "io" if at in idle or buffer != shared]
        if set(full) != {whole}:
            raise InvalidProgram(f"/gpus/{at}", f"must hold all {whole} chunks, as GPU 0 does")
    if sum(shares) != whole:
        raise InvalidProgram(
            "/gpus", f"must have shards of {whole} chunks in all, not of {sum(shares)}"
        )
    return tuple(accumulate(shares, initial=0))


def _check_bytes(top: Fields, chunks: int, sizes: list[dict[str, int]]) -> None:
    """Raise if an accepted size has offsets of more than 32 bits."""
    alignment = top.number("buffer_alignment", 1, 4096, ALIGNMENT)
    top.number("min_message_size", 0, _MOST, 0)
    largest = _most_bytes(top) // chunks // alignment * alignment
    longest = max(max(size.values()) for size in sizes)
    if largest * longest > MAX_BUFFER_BYTES:
        most = (MAX_BUFFER_BYTES // longest // alignment + 1) * alignment * chunks - 1
        rule = f"must be at most {most}, to keep every offset within 32 bits"
        raise InvalidProgram("/max_message_size", rule)


def _gpu(gpu: Fields, index: int, sizes: list[dict[str, int]], limits: Runtime) -> Gpu:
    gpu.number("id", index, index)
    peers: dict[ChannelType, tuple[int, ...]] = {}
    switches: list[str] = []
    for channel in gpu.objects("channels", 0, len(ChannelType) + len(BUFFERS)):
        if channel.values.get("channel_type") == SWITCH:
            switches.append(_switch(channel, len(sizes)))
            continue
        kind = ChannelType(channel.choice("channel_type", tuple(ChannelType)))
        if kind in peers:
            raise InvalidProgram(f"{channel.place}/channel_type", "must be listed once")
        peers[kind] = tuple(channel.numbers("connected_to", 0, len(sizes) - 1))
        if index in peers[kind]:
            raise InvalidProgram(f"{channel.place}/connected_to", "must not hold the GPU itself")
    remote = [_remote(entry, index, len(sizes)) for entry in gpu.objects("remote_buffers")]
    semaphores = tuple(
        entry.number("init_value", 0, 2**31 - 1) for entry in gpu.optional_objects("semaphores")
    )
    blocks = gpu.objects("threadblocks", 1, limits.thread_blocks)
    if switches and not limits.multimem:
        raise InvalidProgram(f"{gpu.place}/channels", f"{limits.device} has no switch channels")
    reader = _Reader(index, sizes, peers, remote, len(semaphores), limits.steps, switches)
    made = tuple(reader.block(block, at) for at, block in enumerate(blocks))
    return Gpu(sizes[index], peers, semaphores, made, tuple(switches))


def _switch(channel: Fields, gpus: int) -> str:
    """Return the buffer of a channel over a switch; the switch must join all GPUs."""
    (group,) = channel.objects("rank_groups", 1, 1)
    group.number("size", 1, MAX_CHUNKS)
    if sorted(group.numbers("ranks", 0, gpus - 1)) != list(range(gpus)):
        raise InvalidProgram(f"{group.place}/ranks", "must be all GPUs")
    return channel.choice("buffer_type", BUFFERS)


def _remote(entry: Fields, index: int, gpus: int) -> tuple[int, str, frozenset[str]]:
    rank = entry.number("rank", 0, gpus - 1)
    if rank == index:
        raise InvalidProgram(f"{entry.place}/rank", "must be another GPU")
    kinds = entry.values.get("access_channel_types")
    if not isinstance(kinds, list) or not set(map(str, kinds)) <= set(ChannelType):
        raise InvalidProgram(f"{entry.place}/access_channel_types", "must list types of channels")
    return rank, entry.choice("type", BUFFERS), frozenset(kinds)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Channels, buffers and semaphores that the thread blocks of one GPU refer to."""

    gpu: int
    sizes: list[dict[str, int]]
    peers: Mapping[ChannelType, tuple[int, ...]]
    remote: list[tuple[int, str, frozenset[str]]]
    semaphores: int
    most_operations: int
    switches: list[str]

    def block(self, block: Fields, at: int) -> Block:
        """Return a thread block; operations name its own channels and buffers by position."""
        block.number("id", at, at)
        channels: dict[ChannelType, list[int]] = {kind: [] for kind in ChannelType}
        switches: list[str] = []
        for entry in block.objects("channels"):
            if entry.values.get("channel_type") == SWITCH:
                ids = entry.numbers("channel_ids", 0, len(self.switches) - 1, 0, MAX_CHANNELS)
                switches += [self.switches[number] for number in ids]
                continue
            kind = ChannelType(entry.choice("channel_type", tuple(ChannelType)))
            most = len(self.peers.get(kind, ())) - 1
            channels[kind] += entry.numbers("channel_ids", 0, most)
        buffers: dict[ChannelType, list[int]] = {kind: [] for kind in ChannelType}
        for entry in block.optional_objects("remote_buffer_refs"):
            kind = ChannelType(entry.choice("access_channel_type", tuple(ChannelType)))
            ids = entry.numbers("remote_buffer_ids", 0, len(self.remote) - 1)
            if any(kind not in self.remote[number][2] for number in ids):
                raise InvalidProgram(entry.place, f"must be reached by {kind} channels")
            buffers[kind] += ids
        for kind in ChannelType:
            if max(len(channels[kind]), len(buffers[kind])) > MAX_CHANNELS:
                raise InvalidProgram(
                    block.place, f"may have {MAX_CHANNELS} {kind} channels and remote buffers"
                )
        ops = block.objects("ops", 0, self.most_operations)
        return Block(tuple(self._operation(op, channels, buffers, switches) for op in ops))

    def _operation(
        self,
        op: Fields,
        channels: dict[ChannelType, list[int]],
        buffers: dict[ChannelType, list[int]],
        switches: list[str],
    ) -> Operation:
        name = op.choice("name", NAMES)
        if "tbg_info" in op.values:
            raise InvalidProgram(f"{op.place}/tbg_info", "must be missing: no split is followed")
        if name == "nop":
            return Operation(name)
        if name in SEMAPHORES:
            numbers = op.numbers(
                "semaphore_ids", 0, self.semaphores - 1, 1, MAX_SEMAPHORES_PER_OPERATION
            )
            return Operation(name, semaphores=tuple(numbers))
        if name in ("copy", "re"):
            return self._local_work(op, name)
        if name in SWITCHED:
            return self._switched(op, name, switches)
        kind = ChannelType(op.choice("channel_type", tuple(ChannelType)))
        if name in PUTS and (name == "pwsf") != (kind is ChannelType.PORT):
            raise InvalidProgram(
                op.place, "must be put on memory channels and pwsf on port channels"
            )
        channel = None
        if name != "put":
            position = op.numbers("channel_ids", 0, len(channels[kind]) - 1, 1, 1)[0]
            channel = kind, channels[kind][position]
        if name not in PUTS:
            return Operation(name, channel=channel)
        source = self._local(_only(op, "src_buff"))
        target = self._remote(_only(op, "dst_buff"), buffers[kind])
        if source.count != target.count:
            raise InvalidProgram(op.place, "must have source and target of one size")
        if channel is not None and self.peers[kind][channel[1]] != target.gpu:
            raise InvalidProgram(op.place, "must signal the GPU whose buffer it writes")
        return Operation(name, (source,), target, channel)

    def _local_work(self, op: Fields, name: str) -> Operation:
        """Read a copy, or an addition, within the GPU."""
        least, most = (2, 3) if name == "re" else (1, 1)
        if name == "re":
            op.choice("reduce_op", ("sum",))
        sources = tuple(self._local(entry) for entry in op.objects("src_buff", least, most))
        target = self._local(_only(op, "dst_buff"))
        if any(source.count != target.count for source in sources):
            raise InvalidProgram(op.place, "must have sources and target of one size")
        return Operation(name, sources, target)

    def _switched(self, op: Fields, name: str, switches: list[str]) -> Operation:
        """Read an operation of a switch: copy, or add and copy."""
        op.choice("channel_type", (SWITCH,))
        if name == "glres":
            op.choice("reduce_op", ("sum",))
            source = self._everywhere(_only(op, "src_buff"), switches)
        else:
            source = self._local(_only(op, "src_buff"))
        target = self._everywhere(_only(op, "dst_buff"), switches)
        if source.count != target.count:
            raise InvalidProgram(op.place, "must have source and target of one size")
        return Operation(name, (source,), target)

    def _everywhere(self, entry: Fields, switches: list[str]) -> Chunks:
        buffer = switches[entry.number("switch_channel_id", 0, len(switches) - 1)]
        smallest = min(range(len(self.sizes)), key=lambda gpu: self.sizes[gpu][buffer])
        return self._chunks(entry, smallest, buffer, EVERY_GPU)

    def _local(self, entry: Fields) -> Chunks:
        return self._chunks(entry, self.gpu, entry.choice("type", BUFFERS))

    def _remote(self, entry: Fields, buffers: list[int]) -> Chunks:
        position = entry.number("buffer_id", 0, len(buffers) - 1)
        rank, buffer, _ = self.remote[buffers[position]]
        return self._chunks(entry, rank, buffer)

    def _chunks(self, entry: Fields, gpu: int, buffer: str, where: int | None = None) -> Chunks:
        """Return chunks within a buffer of the GPU, or of the GPUs ``where``."""
        size = self.sizes[gpu][buffer]
        count = entry.number("size", 1, max(1, size))
        first = entry.number("index", 0, size - count)
        return Chunks(gpu if where is None else where, buffer, first, count)


def _only(op: Fields, key: str) -> Fields:
    return op.objects(key, 1, 1)[0]


def _check_pairs(gpus: tuple[Gpu, ...]) -> None:
    """Raise unless any two GPUs have equally many channels to each other, by type."""
    for index, gpu in enumerate(gpus):
        for kind, peers in gpu.peers.items():
            for peer in set(peers):
                back = gpus[peer].peers.get(kind, ()).count(index)
                if peers.count(peer) != back:
                    raise InvalidProgram(
                        f"/gpus/{index}/channels",
                        f"must have as many {kind} channels to GPU {peer} as that has back",
                    )
