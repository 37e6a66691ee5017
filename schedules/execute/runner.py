"""`Runner`: collectives on the tensors of a PyTorch process group, by given schedules.

Requires point-to-point operations of torch.distributed: gloo on CPUs, NCCL on GPUs.  Every rank
makes the same `Runner` and calls the same methods in the same order.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.execute.limits import MAX_PIPELINE_CHUNKS
from topoloom.schedules.execute.point_to_point_executor import Carrier, Prepared, Tensor
from topoloom.schedules.execute.programs.plan import plan
from topoloom.schedules.execute.programs.rank_program import program_of
from topoloom.schedules.execute.programs.route_program import programs_of_routes
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)

DEFAULT_PIPELINE_CHUNKS = 4


@dataclass(frozen=True, slots=True)
class Served:
    """A schedule, the least size of the data that selects it, and its number of pipeline chunks."""

    schedule: Schedule
    first_bytes: int = 0
    pipeline_chunks: int = DEFAULT_PIPELINE_CHUNKS

    def __post_init__(self) -> None:
        if not 1 <= self.pipeline_chunks <= MAX_PIPELINE_CHUNKS:
            raise ExecutionFailed("/pipeline_chunks", f"must lie in 1 to {MAX_PIPELINE_CHUNKS}")


@dataclass(slots=True)
class _Bound:
    """Prepared state for one size, type and device: turns, shard bounds, extra memory."""

    prepared: Prepared
    bounds: tuple[int, ...]
    spare: Tensor


class Runner:
    """Runs collectives on tensors by given schedules.

    Args:
        schedules: At least one for each collective to run.  The largest ``first_bytes`` that the
            data reaches selects among several.  They must be valid: they are not verified here.
        group: A group with one rank for each rank of the schedules; rank i of the group is the i-th
            rank of a schedule.  By default the default group.

    Raises:
        ExecutionFailed: PyTorch is missing or has no process group, a schedule's number of ranks
            differs from the group's, or no schedule is given.

    Messages and the memory that they pass through are planned at the first call with a size, type
    and device, and kept.  Sums are in the order of the schedule: the same on every rank and in
    every call, but floating-point sums may differ in their last bits from those of other
    libraries.  Elements may have any type that the backend sends and adds.

    >>> runner = Runner(topoloom.schedule("Circulant(8, 1, 3)", "allreduce"))  # doctest: +SKIP
    >>> runner.all_reduce(gradients)  # doctest: +SKIP
    """

    def __init__(
        self, schedules: "Schedule | Served | Iterable[Schedule | Served]", group: Any = None
    ) -> None:
        given = schedules if isinstance(schedules, Iterable) else [schedules]
        served = [one if isinstance(one, Served) else Served(one) for one in given]
        if not served:
            raise ExecutionFailed("/schedules", "must hold at least one")
        self._carrier = group if isinstance(group, Carrier) else _carrier(group)
        for at, one in enumerate(served):
            ranks = len(ranks_of(one.schedule))
            if ranks != self._carrier.size:
                rule = f"must have the {self._carrier.size} ranks of the group, not {ranks}"
                raise ExecutionFailed(f"/schedules/{at}", rule)
        # Largest first, so that the first match is the right one.
        self._served = sorted(served, key=lambda one: -one.first_bytes)
        self._bound: dict[tuple[Any, ...], _Bound] = {}

    @property
    def rank(self) -> int:
        """This process's rank in the group."""
        return self._carrier.rank

    @property
    def size(self) -> int:
        """The number of ranks of the group."""
        return self._carrier.size

    def schedule_for(self, collective: Collective | str, size_bytes: int) -> Schedule:
        """Return the schedule that runs this number of bytes.

        Raises:
            ExecutionFailed: No schedule of this collective was given.
        """
        return self._choice(Collective.of(collective), size_bytes).schedule

    def all_reduce(self, tensor: Tensor) -> None:
        """Add up a tensor over all ranks, in place."""
        flat = _flat(tensor, "tensor")
        self._run(Collective.ALLREDUCE, flat)

    def broadcast(self, tensor: Tensor) -> None:
        """Give every rank the tensor of the schedule's root, in place."""
        flat = _flat(tensor, "tensor")
        self._run(Collective.BROADCAST, flat)

    def reduce(self, tensor: Tensor) -> None:
        """Add up a tensor at the schedule's root, in place; it stays as it is at other ranks."""
        flat = _flat(tensor, "tensor")
        bound = self._bind(Collective.REDUCE, flat)
        bound.spare.copy_(flat)
        bound.prepared.run([bound.spare])
        schedule = self.schedule_for(Collective.REDUCE, flat.numel() * flat.element_size())
        if isinstance(schedule, TreeSchedule) and schedule.ranks[self.rank] == schedule.root:
            flat.copy_(bound.spare)

    def all_gather(self, output: Tensor, shard: Tensor) -> None:
        """Give every rank the shards of all, in their order.

        ``shard`` may be this rank's part of ``output``.  Shards are of equal size, or of the
        schedule's sizes; a shard that is no whole number of elements is rounded.
        """
        whole, own = _flat(output, "output"), _flat(shard, "shard")
        bound = self._bind(Collective.ALLGATHER, whole)
        place = self._own(bound, whole, own, "shard")
        if place.data_ptr() != own.data_ptr():
            place.copy_(own)
        bound.prepared.run([whole])

    def reduce_scatter(self, output: Tensor, tensor: Tensor) -> None:
        """Add up a tensor over all ranks and give each its shard; the tensor is not changed."""
        whole, own = _flat(tensor, "tensor"), _flat(output, "output")
        bound = self._bind(Collective.REDUCE_SCATTER, whole)
        bound.spare.copy_(whole)
        place = self._own(bound, bound.spare, own, "output")
        bound.prepared.run([bound.spare])
        own.copy_(place)

    def all_to_all(self, output: Tensor, tensor: Tensor) -> None:
        """Send the j-th part of a tensor to rank j; output's i-th part comes from rank i."""
        given, taken = _flat(tensor, "tensor"), _flat(output, "output")
        ranks, rank = self.size, self.rank
        if given.numel() != taken.numel() or given.numel() % ranks:
            rule = f"must have as many elements as tensor, a multiple of the {ranks} ranks"
            raise ExecutionFailed("/output", rule)
        bound = self._bind(Collective.ALL_TO_ALL, given)
        part = slice(given.numel() * rank // ranks, given.numel() * (rank + 1) // ranks)
        taken[part].copy_(given[part])
        bound.prepared.run([given, taken, bound.spare])

    # DistributedDataParallel accepts annotations with its own classes, or none.
    @staticmethod
    def hook(runner: "Runner", bucket):
        """Average a bucket of gradients: a communication hook of DistributedDataParallel.

        ``model.register_comm_hook(runner, Runner.hook)``.
        """
        gradients = bucket.buffer()
        gradients.div_(runner.size)
        runner.all_reduce(gradients)
        future = runner._carrier.torch.futures.Future()
        future.set_result(gradients)
        return future

    def _run(self, collective: Collective, flat: Tensor) -> None:
        bound = self._bind(collective, flat)
        if bound.bounds[-1] == flat.numel():
            bound.prepared.run([flat])
            return
        # In one pass every rank gathers the whole contributions of all and adds them up.
        contributions = bound.spare.view(self.size, -1)
        contributions[self.rank].copy_(flat)
        bound.prepared.run([bound.spare])
        flat.copy_(contributions.sum(dim=0, dtype=flat.dtype))

    def _own(self, bound: _Bound, whole: Tensor, own: Tensor, name: str) -> Tensor:
        """Return this rank's shard of the whole data, which must be as large as ``own``."""
        first, past = bound.bounds[self.rank], bound.bounds[self.rank + 1]
        if own.numel() != past - first or own.dtype != whole.dtype:
            rule = f"must have {past - first} elements of type {whole.dtype} at this rank"
            raise ExecutionFailed(f"/{name}", f"{rule}, not {own.numel()} of {own.dtype}")
        return whole[first:past]

    def _choice(self, collective: Collective, size_bytes: int) -> Served:
        mine = [one for one in self._served if one.schedule.collective is collective]
        if not mine:
            raise ExecutionFailed("/collective", f"no schedule of {collective} was given")
        fitting = (one for one in mine if one.first_bytes <= size_bytes)
        return next(fitting, mine[-1])

    def _bind(self, collective: Collective, whole: Tensor) -> _Bound:
        """Return the prepared state for such a tensor; prepare it on first use."""
        choice = self._choice(collective, whole.numel() * whole.element_size())
        key = (id(choice), whole.numel(), whole.dtype, whole.device)
        if key not in self._bound:
            self._bound[key] = self._prepared(choice, whole)
        return self._bound[key]

    def _prepared(self, choice: Served, whole: Tensor) -> _Bound:
        schedule, elements = choice.schedule, whole.numel()
        if isinstance(schedule, RouteSchedule):
            program = programs_of_routes(schedule, elements)[self.rank]
            spare = whole.new_empty(program.relay)
            return _Bound(self._carrier.prepared(program, whole), (), spare)
        if isinstance(schedule, StepSchedule) and schedule.in_one_pass:
            gathered = whole.new_empty(self.size * elements)
            found = plan(schedule, self.size * elements)
            prepared = self._carrier.prepared(program_of(found, self.rank), gathered)
            return _Bound(prepared, found.bounds, gathered)
        found = plan(schedule, elements, choice.pipeline_chunks)
        program = program_of(found, self.rank)
        spare = whole.new_empty(elements if schedule.collective.inward else 0)
        return _Bound(self._carrier.prepared(program, whole), found.bounds, spare)


def ranks_of(schedule: Schedule) -> tuple[Any, ...]:
    """Return the ranks that take part in a schedule.

    Raises:
        ExecutionFailed: Its parts have different ranks, or no ranks take part.
    """
    if not isinstance(schedule, SequenceSchedule):
        return schedule.ranks
    groups = {part.ranks for part in schedule.parts}
    if len(groups) != 1:
        raise ExecutionFailed("/parts", "must be one or more, all of the same ranks")
    return groups.pop()


def _carrier(group: Any) -> Carrier:
    try:
        return Carrier(group)
    except ImportError:
        raise ExecutionFailed("/group", "needs PyTorch: install topoloom[execute]") from None
    except (ValueError, RuntimeError) as error:
        raise ExecutionFailed("/group", " ".join(str(error).split())) from None


def _flat(tensor: Tensor, name: str) -> Tensor:
    """Return a tensor as one row of elements, in its own memory."""
    if not tensor.is_contiguous():
        raise ExecutionFailed(f"/{name}", "must be contiguous")
    return tensor.detach().view(-1)
