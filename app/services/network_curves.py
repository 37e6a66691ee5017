"""The time of a traced program over latency and bandwidth."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.app.documents import network_curves as document
from topoloom.app.documents.base import Presented
from topoloom.app.documents.network_curves import NetworkCurves
from topoloom.app.requests.network_curves import NetworkCurvesRequest
from topoloom.app.services.context import Context

if TYPE_CHECKING:
    from topoloom.schedules.formats.collective_trace import Trace

_LATENCY_US, _GBPS = Fraction(4), Fraction(200)


def curves_document(context: Context, request: NetworkCurvesRequest) -> Presented:
    """Return the network-curves/1 document of a request; nothing is stored.

    Raises:
        NoSchedule: A table breaks a rule of its format.
        TooLarge: A collective has too many messages.
    """
    with context.watch():
        return document.of(_curves(request))


def _curves(request: NetworkCurvesRequest) -> NetworkCurves:
    """Return the exact curves of a request."""
    from topoloom.schedules.formats.collective_trace import (
        TraceOptions,
        read_kernel_times,
        read_rings,
        read_trace,
    )
    from topoloom.schedules.network_curves.curves import Axes, network_curves
    from topoloom.schedules.network_curves.network import KernelTimes, Network, per_byte
    from topoloom.schedules.network_curves.ring_time import ring_time

    def nanoseconds(microseconds: object) -> Fraction:
        return 1000 * Fraction(str(microseconds))

    def rate(gbps: object) -> Fraction:
        return per_byte(Fraction(str(gbps)))

    rings = {} if request.rings is None else read_rings(request.rings)
    measured = request.kernel_times
    kernels = KernelTimes() if measured is None else read_kernel_times(measured)
    options = TraceOptions(request.rank, request.accelerators_per_host, request.separate_channels)
    trace = read_trace(request.instances, rings, options)
    network = Network(
        nanoseconds(request.inside_us),
        rate(request.inside_gbps),
        nanoseconds(request.message_us),
        kernels,
    )
    axes = Axes(
        [nanoseconds(one) for one in request.latency_us or [_LATENCY_US]],
        [rate(one) for one in request.gbps or [_GBPS]],
        nanoseconds(request.max_latency_us),
        rate(request.max_gbps),
        rate(request.min_gbps),
    )
    start = axes.latencies[0], axes.rates[0]
    program = trace.program
    times = {work: ring_time(work, network, *start).at(*start) for work in program.collectives}
    curves = [*network_curves(program, network, axes)]
    return NetworkCurves(request.rank, program, times, curves, [*_notes(request, trace)])


def _notes(request: NetworkCurvesRequest, trace: "Trace") -> Iterator[str]:
    """Yield what the tables do not state."""
    if trace.without_ring:
        yield (
            f"{trace.without_ring} collectives have no ring in the rings: their ring follows the "
            f"ranks, {request.accelerators_per_host} on each host; --accelerators-per-host and "
            "--rings state it"
        )
    if trace.fixed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(trace.fixed.items()))
        yield (
            f"{kinds}: collectives keep their measured time, as do all gaps; curves cover rings "
            "of allreduce, allgather and reduce-scatter"
        )
    if request.kernel_times is None:
        yield "reductions and copies take no time; --kernel-times states them"
