"""Options of simulating, executing and timing schedules."""

from decimal import Decimal

from topoloom.app.requests.base import LEAST_POSITIVE
from topoloom.app.requests.options.factories import duration, number, size, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

SIMULATED_BYTES = size(
    "data size: the result of an allgather, else the input of every rank", default=REQUIRED
)
GROUP_BYTES = size("bytes of every group, for the simulated time; with traffic: absent")
SIMULATED_NODE_GBPS = number(
    "node_gbps",
    "send rate of one host over all its ports (default: from the unit of the topology; 100 if the "
    "unit is link)",
    "Gbit/s",
)
_LATENCY = "latency of one hop (default: the latencies that the topology states, else 10)"
SIMULATED_ALPHA_US = duration("alpha_us", f"{_LATENCY}, may be 0", "microseconds")
LINK_GBPS = number("link_gbps", "rate of one unit of capacity, instead of a host rate", "Gbit/s")
COMPARED_BYTES = size("schedules only: data size of the compared times")
COMPARED_ALPHA_US = number("alpha_us", f"schedules only: {_LATENCY}", "microseconds")
OVERHEAD_US = duration(
    "overhead_us", "link time of each message beside its bytes", "microseconds", default=Decimal(0)
)
CHANNELS = whole(
    "channels", "number of links a host sends on simultaneously; default: all", 1, 10**4
)
CHUNKS = whole(
    "chunks",
    "number of chunks per message; default: 1 for steps; for trees, the best number in lock step",
    1,
    2**20,
)
SYNCHRONOUS = switch("synchronous", "all hosts wait for the slowest message of each step or round")
OPPONENT = Option(
    name="opponent",
    type=str,
    flag="--baseline",
    help="with --out: write the schedule of this baseline, schedule/1",
    metavar="NAME",
)

RANKS = whole("ranks", "number of processes; must equal the ranks of the schedule", 1, 128)
PROBED_RANKS = whole(
    "ranks",
    "processes on this machine; the first exchanges messages with each other process",
    2,
    128,
    default=2,
)
ROUND_TRIPS = whole(
    "repeat", "round trips per measurement; the median is reported", 1, 10_000, default=20
)
EXECUTED_BYTES = size("data size, a multiple of 4", default=2**20)
REPEAT = whole("repeat", "number of runs, each with new data", 1, 1000, default=1)
PIPELINE_CHUNKS = whole("pipeline_chunks", "chunks of each tree's data", 1, 1024, default=4)
TIMEOUT = Option(
    name="timeout",
    type=float,
    default=60,
    help="time limit of the execution",
    unit="seconds",
    least=LEAST_POSITIVE,
    most=86_400,
)
