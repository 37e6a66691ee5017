"""`ScheduledGroup`: a process group of torch.distributed whose collectives follow schedules.

The group has two inner groups of the device's own back end: gloo on CPUs, NCCL on GPUs.  One
carries the messages of schedules.  The other one runs every call that no schedule can run: uneven
sizes, reductions other than sum and average, point to point, barriers.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import wraps
from importlib import import_module
from typing import Any

from topoloom.schedules.execute.point_to_point_executor import Carrier, Tensor
from topoloom.schedules.execute.runner import Runner
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.torch_backend.pending_work import CallQueue
from topoloom.schedules.torch_backend.shared_schedules import LOG, FabricOf, SharedSchedules

torch: Any = import_module("torch")
distributed: Any = import_module("torch.distributed")
Group: Any = distributed.ProcessGroup

ADDED = {
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
}  # fmt: skip
"""Types whose elements are added."""

FORWARDED = (
    "allgather_coalesced", "alltoall", "barrier", "gather", "monitored_barrier", "recv",
    "recv_anysource", "scatter", "send",
)  # fmt: skip
"""Operations that always run on the inner back end."""

SCHEDULED = (
    "all_gather_single", "all_gather_single_coalesced", "all_to_all_single", "allgather",
    "allreduce", "allreduce_coalesced", "broadcast", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_single_coalesced",
)  # fmt: skip
"""Operations that run by schedules."""

ALIASES = {
    "_allgather_base": "all_gather_single",
    "_reduce_scatter_base": "reduce_scatter_single",
    "allgather_into_tensor_coalesced": "all_gather_single_coalesced",
    "alltoall_base": "all_to_all_single",
    "reduce_scatter_tensor_coalesced": "reduce_scatter_single_coalesced",
}
"""Former names of operations, which PyTorch before 2.13 calls."""


class ScheduledGroup(Group):
    """A process group whose collectives follow the schedules of a design.

    Args:
        options: Store, rank, size and time limit of the group.
        fabric_of: Returns the fabric for a number of ranks; rank 0 of the group calls it.

    A schedule runs dense, contiguous tensors of equal sizes.  Sums are in the order of the
    schedule: the same in every call and on every rank.  Asynchronous calls run in one thread, in
    the order of the calls; a call on a GPU is queued on the current stream.
    """

    def __init__(self, options: Any, fabric_of: FabricOf) -> None:
        store, rank, size = options.store, options.group_rank, options.group_size
        super().__init__(rank, size)
        self._inner = _inner_group("inner", options)
        self._carrier = Carrier(_inner_group("scheduled", options), registered=False)
        own = distributed.PrefixStore("schedules", store)
        self._schedules = SharedSchedules(own, rank, size, fabric_of)
        self._runners: dict[tuple[Collective, int | None], Runner | None] = {}
        self._logged: set[tuple[Collective, str]] = set()
        self._queue = CallQueue()
        for device in self._inner._device_types:
            backend = self._inner._get_backend(device)
            self._register_backend(device, Group.BackendType.CUSTOM, backend)

    def getBackendName(self) -> str:  # noqa: N802 - the name that PyTorch calls
        """Return the name of the back end."""
        return "topoloom"

    def allreduce(self, tensors: Sequence[Tensor], opts: Any) -> Any:
        """Add up or average tensors over all ranks, in place."""
        return self._call(
            ("allreduce", tensors, opts), Collective.ALLREDUCE, tensors, tensors,
            lambda runner: _each(runner.all_reduce, tensors),
        )  # fmt: skip

    def allreduce_coalesced(self, tensors: Sequence[Tensor], opts: Any) -> Any:
        """Add up or average several tensors over all ranks, in place."""
        return self._call(
            ("allreduce_coalesced", tensors, opts), Collective.ALLREDUCE, tensors, tensors,
            lambda runner: _each(runner.all_reduce, tensors),
        )  # fmt: skip

    def broadcast(self, tensors: Sequence[Tensor], opts: Any) -> Any:
        """Give every rank the tensors of one."""
        return self._call(
            ("broadcast", tensors, opts), Collective.BROADCAST, tensors, tensors,
            lambda runner: _each(runner.broadcast, tensors), root=opts.rootRank,
        )  # fmt: skip

    def reduce(self, tensors: Sequence[Tensor], opts: Any) -> Any:
        """Add up or average tensors at one rank; they stay as they are at the others."""
        return self._call(
            ("reduce", tensors, opts), Collective.REDUCE, tensors,
            tensors if opts.rootRank == self.rank() else [],
            lambda runner: _each(runner.reduce, tensors), root=opts.rootRank,
        )  # fmt: skip

    def all_gather_single(self, output: Tensor, shard: Tensor, opts: Any) -> Any:
        """Give every rank the shards of all, in one tensor."""
        return self._call(
            ("all_gather_single", output, shard, opts), Collective.ALLGATHER, [output, shard],
            [output], lambda runner: runner.all_gather(output, shard),
            equal=output.numel() == shard.numel() * self.size(),
        )  # fmt: skip

    def all_gather_single_coalesced(
        self, outputs: Sequence[Tensor], shards: Sequence[Tensor], opts: Any
    ) -> Any:
        """Give every rank the shards of all, for several tensors."""
        return self._call(
            ("all_gather_single_coalesced", outputs, shards, opts), Collective.ALLGATHER,
            [*outputs, *shards], outputs, lambda runner: _each(runner.all_gather, outputs, shards),
            equal=_times(outputs, shards, self.size()),
        )  # fmt: skip

    def allgather(
        self, outputs: Sequence[Sequence[Tensor]], shards: Sequence[Tensor], opts: Any
    ) -> Any:
        """Give every rank the shards of all, each in a tensor of its own."""

        def run(runner: Runner) -> None:
            whole = shards[0].new_empty(self.size() * shards[0].numel())
            runner.all_gather(whole, shards[0])
            _part(whole, outputs[0])

        return self._call(
            ("allgather", outputs, shards, opts), Collective.ALLGATHER, [*shards, *outputs[0]],
            outputs[0], run, equal=_alike(shards[0], outputs[0]),
        )  # fmt: skip

    def reduce_scatter_single(self, output: Tensor, tensor: Tensor, opts: Any) -> Any:
        """Add up or average a tensor over all ranks and give each rank its shard."""
        return self._call(
            ("reduce_scatter_single", output, tensor, opts), Collective.REDUCE_SCATTER,
            [output, tensor], [output], lambda runner: runner.reduce_scatter(output, tensor),
            equal=tensor.numel() == output.numel() * self.size(),
        )  # fmt: skip

    def reduce_scatter_single_coalesced(
        self, outputs: Sequence[Tensor], tensors: Sequence[Tensor], opts: Any
    ) -> Any:
        """Add up or average several tensors and give each rank its shards."""
        return self._call(
            ("reduce_scatter_single_coalesced", outputs, tensors, opts),
            Collective.REDUCE_SCATTER, [*outputs, *tensors], outputs,
            lambda runner: _each(runner.reduce_scatter, outputs, tensors),
            equal=_times(tensors, outputs, self.size()),
        )  # fmt: skip

    def reduce_scatter(
        self, outputs: Sequence[Tensor], inputs: Sequence[Sequence[Tensor]], opts: Any
    ) -> Any:
        """Add up or average tensors, one for each rank, and give each rank its own."""
        return self._call(
            ("reduce_scatter", outputs, inputs, opts), Collective.REDUCE_SCATTER,
            [*outputs, *inputs[0]], outputs,
            lambda runner: runner.reduce_scatter(outputs[0], _joined(inputs[0])),
            equal=_alike(outputs[0], inputs[0]),
        )  # fmt: skip

    def all_to_all_single(
        self,
        output: Tensor,
        tensor: Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
        opts: Any,
    ) -> Any:
        """Send the j-th part of a tensor to rank j."""
        return self._call(
            ("all_to_all_single", output, tensor, output_sizes, input_sizes, opts),
            Collective.ALL_TO_ALL, [output, tensor], [output],
            lambda runner: runner.all_to_all(output, tensor),
            # Sizes that are stated may be equal at this rank and unequal at another one.
            equal=not (output_sizes or input_sizes) and output.numel() == tensor.numel(),
        )  # fmt: skip

    def shutdown(self) -> None:
        """Wait for all calls and close the connections."""
        self._queue.close()
        self._inner.shutdown()

    def _call(
        self,
        forwarded: tuple[Any, ...],
        collective: Collective,
        tensors: Sequence[Tensor],
        filled: Sequence[Tensor],
        run: Callable[[Runner], object],
        *,
        root: int | None = None,
        equal: bool = True,
    ) -> Any:
        """Run a collective by its schedule if it can, or forward it; return its work.

        ``forwarded`` is the name of the inner group's method and its arguments, options last.
        """
        name, *arguments = forwarded
        options = arguments[-1]
        operation = getattr(options, "reduceOp", None)
        reason = _no_schedule(tensors, operation) if equal else "sizes are stated or uneven"
        runner = None if reason else self._runner(collective, root)
        if reason and (collective, reason) not in self._logged:
            self._logged.add((collective, reason))
            LOG.info("%s runs without a schedule: %s", collective, reason)
        if runner is None:
            return getattr(self._inner, name)(*arguments)

        timeout = self._timeout(options, tensors[0].device)

        def call() -> None:
            self._carrier.timeout = timeout
            run(runner)
            if operation == distributed.ReduceOp.AVG:
                _each(lambda tensor: tensor.div_(self.size()), filled)

        on_gpu = tensors[0].is_cuda
        waits = not getattr(options, "asyncOp", True)
        return self._queue.run(call, filled, in_background=not (waits or on_gpu))

    def _timeout(self, options: Any, device: Any) -> timedelta | None:
        """Return the time limit of a call: the one that it states, else that of the group."""
        if options.timeout >= timedelta(0):
            return options.timeout
        if device.type == "cpu":
            return self._inner._get_backend(device).options._timeout
        return None

    def _runner(self, collective: Collective, root: int | None) -> Runner | None:
        """Return the runner of a collective, or None if it has no schedule."""
        key = collective, root
        if key not in self._runners:
            served = self._schedules.of(collective, root) if self.size() > 1 else ()
            self._runners[key] = Runner(served, self._carrier) if served else None
        return self._runners[key]


def _forwarding(name: str) -> Callable[..., Any]:
    def forwarded(self: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(self._inner, name)(*arguments, **options)

    return forwarded


def _with_short_forms(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that also takes the short forms of PyTorch, such as `allreduce(tensor)`.

    The base class turns a short form into lists and options, and calls the method with them.
    """

    @wraps(method)
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        if not options and hasattr(arguments[-1], "timeout"):
            return method(self, *arguments)
        return getattr(Group, method.__name__)(self, *arguments, **options)

    return called


for _name in FORWARDED:
    setattr(ScheduledGroup, _name, _forwarding(_name))
for _name in SCHEDULED:
    setattr(ScheduledGroup, _name, _with_short_forms(getattr(ScheduledGroup, _name)))
for _name, _present in ALIASES.items():
    setattr(ScheduledGroup, _name, getattr(ScheduledGroup, _present))


def _inner_group(name: str, options: Any) -> Any:
    """Return a process group of gloo on CPUs and, where PyTorch has it, of NCCL on GPUs."""
    store = distributed.PrefixStore(name, options.store)
    rank, size, limit = options.group_rank, options.group_size, options.timeout
    group = Group(store, rank, size)
    kind = Group.BackendType.GLOO
    gloo = distributed.ProcessGroupGloo(
        distributed.PrefixStore("cpu", store), rank, size, timeout=limit
    )
    group._register_backend(torch.device("cpu"), kind, gloo)
    group._set_default_backend(kind)
    if torch.cuda.is_available() and distributed.is_nccl_available():
        given = distributed.ProcessGroupNCCL.Options()
        given._timeout = limit
        nccl = distributed.ProcessGroupNCCL(
            distributed.PrefixStore("cuda", store), rank, size, given
        )
        group._register_backend(torch.device("cuda"), Group.BackendType.NCCL, nccl)
    return group


def _no_schedule(tensors: Sequence[Tensor], operation: Any) -> str | None:
    """Return why no schedule can run these tensors with this reduction, or None."""
    first = tensors[0]
    if operation is not None:
        average = operation == distributed.ReduceOp.AVG and first.is_floating_point()
        if first.dtype not in ADDED or not (average or operation == distributed.ReduceOp.SUM):
            return "the reduction is no sum of numbers and no average of fractions"
    dense = all(one.layout == torch.strided and one.is_contiguous() for one in tensors)
    if not dense or any(one.numel() == 0 for one in tensors):
        return "a tensor is sparse, not contiguous or empty"
    if any(one.dtype != first.dtype or one.device != first.device for one in tensors):
        return "the tensors have several types or devices"
    return None


def _alike(one: Tensor, others: Sequence[Tensor]) -> bool:
    return all(other.numel() == one.numel() for other in others)


def _times(long: Sequence[Tensor], short: Sequence[Tensor], ranks: int) -> bool:
    pairs = zip(long, short, strict=True)
    return all(one.numel() == ranks * other.numel() for one, other in pairs)


def _each(run: Callable[..., object], *lists: Sequence[Tensor]) -> None:
    for arguments in zip(*lists, strict=True):
        run(*arguments)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([one.detach().view(-1) for one in tensors])


def _part(whole: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copy equal parts of a tensor into others."""
    for part, tensor in zip(whole.chunk(len(tensors)), tensors, strict=True):
        tensor.detach().view(-1).copy_(part)
