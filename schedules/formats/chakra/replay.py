"""Replay Chakra traces on symbolic values, and check that they compute their collective.

Every byte holds a value: its position in the whole data, and the set of ranks whose
contributions it includes.  Bytes that all nodes treat alike are one *piece*.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.order_checks import (
    check_messages,
    check_order,
    check_staging,
)
from topoloom.schedules.formats.chakra.program import Region, Step, Traces
from topoloom.schedules.formats.chakra.read import parse
from topoloom.schedules.formats.chakra.replay_all_to_all import ExchangeRun
from topoloom.schedules.formats.chakra.run_nodes import Run
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Span, Transcript, merge_spans


def replay(files: Sequence[bytes]) -> Traces:
    """Run the traces of all ranks, in order; return them if they compute their collective.

    Raises:
        InvalidProgram: A rule of the format is broken, sends and receives do not match one to one,
            two nodes of a rank use the same bytes without an order and one of them writes, the
            ranks wait for each other in a cycle, a contribution is added twice, bytes are read
            before they are written, or the result is wrong.

    If all uses of the same bytes are ordered and messages match one to one, every order that the
    dependencies allow computes the same result, so one order suffices.  Dependencies take O(n**2)
    bits for n nodes of a rank.

    >>> replay([])
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /ranks: must be 1 to 4096 files
    """
    return _replayed(parse(files)).traces


def transcript(files: Sequence[bytes]) -> Transcript:
    """Replay the traces of all ranks, in order; return their messages, in units of bytes."""
    return transcript_of(parse(files))


def transcript_of(traces: Traces) -> Transcript:
    """Replay traces that are read already; errors as of `replay`."""
    run = _replayed(traces)
    return Transcript(traces.collective, tuple(run.shards), tuple(run.messages))


def _replayed(traces: Traces) -> "_Run | ExchangeRun":
    check_messages(traces)
    for rank, trace in enumerate(traces.ranks):
        check_staging(trace, f"/ranks/{rank}")
        check_order(trace, f"/ranks/{rank}")
    exchanges = traces.collective is Collective.ALL_TO_ALL
    run = ExchangeRun(traces) if exchanges else _Run(traces)
    run.finish()
    return run


@dataclass(slots=True)
class _Buffer:
    """Per piece: the number of its first byte (-1: none), and its contributions."""

    cuts: NDArray[np.int64]
    numbers: NDArray[np.int64] = field(init=False)
    masks: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = np.full(max(0, len(self.cuts) - 1), -1, dtype=np.int64)
        self.masks = np.zeros(len(self.numbers), dtype=object)

    def span(self, region: Region) -> slice:
        low, high = np.searchsorted(self.cuts, [region.first, region.end]).tolist()
        return slice(low, high)


_Values: TypeAlias = tuple[NDArray[np.int64], NDArray[Any]]


class _Run(Run[_Values]):
    """One run of the traces of a collective of shards."""

    def __init__(self, traces: Traces) -> None:
        super().__init__(traces)
        self.count, self.size = len(traces.ranks), traces.size_bytes
        self.shards = [rank * self.size // self.count for rank in range(self.count + 1)]
        cuts = _cuts(traces, self.shards)
        self.data = [_Buffer(cuts) for _ in traces.ranks]
        # A staging area holds received data in the pieces of the sender.
        self.staged: list[dict[Region, _Values]] = [{} for _ in traces.ranks]
        for rank, buffer in enumerate(self.data):
            gathers = traces.collective is Collective.ALLGATHER
            own = self._shard(buffer, rank) if gathers else slice(None)
            buffer.numbers[own] = cuts[:-1][own]
            buffer.masks[own] = 1 << rank

    def _shard(self, buffer: _Buffer, rank: int) -> slice:
        low, high = self.shards[rank], self.shards[rank + 1]
        return buffer.span(Region("data", low, high - low))

    def _added(self, rank: int, step: Step) -> None:
        one, other = (self._read(rank, region) for region in step.reads)
        if not np.array_equal(one[0], other[0]):
            raise InvalidProgram(f"/ranks/{rank}", "an addition adds different bytes")
        if (one[1] & other[1]).any():
            raise InvalidProgram(f"/ranks/{rank}", "a contribution is added twice")
        self._write(rank, step.writes[0], (one[0], one[1] | other[1]))

    def _spans(self, values: _Values) -> Iterator[Span]:
        """Return the spans of a message; a piece ends where the next piece of the data begins."""
        cuts = self.data[0].cuts
        pasts = cuts[np.searchsorted(cuts, values[0], side="right")]
        return merge_spans(map(Span, values[0].tolist(), pasts.tolist(), values[1].tolist()))

    def _read(self, rank: int, region: Region) -> _Values:
        if region.buffer == "staging":
            values = self.staged[rank].get(region)
            if values is None:
                raise InvalidProgram(f"/ranks/{rank}", "a node reads what was never staged")
            return values
        buffer = self.data[rank]
        span = buffer.span(region)
        if (buffer.numbers[span] < 0).any():
            raise InvalidProgram(
                f"/ranks/{rank}",
                f"bytes {region.first} to {region.end} are read before they are there",
            )
        return buffer.numbers[span].copy(), buffer.masks[span].copy()

    def _write(self, rank: int, region: Region, values: _Values) -> None:
        if region.buffer == "staging":
            self.staged[rank][region] = values
            return
        buffer = self.data[rank]
        span = buffer.span(region)
        if not np.array_equal(buffer.cuts[:-1][span], values[0]):
            raise InvalidProgram(
                f"/ranks/{rank}",
                f"bytes {region.first} to {region.end} must be written where they belong",
            )
        buffer.numbers[span], buffer.masks[span] = values

    def _require_result(self) -> None:
        gathers = self.traces.collective is Collective.ALLGATHER
        all_contributions = (1 << self.count) - 1
        for rank, buffer in enumerate(self.data):
            scatters = self.traces.collective is Collective.REDUCE_SCATTER
            span = self._shard(buffer, rank) if scatters else slice(None)
            wanted = np.full(len(buffer.masks), all_contributions, dtype=object)
            if gathers:
                for owner in range(self.count):
                    wanted[self._shard(buffer, owner)] = 1 << owner
            wrong = np.flatnonzero(
                (buffer.numbers[span] != buffer.cuts[:-1][span])
                | (buffer.masks[span] != wanted[span])
            )
            if len(wrong):
                first = int(buffer.cuts[:-1][span][wrong[0]])
                raise InvalidProgram(
                    f"/ranks/{rank}", f"byte {first} must end complete, and does not"
                )


def _cuts(traces: Traces, shards: list[int]) -> NDArray[np.int64]:
    """Return where pieces of data begin and end."""
    cuts = {*shards}
    for trace in traces.ranks:
        for step in trace.steps:
            for region in step.reads + step.writes:
                if region.buffer == "data":
                    cuts |= {region.first, region.end}
    return np.array(sorted(cuts), dtype=np.int64)
