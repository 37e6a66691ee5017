"""Options of the time of a traced program over latency and bandwidth."""

from decimal import Decimal

from topoloom.app.requests.base import NotNegative, Positive
from topoloom.app.requests.options.factories import duration, number, several, switch, whole
from topoloom.app.requests.options.option import Option

TRACE_RANK = whole("rank", "rank whose collectives count, in column goal_rank", 0, 2**31, default=0)
LATENCIES_US = several(
    "latency_us",
    list[NotNegative],
    "latencies between hosts, each with a curve over bandwidth; default: 4",
    64,
    unit="microseconds",
    metavar="US",
)
RATES_GBPS = several(
    "gbps",
    list[Positive],
    "bandwidths of an interface, each with a curve over latency; default: 200",
    64,
    unit="Gbit/s",
    metavar="GBPS",
)
MOST_LATENCY_US = number(
    "max_latency_us", "end of curves over latency", "microseconds", default=Decimal(1000)
)
LEAST_GBPS = number("min_gbps", "start of curves over bandwidth", "Gbit/s", default=Decimal(10))
MOST_GBPS = number("max_gbps", "end of curves over bandwidth", "Gbit/s", default=Decimal(1600))
TRACE_INSIDE_US = duration(
    "inside_us", "latency of a hop inside a host", "microseconds", default=Decimal("0.35")
)
TRACE_INSIDE_GBPS = number(
    "inside_gbps", "rate of a hop inside a host", "Gbit/s", default=Decimal(2400)
)
MESSAGE_END_US = duration(
    "message_us",
    "time of an accelerator to send or to receive a message beside its bytes",
    "microseconds",
    default=Decimal("0.2"),
)
TRACE_ACCELERATORS = whole(
    "accelerators_per_host",
    "consecutive ranks of a host, of communicators that the rings do not list",
    1,
    64,
    default=4,
    metavar="G",
)
SEPARATE_CHANNELS = switch(
    "separate_channels",
    "each channel has the whole bandwidth of an interface; otherwise channels that leave a host at "
    "one rank share it",
)

OF_TRACES: tuple[Option, ...] = (
    TRACE_RANK,
    LATENCIES_US,
    RATES_GBPS,
    MOST_LATENCY_US,
    LEAST_GBPS,
    MOST_GBPS,
    TRACE_INSIDE_US,
    TRACE_INSIDE_GBPS,
    MESSAGE_END_US,
    TRACE_ACCELERATORS,
    SEPARATE_CHANNELS,
)
"""Options of `topoloom sweep network`."""
