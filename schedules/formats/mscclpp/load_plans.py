"""Register the MSCCL++ plans in a folder, and select one for each call by its size and ranks.

This file needs MSCCL++ 0.9 alone; a set of files holds a copy beside its folder of plans.  Before
a program makes its NCCL communicator, with libmscclpp_nccl.so preloaded, every rank calls::

    import load_plans

    load_plans.register(rank, ranks)

Calls that no plan serves run as without this file.  Plans for several numbers of ranks may share
the folder.  A selector of MSCCL++ does not know the reduction, and every plan adds.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent / "programs"

TYPES = frozenset({"float16", "float32", "bfloat16", "int32", "uint32"})
"""Types of elements that every build of the executor runs."""

DRIVERS = (("libcuda.so.1", "cuMemGetAddressRange_v2"), ("libamdhip64.so", "hipMemGetAddressRange"))

GATHERED, SCATTERED = "allgather", "reducescatter"


@dataclass(frozen=True)
class Plan:
    """The calls that a plan serves.

    ``chunks`` are the input and output chunks of the ranks, ``joined`` the pairs of ranks that must
    share a machine, ``root`` the root of a broadcast, ``sent`` the buffers sent over ports.
    """

    path: Path
    name: str
    collective: str
    inplace: bool
    sizes: tuple[int, int]
    alignment: int
    ranks: int
    chunks: frozenset[tuple[int, int]]
    joined: frozenset[tuple[int, int]]
    root: int | None
    sent: frozenset[str]

    def serves(self, request: Any) -> bool:
        """Return whether the plan serves a call.

        The answer is the same on every rank if buffers lie at the same place of their allocations
        on all ranks.  The executor needs that for every plan.
        """
        if (request.collective, request.world_size) != (self.collective, self.ranks):
            return False
        entering, leaving = buffers(request)
        least, most = self.sizes
        unit = self.alignment
        per_node = request.n_ranks_per_node
        return (
            request.dtype.name in TYPES
            and least <= max(entering, leaving) <= most
            and in_place(request) == self.inplace
            and all(
                entering % (unit * first) == 0 == leaving % (unit * last)
                and entering // first == leaving // last
                for first, last in self.chunks
            )
            and all(one // per_node == other // per_node for one, other in self.joined)
            and (self.root is None or list(request.hints.get("root", ())) == [self.root])
            and not ("i" in self.sent and place(request.input_buffer))
            and not ("o" in self.sent and place(request.output_buffer))
        )


def buffers(request: Any) -> tuple[int, int]:
    """Return the bytes of the input and of the output of a call, at each rank."""
    size, ranks = request.message_size, request.world_size
    if request.collective == GATHERED:
        return size, size * ranks
    return size, size // ranks if request.collective == SCATTERED else size


def in_place(request: Any) -> bool:
    """Return whether a call has one buffer: a shard lies within the whole data."""
    entering, leaving = buffers(request)
    first, last = request.input_buffer, request.output_buffer
    if request.collective == GATHERED:
        return first == last + request.rank * entering
    return last == first + (request.rank * leaving if request.collective == SCATTERED else 0)


def place(address: int) -> int:
    """Return the place of a buffer in its allocation on the GPU, in bytes.

    The executor of MSCCL++ 0.9.0 sends over port channels from the start of the allocation.
    """
    for library, name in DRIVERS:
        try:
            lookup = getattr(ctypes.CDLL(library), name)
        except OSError:
            continue
        start, size = ctypes.c_void_p(), ctypes.c_size_t()
        if lookup(ctypes.byref(start), ctypes.byref(size), ctypes.c_void_p(address)):
            raise ValueError(f"no buffer on a GPU: {address:#x}")
        return address - (start.value or 0)
    raise OSError("neither libcuda.so.1 nor libamdhip64.so is installed")


def read_plan(path: Path, document: Any) -> Plan:
    """Return what the JSON document of a plan states about its calls."""
    gpus = document["gpus"]
    return Plan(
        path=path,
        name=document["name"],
        collective=document["collective"],
        inplace=document["inplace"],
        sizes=(document["min_message_size"], document["max_message_size"]),
        alignment=document["buffer_alignment"],
        ranks=len(gpus),
        chunks=frozenset((gpu["input_chunks"], gpu["output_chunks"]) for gpu in gpus),
        joined=frozenset(
            (gpu["id"], peer)
            for gpu in gpus
            for channel in gpu["channels"]
            if channel["channel_type"] != "port"
            for peer in peers(channel)
        ),
        root=document.get("root"),
        sent=frozenset(
            entry["type"]
            for gpu in gpus
            for block in gpu["threadblocks"]
            for operation in block["ops"]
            if operation.get("channel_type") == "port"
            for entry in operation.get("src_buff", ())
        ),
    )


def peers(channel: Any) -> list[int]:
    """Return the ranks at the other ends of a channel, or of a switch."""
    groups = [group["ranks"] for group in channel.get("rank_groups", ())]
    return [*channel.get("connected_to", ()), *(rank for group in groups for rank in group)]


def read_plans(folder: Path = FOLDER) -> list[Plan]:
    """Read the plans of a folder, without those of groups: NCCL has no call for them."""
    documents = {path: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    return [
        read_plan(path, document) for path, document in documents.items() if "idle" not in document
    ]


def chosen(plans: Iterable[Plan], request: Any) -> Plan | None:
    """Return the plan that serves a call; of several, the one for the largest sizes."""
    serving = [plan for plan in plans if plan.serves(request)]
    return max(serving, key=lambda plan: (plan.sizes[0], plan.name), default=None)


def register(rank: int, ranks: int, folder: Path = FOLDER) -> None:
    """Register the plans of a folder with MSCCL++, and set the selector that chooses among them.

    A communicator of all ranks runs the plans.  Smaller ones do not: their ranks have other links.

    Args:
        rank, ranks: Rank of this process; number of processes.
        folder: Folder of the plans.
    """
    mscclpp, ext = import_module("mscclpp"), import_module("mscclpp.ext")
    builder = ext.AlgorithmCollectionBuilder()
    plans = [plan for plan in read_plans(folder) if plan.ranks == ranks]
    for plan in plans:
        loaded = mscclpp.ExecutionPlan(str(plan.path), rank)
        # The algorithm states no number of ranks, so only the selector below returns it.  The
        # selector of MSCCL++ ignores multiples of the size, types and roots.
        builder.add_algorithm_builder(mscclpp.Algorithm(id=plan.name, execution_plan=loaded))

    def select(algorithms: Any, request: Any) -> Any:
        plan = chosen(plans, request)
        return None if plan is None else algorithms[plan.collective][plan.name]

    builder.set_algorithm_selector(select)
