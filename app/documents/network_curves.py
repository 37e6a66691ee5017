"""network-curves/1: the time of a traced program over latency and bandwidth."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, omitted

if TYPE_CHECKING:
    from topoloom.schedules.network_curves.curves import Curve
    from topoloom.schedules.network_curves.program import Program
    from topoloom.schedules.network_curves.ring_collective import RingCollective

_NS_PER_MS = 10**6
_NS_PER_US = 1000


class CurvePieceDocument(Document):
    """One piece of a curve, which lasts to the start of the next."""

    latency_us: float = omitted("start, over latency", ge=0)
    gbps: float = omitted("start, over bandwidth", gt=0)
    ms: float = Field(description="time at the start", ge=0)
    latencies: int = omitted("latencies between hosts on the critical path", ge=0)
    sent_bytes: int = omitted("bytes between hosts on the critical path", ge=0)
    exact_fixed_ns: Exact = Field(description="nanoseconds of the rest of the critical path")


class ToleranceDocument(Document):
    """The network that slows the program down by a share; absent if none of the curve does."""

    slowdown: float = Field(description="share of the time at the reference", gt=0)
    latency_us: float = omitted("most latency", ge=0)
    gbps: float = omitted("least bandwidth", gt=0)


class CurveDocument(Document):
    """A curve over one axis, at one place of the other axis."""

    over: Literal["latency_us", "gbps"] = Field(description="axis of the curve")
    latency_us: float = omitted("latency of a curve over bandwidth", ge=0)
    gbps: float = omitted("bandwidth of a curve over latency", gt=0)
    reference: float = Field(description="place of the axis that slowdowns refer to", ge=0)
    end: float = Field(description="end of the axis", ge=0)
    pieces: list[CurvePieceDocument] = Field(
        description="pieces: over latency from 0, over bandwidth from the most to the least; time "
        "is linear in latency and in 1/bandwidth"
    )
    tolerances: list[ToleranceDocument] = Field(description="slowdowns of 1, 5 and 10 %")


class SignatureDocument(Document):
    """Collectives that send the same: one signature, one curve."""

    collective: str = Field(description="allreduce, allgather or reduce-scatter")
    ranks: int = Field(description="ranks", ge=1)
    channels: int = Field(description="rings", ge=1)
    step_bytes: int = Field(description="bytes that a rank sends in each step, in all rings", ge=0)
    count: int = Field(description="collectives of the rank with this signature", ge=1)
    ms: float = Field(description="time of one at the first latency and bandwidth", ge=0)


class NetworkCurvesDocument(Document):
    """network-curves/1."""

    schema_: Literal["network-curves/1"] = Field(alias="schema", description="network-curves/1")
    rank: int = Field(description="rank whose collectives count", ge=0)
    collectives: int = Field(description="collectives with a curve", ge=0)
    streams: int = Field(description="streams that run beside each other", ge=1)
    measured_ms: float = Field(description="first start to last end in the trace", ge=0)
    ms: float = Field(description="time at the first latency and bandwidth", ge=0)
    signatures: list[SignatureDocument] = Field(description="signatures, most time first")
    curves: list[CurveDocument] = Field(description="curves over latency, then over bandwidth")
    notes: list[str] = Field(description="what the tables do not state")


class NetworkCurves(NamedTuple):
    """The content of a network-curves/1 document."""

    rank: int
    program: "Program"
    times: "Mapping[RingCollective, Fraction]"
    curves: "list[Curve]"
    notes: list[str]


def of(found: NetworkCurves) -> dict[str, object]:
    """Return the network-curves/1 document."""
    from topoloom.schedules.network_curves.convex_curve import value_at

    counts = found.program.collectives
    curves, first = found.curves, found.curves[0]
    signatures = [
        SignatureDocument(
            collective=work.collective.value,
            ranks=work.ranks,
            channels=len(work.channels),
            step_bytes=sum(sum(channel.messages) for channel in work.channels),
            count=counts[work],
            ms=_ms(time),
        )
        for work, time in sorted(
            found.times.items(), key=lambda one: one[1] * counts[one[0]], reverse=True
        )
    ]
    return NetworkCurvesDocument(
        schema="network-curves/1",
        rank=found.rank,
        collectives=counts.total(),
        streams=len(found.program.streams),
        measured_ms=_ms(Fraction(found.program.measured)),
        ms=_ms(value_at(first.pieces, first.reference)),
        signatures=signatures,
        curves=[_curve(curve) for curve in curves],
        notes=found.notes,
    ).given()


def _ms(nanoseconds: Fraction) -> float:
    return float(nanoseconds / _NS_PER_MS)


def _place(over: str, place: Fraction) -> float:
    """Return a place of an axis in its unit: us of latency, or Gbit/s of ns per byte."""
    return float(place / _NS_PER_US if over == "latency_us" else 8 / place)


def _curve(curve: "Curve") -> CurveDocument:
    over = curve.over
    other: Literal["latency_us", "gbps"] = "gbps" if over == "latency_us" else "latency_us"
    weight = "latencies" if over == "latency_us" else "sent_bytes"
    return CurveDocument(
        over=over,
        reference=_place(over, curve.reference),
        end=_place(over, curve.end),
        pieces=[
            CurvePieceDocument(
                ms=_ms(piece.at(piece.start)),
                exact_fixed_ns=str(piece.value),
                **{over: _place(over, piece.start), weight: int(piece.slope)},
            )
            for piece in curve.pieces
        ],
        tolerances=[
            ToleranceDocument(
                slowdown=float(slowdown), **({} if place is None else {over: _place(over, place)})
            )
            for slowdown, place in curve.tolerances.items()
        ],
        **{other: _place(other, curve.other)},
    )
