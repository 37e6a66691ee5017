"""Replay the traces of an all-to-all: track the source and the target of every byte.

Byte b of what rank s sends is number s * M + b, for rank b // (M / N).  Data for the receiving
rank is written once, at its place in the result; data for other ranks lies in staging areas.  A
rank's own block stays in place.
"""

from collections.abc import Iterator
from typing import NamedTuple

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import RESULT, Region, Step, Traces
from topoloom.schedules.formats.chakra.run_nodes import Run
from topoloom.schedules.model.transcript import Span


class _Bytes(NamedTuple):
    """Bytes [first, past) of the data that all ranks send."""

    first: int
    past: int


class ExchangeRun(Run[_Bytes]):
    """One run of the traces of an all-to-all."""

    def __init__(self, traces: Traces) -> None:
        super().__init__(traces)
        count, size = len(traces.ranks), traces.size_bytes
        if size % count:
            raise InvalidProgram("/ranks/0/attr/bytes", f"must be a multiple of {count} ranks")
        self.size, self.block = size, size // count
        self.shards = [rank * size for rank in range(count + 1)]
        self.staged: list[dict[Region, _Bytes]] = [{} for _ in traces.ranks]
        self.arrived = [0] * count

    def _read(self, rank: int, region: Region) -> _Bytes:
        if region.buffer == RESULT:
            raise InvalidProgram(f"/ranks/{rank}", "the result is written only")
        if region.buffer == "data":
            return _Bytes(rank * self.size + region.first, rank * self.size + region.end)
        found = self.staged[rank].get(region)
        if found is None:
            raise InvalidProgram(f"/ranks/{rank}", "a node reads what was never staged")
        return found

    def _write(self, rank: int, region: Region, values: _Bytes) -> None:
        if region.buffer == "staging":
            self.staged[rank][region] = values
            return
        if region.buffer == "data":
            raise InvalidProgram(f"/ranks/{rank}", "what an all-to-all sends must not change")
        source, offset = divmod(values.first, self.size)
        target, place = divmod(offset, self.block)
        fits = place + values.past - values.first <= self.block
        if target != rank or not fits or region.first != source * self.block + place:
            raise InvalidProgram(
                f"/ranks/{rank}",
                f"bytes {region.first} to {region.end} of the result must get what is theirs",
            )
        # A second write of the same bytes is a race or one write too many.
        self.arrived[rank] += values.past - values.first

    def _added(self, rank: int, step: Step) -> None:
        raise InvalidProgram(f"/ranks/{rank}", "an all-to-all adds nothing up")

    def _spans(self, values: _Bytes) -> Iterator[Span]:
        yield Span(values.first, values.past, 1 << values.first // self.size)

    def _require_result(self) -> None:
        for rank, trace in enumerate(self.traces.ranks):
            regions = sorted(
                (region.first, region.end)
                for step in trace.steps
                for region in step.writes
                if region.buffer == RESULT
            )
            covered = 0
            for first, end in regions:
                if first < covered:
                    raise InvalidProgram(f"/ranks/{rank}", f"byte {first} comes twice")
                covered = end
            if self.arrived[rank] != self.size - self.block:
                missing = self.size - self.block - self.arrived[rank]
                raise InvalidProgram(
                    f"/ranks/{rank}", f"{missing} bytes of the result never arrive"
                )
