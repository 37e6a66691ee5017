"""Exported files read back: replayed, and held against the topology they shall run on."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from schedules.errors import InvalidProgram
from schedules.formats.chakra.program import SEND
from schedules.formats.chakra.replay import replay as replay_chakra
from schedules.formats.msccl.program import SENDS, Dialect
from schedules.formats.msccl.replay import replay as replay_msccl
from schedules.formats.mscclpp.replay import replay as replay_mscclpp
from schedules.formats.nccl.replay import replay as replay_table
from schedules.verify import Violation
from synth.topology import NodeId, Topology

__all__ = ["REPLAYED", "messages", "program_violations"]


def _msccl(files: Sequence[bytes], dialect: str) -> tuple[int, set[tuple[int, int]]]:
    program = replay_msccl(_text(files), dialect)
    return len(program.gpus), {
        (gpu, block.send)
        for gpu, made in enumerate(program.gpus)
        for block in made.blocks
        if any(step.type in SENDS for step in block.steps)
    }


def _mscclpp(files: Sequence[bytes], _: str) -> tuple[int, set[tuple[int, int]]]:
    program = replay_mscclpp(_text(files))
    return len(program.gpus), {
        (gpu, operation.target.gpu)
        for gpu, made in enumerate(program.gpus)
        for block in made.blocks
        for operation in block.operations
        if operation.target is not None and operation.target.gpu != gpu
    }


def _chakra(files: Sequence[bytes], _: str) -> tuple[int, set[tuple[int, int]]]:
    traces = replay_chakra(files)
    return len(traces.ranks), {
        (rank, step.peer)
        for rank, trace in enumerate(traces.ranks)
        for step in trace.steps
        if step.kind == SEND
    }


def _tuner(files: Sequence[bytes], _: str) -> tuple[int, set[tuple[int, int]]]:
    """Replay a table: it sends nothing."""
    return replay_table(_text(files)), set()


REPLAYED: Mapping[str, Callable[[Sequence[bytes], str], tuple[int, set[tuple[int, int]]]]]
REPLAYED = MappingProxyType(
    {
        "msccl-xml": _msccl,
        "mscclpp-json": _mscclpp,
        "chakra-et": _chakra,
        "nccl-tuner-csv": _tuner,
    }
)
"""By format: what reads its files back; returns the number of ranks and who sends to whom."""


def messages(
    form: str, files: Sequence[bytes], dialect: str = Dialect.MSCCL
) -> tuple[int, set[tuple[int, int]]]:
    """Return how many ranks a file is for and which of them send to which, if it works.

    Raises
    ------
    InvalidProgram
        The replay of the format says no.
    """
    return REPLAYED[form](files, dialect)


def program_violations(
    form: str, files: Sequence[bytes], topology: Topology, dialect: str = Dialect.MSCCL
) -> list[Violation]:
    """Return what is wrong with an exported file on a topology: nothing if it is valid.

    Valid means: its replay does the collective it names, its ranks are as many as the
    topology's compute nodes, and every message goes from one to another over a link
    or over switches only.

    Parameters
    ----------
    form : str
        One of `REPLAYED`.
    files : sequence of bytes
        The file; of a Chakra trace one for each rank, in order.
    dialect : str
        Of MSCCL XML; other formats have none.

    Examples
    --------
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> print(program_violations("mscclpp-json", [b"{}"], pair)[0])
    /name: must be a text
    """
    try:
        ranks, pairs = messages(form, files, dialect)
    except InvalidProgram as error:
        return [Violation(error.field, error.rule)]
    nodes = topology.compute_nodes
    if ranks != len(nodes):
        return [Violation("", f"must be for the {len(nodes)} compute nodes, not for {ranks}")]
    after: dict[NodeId, set[NodeId]] = defaultdict(set)
    for link in topology.links:
        after[link.source].add(link.target)
    reached = [_reached(after, topology.switches, node) for node in nodes]
    return [
        Violation(
            f"/ranks/{source}",
            f"sends to rank {target}, but no link or way over switches leads from "
            f"{nodes[source]!r} to {nodes[target]!r}",
            rank=nodes[source],
        )
        for source, target in sorted(pairs)
        if nodes[target] not in reached[source]
    ]


def _reached(
    after: Mapping[NodeId, set[NodeId]], switches: Collection[NodeId], start: NodeId
) -> set[NodeId]:
    """Return the nodes that a node reaches over one link or over switches only."""
    reached, ahead = set(), [start]
    while ahead:
        for node in after[ahead.pop()] - reached:
            reached.add(node)
            if node in switches:
                ahead.append(node)
    return reached


def _text(files: Sequence[bytes]) -> str:
    try:
        (data,) = files
        return data.decode()
    except ValueError:
        raise InvalidProgram("", "must be one file of text in UTF-8") from None
