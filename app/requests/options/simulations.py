"""The options of schedules in time: simulated, and run on this machine."""

from decimal import Decimal

from topoloom.app.requests.base import LEAST_POSITIVE
from topoloom.app.requests.options.factories import duration, number, size, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

__all__ = [
    "CHANNELS",
    "CHUNKS",
    "COMPARED_ALPHA_US",
    "COMPARED_BYTES",
    "EXECUTED_BYTES",
    "LINK_GBPS",
    "OPPONENT",
    "OVERHEAD_US",
    "PIPELINE_CHUNKS",
    "PROBED_RANKS",
    "RANKS",
    "REPEAT",
    "ROUND_TRIPS",
    "SIMULATED_ALPHA_US",
    "SIMULATED_BYTES",
    "SIMULATED_NODE_GBPS",
    "SYNCHRONOUS",
    "TIMEOUT",
]


SIMULATED_BYTES = size(
    "allgather: size of the result; else of the input of every rank", default=REQUIRED
)
SIMULATED_NODE_GBPS = number(
    "node_gbps",
    "what one host sends at most, all ports together (default: the topology's own unit, and "
    "100 where that counts links)",
    "Gbit/s",
)
SIMULATED_ALPHA_US = duration(
    "alpha_us", "latency of one hop, 0 for none", "microseconds", default=Decimal(10)
)
LINK_GBPS = number("link_gbps", "instead: what one unit of capacity carries", "Gbit/s")
COMPARED_BYTES = size("of schedules: size of the data that times are told for")
COMPARED_ALPHA_US = number(
    "alpha_us", "of schedules: latency of one hop (default: 10)", "microseconds"
)
OVERHEAD_US = duration(
    "overhead_us",
    "how long each message keeps its link busy beside its bytes",
    "microseconds",
    default=Decimal(0),
)
CHANNELS = whole("channels", "how many links a host sends on at a time; default: on all", 1, 10**4)
CHUNKS = whole(
    "chunks",
    "into how many pieces each message is cut; default: 1 for steps, and for trees what is "
    "best in lock step",
    1,
    2**20,
)
SYNCHRONOUS = switch("synchronous", "all hosts wait for the slowest message of each step or round")
OPPONENT = Option(
    name="opponent",
    type=str,
    flag="--baseline",
    help="with --out: write the schedule of this one, schedule/1",
    metavar="NAME",
)

RANKS = whole("ranks", "how many processes; must be the number of ranks it has", 1, 128)
PROBED_RANKS = whole(
    "ranks",
    "processes on this machine; the first talks to each other one",
    2,
    128,
    default=2,
)
ROUND_TRIPS = whole("repeat", "round trips of each; their median counts", 1, 10_000, default=20)
EXECUTED_BYTES = size("size of the data, a multiple of 4", default=2**20)
REPEAT = whole("repeat", "runs, each on fresh data", 1, 1000, default=1)
PIPELINE_CHUNKS = whole(
    "pipeline_chunks", "pieces that each tree's data is cut into", 1, 1024, default=4
)
TIMEOUT = Option(
    name="timeout",
    type=float,
    default=60,
    help="after how long all is given up",
    unit="seconds",
    least=LEAST_POSITIVE,
    most=86_400,
)
