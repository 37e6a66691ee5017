"""Exported files read back: replayed, and held against the topology they shall run on."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats import FORMATS, one_text
from topoloom.schedules.formats.nccl import replay as nccl
from topoloom.schedules.formats.targets.runtimes import Runtime
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.verify import Violation
from topoloom.synth.topology.topology import NodeId, Topology

_Said: TypeAlias = Runtime | str | None


TRANSCRIBED: Mapping[str, Callable[[Sequence[bytes], _Said], Transcript]] = MappingProxyType(
    {name: form.transcript for name, form in FORMATS.items() if form.transcript is not None}
)
"""Format of programs -> the replay of its files, which returns the messages of the ranks."""

TABLE = "nccl-tuner-csv"
REPLAYED = frozenset({*TRANSCRIBED, TABLE})
"""Formats whose files are read back and checked; schedule/1 has a checker of its own."""


def transcript_of(form: str, files: Sequence[bytes], runtime: _Said = None) -> Transcript:
    """Return what the ranks of an exported program send, for simulator and executor.

    Parameters
    ----------
    form : str
        One of `REPLAYED`.
    files : sequence of bytes
        The file; of a Chakra trace one for each rank, in order.
    runtime : Runtime or str, optional
        Whose limits hold; a text is a dialect of MSCCL XML.  Left out, those of the first
        dialect that takes the file (`schedules.formats.inspection.dialects`), and of the largest
        device that may be meant; Chakra traces have none.

    Raises
    ------
    InvalidProgram
        The replay of the format says no, or it is a table, which sends nothing.

    Notes
    -----
    Of a program this keeps who sends what to whom, and what had to be there first.  It leaves
    out how its run time gets there: thread blocks, signals, copies within a GPU.

    Examples
    --------
    >>> transcript_of("nccl-tuner-csv", [b""])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /format: a tuner table chooses among ...
    """
    if form not in TRANSCRIBED:
        rule = "a tuner table chooses among NCCL's own algorithms and sends nothing itself"
        known = f"must be one of {', '.join(TRANSCRIBED)}; not {form!r}"
        raise InvalidProgram("/format", rule if form == TABLE else known)
    return TRANSCRIBED[form](files, runtime)


def program_violations(
    form: str, files: Sequence[bytes], topology: Topology, runtime: _Said = None
) -> list[Violation]:
    """Return what is wrong with an exported file on a topology: nothing if it is valid.

    Valid means: its replay does the collective it names, its ranks are as many as the
    topology's compute nodes, and every message goes from one to another over a link
    or over switches only.

    Parameters
    ----------
    form, files, runtime
        As in `transcript_of`.

    Examples
    --------
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> print(program_violations("mscclpp-json", [b"{}"], pair)[0])
    /name: must be a text
    """
    try:
        if form == TABLE:
            return _wrong_ranks(nccl.replay(one_text(files)), topology)
        return _unwired(transcript_of(form, files, runtime), topology)
    except InvalidProgram as error:
        return [Violation(error.field, error.rule)]


def require_wired(transcript: Transcript, topology: Topology) -> None:
    """Raise `InvalidProgram` unless every message can follow the wires of a topology.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> require_wired(Transcript(Collective.ALLGATHER, (0, 1, 2, 3), ()), pair)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /ranks: must be for the 2 compute nodes, not for 3
    """
    for violation in _unwired(transcript, topology)[:1]:
        raise InvalidProgram(violation.place or "/ranks", violation.sentence)


def _wrong_ranks(ranks: int, topology: Topology) -> list[Violation]:
    nodes = len(topology.compute_nodes)
    if ranks == nodes:
        return []
    return [Violation("", f"must be for the {nodes} compute nodes, not for {ranks}")]


def _unwired(transcript: Transcript, topology: Topology) -> list[Violation]:
    """Return what of a transcript does not fit a topology."""
    wrong = _wrong_ranks(len(transcript.ranks), topology)
    if wrong:
        return wrong
    nodes = topology.compute_nodes
    pairs = {(message.source, message.target) for message in transcript.messages}
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
