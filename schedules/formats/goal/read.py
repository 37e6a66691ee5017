"""Read GOAL as written here: operations with their bytes, as the values of Chakra traces."""

import re
from collections.abc import Sequence

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import (
    COLLECTIVES,
    COMPUTE,
    MAX_BYTES,
    MAX_NODES,
    MAX_RANKS,
    MAX_TAG,
    RECEIVE,
    SEND,
    Region,
    Step,
    Trace,
    Traces,
)
from topoloom.schedules.formats.chakra.read import regions_of, sorted_trace
from topoloom.schedules.model.schedule import Collective

_HEAD = re.compile(r"// topoloom ([a-z-]{1,40}) ([0-9]{1,19})")
_RANKS = re.compile(r"num_ranks ([0-9]{1,7})")
_RANK = re.compile(r"rank ([0-9]{1,7}) \{")
_BYTES = re.compile(r"// (\[.*?\]) (\[.*\])")
_LABEL = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,20}): (.*)")
_MESSAGE = re.compile(
    r"(?:(send) ([0-9]{1,19})b to|(recv) ([0-9]{1,19})b from) ([0-9]{1,7}) tag ([0-9]{1,10})"
    r"(?: cpu [0-9]{1,3})?(?: nic [0-9]{1,3})?"
)
_CALC = re.compile(r"calc [0-9]{1,19}(?: cpu [0-9]{1,3})?")
_REQUIRES = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,20}) requires ([A-Za-z][A-Za-z0-9_]{0,20})")


def parse(text: str) -> Traces:
    """Return the operations of all ranks of a GOAL file.

    >>> parse("num_ranks 2")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /line/1: must be '// topoloom COLLECTIVE BYTES': GOAL itself names no data
    """  # noqa: E501
    return _Reader(text.splitlines()).traces()


class _Reader:
    """The lines of a file, and the number of the next line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    def traces(self) -> Traces:
        """Return the traces of the whole file."""
        head = self._match(
            _HEAD, "must be '// topoloom COLLECTIVE BYTES': GOAL itself names no data"
        )
        names = {collective.value: collective for collective in COLLECTIVES}
        if head[1] not in names or not 0 < int(head[2]) <= MAX_BYTES:
            raise self._wrong(f"must name one of {', '.join(names)} and at most {MAX_BYTES} bytes")
        count = int(self._match(_RANKS, "must be num_ranks and a number")[1])
        if not 1 <= count <= MAX_RANKS:
            raise self._wrong(f"must have 1 to {MAX_RANKS} ranks")
        size = int(head[2])
        ranks = tuple(self._rank(rank, count, size, names[head[1]]) for rank in range(count))
        self._skip_blank()
        if self._at < len(self._lines):
            self._at += 1
            raise self._wrong("must end after the last rank")
        return Traces(names[head[1]], size, ranks)

    def _rank(self, rank: int, count: int, size: int, collective: Collective) -> Trace:
        opened = self._match(_RANK, f"must be 'rank {rank} {{'")
        if int(opened[1]) != rank:
            raise self._wrong(f"must be 'rank {rank} {{': ranks come in order")
        steps: list[Step] = []
        labels: dict[str, int] = {}
        before: dict[int, set[int]] = {}
        while (content := self._next()) != "}":
            wait = _REQUIRES.fullmatch(content)
            if wait is not None:
                if not {wait[1], wait[2]} <= labels.keys():
                    raise self._wrong("must name operations of this rank that come before")
                before[labels[wait[1]]].add(labels[wait[2]])
                continue
            if len(steps) >= MAX_NODES:
                raise self._wrong(f"must have at most {MAX_NODES} operations in a rank")
            areas = _BYTES.fullmatch(content)
            if areas is None:
                raise self._wrong("must be '// READS WRITES' before an operation, or requires")
            label = self._match(_LABEL, "must be an operation with a label")
            if label[1] in labels:
                raise self._wrong("must have a label that is new in this rank")
            labels[label[1]] = len(steps)
            before[len(steps)] = set()
            steps.append(self._step(label[2], areas, rank, count, size))
        return sorted_trace(steps, before, f"/ranks/{rank}", collective)

    def _step(self, operation: str, areas: re.Match[str], rank: int, count: int, size: int) -> Step:
        place = f"/line/{self._at}"
        message = _MESSAGE.fullmatch(operation)
        if message is None:
            if _CALC.fullmatch(operation) is None:
                raise self._wrong("must be send, recv or calc")
            reads, writes = self._regions(areas, (2, 1), size)
            return Step(COMPUTE, (), reads, writes, -1, -1, -1)
        kind = SEND if message[1] else RECEIVE
        reads, writes = self._regions(areas, (1, 0) if kind == SEND else (0, 1), size)
        peer, tag, sent = int(message[5]), int(message[6]), int(message[2] or message[4])
        if peer == rank or peer >= count or tag > MAX_TAG:
            raise InvalidProgram(place, f"must join rank {rank} to another, with a tag of 31 bits")
        if sent != (reads + writes)[0].count:
            raise InvalidProgram(place, "must send or receive the bytes that the comment names")
        return Step(kind, (), reads, writes, peer, tag, sent)

    def _regions(
        self, areas: re.Match[str], counts: tuple[int, int], size: int
    ) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
        place = f"/line/{self._at - 1}"
        reads, writes = (
            regions_of(areas[at], place, count, size)
            for at, count in zip((1, 2), counts, strict=True)
        )
        if len({region.count for region in reads + writes}) > 1:
            raise InvalidProgram(place, "must read and write as many bytes")
        return reads, writes

    def _next(self) -> str:
        self._skip_blank()
        if self._at >= len(self._lines):
            raise InvalidProgram(f"/line/{len(self._lines)}", "must not end here: } is missing")
        self._at += 1
        return self._lines[self._at - 1].strip()

    def _skip_blank(self) -> None:
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1

    def _match(self, pattern: re.Pattern[str], rule: str) -> re.Match[str]:
        found = pattern.fullmatch(self._next())
        if found is None:
            raise self._wrong(rule)
        return found

    def _wrong(self, rule: str) -> InvalidProgram:
        return InvalidProgram(f"/line/{self._at}", rule)
