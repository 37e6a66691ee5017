"""Check exported files: replay a program and compare it with a topology."""

import json
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
from topoloom.synth.formats.detection import looks_like
from topoloom.synth.formats.unsupported import head_of
from topoloom.synth.formats.unsupported_kinds import BINARY
from topoloom.synth.topology.topology import NodeId, Topology

_Said: TypeAlias = Runtime | str | None


TRANSCRIBED: Mapping[str, Callable[[Sequence[bytes], _Said], Transcript]] = MappingProxyType(
    {name: form.transcript for name, form in FORMATS.items() if form.transcript is not None}
)
"""Format of programs -> the replay of its files, which returns the messages of the ranks."""

TABLE = "nccl-tuner-csv"
REPLAYED = frozenset({*TRANSCRIBED, TABLE})
"""Formats whose files are replayed and checked; schedule/1 has its own checker."""


def transcript_of(form: str, files: Sequence[bytes], runtime: _Said = None) -> Transcript:
    """Return the messages of an exported program, for the simulator and the executor.

    Args:
        form: One of `REPLAYED`.
        files: The file; for a Chakra trace one file for each rank, in order.
        runtime: The runtime whose limits apply; a text is a dialect of MSCCL XML.  The default is
            the first dialect that accepts the file (`schedules.formats.inspection.dialects`), with
            the largest of its devices.  Chakra traces have no runtime.

    Raises:
        InvalidProgram: The replay fails, or the file is a tuner table, which sends nothing.

    The transcript keeps the source, target and data of each message, and the messages it depends
    on.  It omits thread blocks, signals, and copies within a GPU.

    >>> transcript_of("nccl-tuner-csv", [b""])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /format: a tuner table chooses among ...
    """
    if form not in TRANSCRIBED:
        rule = "a tuner table chooses among NCCL's own algorithms and sends nothing itself"
        known = f"must be one of {', '.join(TRANSCRIBED)}; not {form!r}"
        raise InvalidProgram("/format", rule if form == TABLE else known)
    try:
        return TRANSCRIBED[form](files, runtime)
    except InvalidProgram as error:
        raise _of_other_kind(form, files) or error from None


def program_violations(
    form: str, files: Sequence[bytes], topology: Topology, runtime: _Said = None
) -> list[Violation]:
    """Return the violations of an exported file on a topology: an empty list if it is valid.

    A file is valid if its replay computes the collective that it names, it has one rank for each
    compute node of the topology, and every message crosses one link or switches only between
    its two compute nodes.

    Args:
        form, files, runtime: As in `transcript_of`.

    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> print(program_violations("mscclpp-json", [b'{"gpus": []}'], pair)[0])
    /name: must be a text
    """
    try:
        if form == TABLE:
            return _wrong_ranks(_ranks_of_table(files), topology)
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


def _ranks_of_table(files: Sequence[bytes]) -> int:
    try:
        return nccl.replay(one_text(files))
    except InvalidProgram as error:
        raise _of_other_kind(TABLE, files) or error from None


def _of_other_kind(form: str, files: Sequence[bytes]) -> InvalidProgram | None:
    """Return an error that names the kind of a text that is plainly not of a format, or None."""
    try:
        text = files[0].decode()
    except (IndexError, UnicodeDecodeError):
        return None
    head, document = head_of(text), None
    try:
        document = json.loads(text) if head.startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        if FORMATS[form].media_type.endswith("json"):
            return None
    recognizes = FORMATS[form].recognizes
    if recognizes is not None and recognizes(head, document):
        return None
    kind = looks_like(text)
    if kind is None or kind == BINARY:
        return None
    return InvalidProgram("", f"must be {form}; the text looks like {kind}")


def _wrong_ranks(ranks: int, topology: Topology) -> list[Violation]:
    nodes = len(topology.compute_nodes)
    if ranks == nodes:
        return []
    return [Violation("", f"must be for the {nodes} compute nodes, not for {ranks}")]


def _unwired(transcript: Transcript, topology: Topology) -> list[Violation]:
    """Return the violations of a transcript on a topology."""
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
