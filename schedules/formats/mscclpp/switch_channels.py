"""MSCCL++ plans in which a switch copies and adds: every tree is a star over the switch.

Every GPU that has a shard stores it in the buffers of all GPUs at once (``gstore``).  In an
allreduce the switch adds that part of all buffers and stores the sum in all (``glres``).  The
executor has no operation that only adds, so reduce-scatter and reduce have no such plan.

Start and end.  Some blocks of a GPU own the channels to its peers, `MOST_PEERS` each.  They signal
that the GPU has begun, wait for the same signal of the peers, and release a semaphore for each
working block.  A working block acquires a semaphore of each of them, works, and releases one back.
Then they signal all peers and wait for them, since peers store in this GPU as well.

No deadlock: the signals of beginning wait for nothing; the work waits for these signals; the last
signals wait for the work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.chunk_moves import MovePlan
from topoloom.schedules.formats.mscclpp.program import (
    MAX_SEMAPHORES_PER_OPERATION,
    SWITCH,
    ChannelType,
)
from topoloom.schedules.formats.targets.runtimes import Runtime
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.synth.topology.topology import NodeId, Topology

MOST_PEERS = 8
_NOP = {"name": "nop"}
_SAID = (Collective.ALLGATHER, Collective.BROADCAST, Collective.ALLREDUCE)


def star(schedule: Schedule, topology: Topology, inplace: bool, instances: int) -> MovePlan | None:
    """Return buffers and shards of a schedule that one copying switch can run; None if none can.

    Args:
        schedule: Valid on the topology.
        instances: Chunks of a unit of size.

    Every edge of every tree is a path over the same multicast switch, and joins a rank with the
    root; all compute nodes take part.  O(edges).

    >>> from topoloom.schedules.generate.collectives import make
    >>> links = [link for g in "abc" for link in ((g, "w"), ("w", g))]
    >>> box = Topology("abcw", links, switches="w", multicast="w")
    >>> star(make(box, "allreduce", "forestcoll"), box, True, 2).bounds
    (0, 2, 4, 6)
    >>> star(make(box, "reduce-scatter", "forestcoll"), box, True, 2) is None
    True
    """
    if schedule.collective not in _SAID or isinstance(schedule, RouteSchedule):
        return None
    hubs: set[NodeId] = set()
    sizes: tuple[int, ...] = ()
    for part in schedule_parts(schedule):
        if not isinstance(part, TreeSchedule) or part.idle or (sizes and part.sizes != sizes):
            return None
        sizes = part.sizes
        for tree in part.trees:
            for edge in tree.edges:
                if len(edge) != 3 or tree.root not in (edge[0], edge[-1]):
                    return None
                hubs.add(edge[1])
    if len(hubs) != 1 or not hubs <= topology.multicast:
        return None
    ranks = topology.compute_nodes
    bounds = tuple(accumulate((instances * size for size in sizes), initial=0))
    scratch = (0,) * len(ranks)
    return MovePlan(schedule.collective, len(ranks), instances, inplace, scratch, (), False, bounds)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The number of blocks of each GPU that signal peers, and of those that work."""

    plan: MovePlan
    talking: int
    working: int

    def begun(self, talker: int, worker: int) -> int:
        """Return the semaphore by which a working block waits for the beginning of the peers."""
        return talker * self.working + worker

    def done(self, talker: int, worker: int) -> int:
        """Return the semaphore by which a signaling block waits for the end of the work."""
        return (self.talking + talker) * self.working + worker


def star_gpus(plan: MovePlan, limits: Runtime, instances: int) -> list[dict[str, Any]]:
    """Return the GPUs of a `star` as JSON objects of the file.

    Raises:
        NotExportable: An allgather has a rank without a shard, or a GPU would need more thread
            blocks than can run at once.
    """
    shape = _Shape(plan, -(-(plan.gpus - 1) // MOST_PEERS), instances)
    needed = shape.talking + shape.working
    if needed > limits.thread_blocks:
        raise NotExportable(
            "/gpus/threadblocks",
            f"on {limits.name} a GPU may have {limits.thread_blocks} thread blocks; "
            f"{needed} are needed",
        )
    return [_gpu(shape, gpu) for gpu in range(plan.gpus)]


def _gpu(shape: _Shape, gpu: int) -> dict[str, Any]:
    plan = shape.plan
    entering, leaving = plan.sizes(gpu)
    peers = [peer for peer in range(plan.gpus) if peer != gpu]
    groups = [
        range(at, min(at + MOST_PEERS, len(peers))) for at in range(0, len(peers), MOST_PEERS)
    ]
    adds = plan.collective is Collective.ALLREDUCE
    buffers = ["i", "o"] if adds and not plan.inplace else ["o"]
    blocks = [_talks(shape, at, group) for at, group in enumerate(groups)]
    blocks += [_works(shape, gpu, at, buffers) for at in range(shape.working)]
    return {
        "id": gpu,
        "input_chunks": entering,
        "output_chunks": leaving,
        "scratch_chunks": 0,
        "channels": [
            {"channel_type": ChannelType.MEMORY.value, "connected_to": peers},
            *(
                {
                    "channel_type": SWITCH,
                    "buffer_type": buffer,
                    "rank_groups": [{"size": plan.whole, "ranks": list(range(plan.gpus))}],
                }
                for buffer in buffers
            ),
        ],
        "remote_buffers": [],
        "semaphores": [{"init_value": 0}] * (2 * shape.talking * shape.working),
        "threadblocks": [{"id": at, **block} for at, block in enumerate(blocks)],
    }


def _talks(shape: _Shape, talker: int, channels: range) -> dict[str, Any]:
    """Return a block that signals to its peers the beginning and the end of this GPU's work."""
    kind = ChannelType.MEMORY.value

    def each(name: str) -> Iterable[dict[str, Any]]:
        return (
            {"name": name, "channel_ids": [at], "channel_type": kind} for at in range(len(channels))
        )

    workers = range(shape.working)
    ops = [
        *each("rlxsignal"),
        *each("rlxwait"),
        _NOP,
        *semaphores("sem_release", [shape.begun(talker, at) for at in workers]),
        *semaphores("sem_acquire", [shape.done(talker, at) for at in workers]),
        _NOP,
        *each("signal"),
        *each("wait"),
    ]
    listed = [{"channel_type": kind, "channel_ids": list(channels)}]
    return {"ops": ops, "channels": listed, "remote_buffer_refs": []}


def _works(shape: _Shape, gpu: int, worker: int, buffers: list[str]) -> dict[str, Any]:
    """Return a block that has the switch process its part of a GPU's shard."""
    plan, talkers = shape.plan, range(shape.talking)
    share, start = plan.share(gpu), plan.bounds[gpu]
    low, high = (share * at // shape.working for at in (worker, worker + 1))
    everywhere = {"index": start + low, "size": high - low}
    target = {"switch_channel_id": len(buffers) - 1} | everywhere
    if plan.collective is Collective.ALLREDUCE:
        source = {"switch_channel_id": 0} | everywhere
        work = {"name": "glres", "src_buff": [source], "dst_buff": [target], "reduce_op": "sum"}
    else:
        own = ("o", start + low) if plan.inplace else ("i", low)
        source = {"type": own[0], "index": own[1], "size": high - low}
        work = {"name": "gstore", "src_buff": [source], "dst_buff": [target]}
    ops = [
        *semaphores("sem_acquire", [shape.begun(at, worker) for at in talkers]),
        _NOP,
        *([work | {"channel_type": SWITCH}] if high > low else []),
        _NOP,
        *semaphores("sem_release", [shape.done(at, worker) for at in talkers]),
    ]
    listed = [{"channel_type": SWITCH, "channel_ids": list(range(len(buffers)))}]
    return {"ops": ops, "channels": listed, "remote_buffer_refs": []}


def semaphores(name: str, numbers: list[int]) -> list[dict[str, Any]]:
    """Return operations on the semaphores, each with at most as many as the run time takes."""
    most = MAX_SEMAPHORES_PER_OPERATION
    return [
        {"name": name, "semaphore_ids": numbers[start : start + most]}
        for start in range(0, len(numbers), most)
    ]
