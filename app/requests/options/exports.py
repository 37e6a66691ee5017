"""Options of an exported schedule: format, dialect, runtime, buffers."""

from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import SIZE, number, size, switch, whole
from topoloom.app.requests.options.option import Option
from topoloom.schedules.formats import FormatName

DesignFormat: TypeAlias = Literal["json", "msccl-xml", "mscclpp-json"]
DialectName: TypeAlias = Literal["msccl", "azure", "rccl"]

SCHEDULE_FORMAT = Option(
    name="format",
    type=FormatName,
    default="json",
    help="output format; json is schedule/1",
)
FILES_FORMAT = Option(
    name="format",
    type=Literal["msccl-xml", "mscclpp-json"],
    default="msccl-xml",
    help="format of the programs",
)
DIALECT = Option(name="dialect", type=str, help="msccl-xml: msccl, azure or rccl; default: msccl")
READ_DIALECT = Option(
    name="dialect",
    type=str,
    help="msccl-xml: msccl, azure or rccl; default: the first dialect that accepts the file",
)
RUNTIME = Option(
    name="runtime",
    type=str,
    help="msccl-xml, mscclpp-json: library and device that load the file and set its limits "
    "(docs/reference/schedule-formats.md); default: the smallest sufficient device",
    metavar="NAME",
)
INSTANCES = whole(
    "instances",
    "msccl-xml, mscclpp-json: parts of every message, each on its own channel (default: 1)",
    1,
    16,
)
MIN_BYTES = size("msccl-xml, mscclpp-json: smallest data size of the file", name="min_bytes")
MAX_EXPORT_BYTES = size("msccl-xml, mscclpp-json: largest data size of the file", name="max_bytes")
SCRATCH_BUDGET = size(
    "msccl-xml, mscclpp-json: scratch memory per GPU in bytes (default: 1 GiB where the runtime "
    "allocates at start, else no limit)",
    name="scratch_budget",
)
TUNER_CHANNELS = whole(
    "channels",
    "nccl-tuner-csv: channels of NCCL (default: one per 20 GB/s of a host, at least 2)",
    1,
    32,
)
INPLACE = switch(
    "inplace", "msccl-xml, mscclpp-json: for calls with one buffer for input and output", None
)
RANKS_PER_NODE = whole(
    "ranks_per_node",
    "ranks per machine; mscclpp-json: these ranks use memory channels, others port channels "
    "(default: 1); nccl-tuner-csv: sets the number of machines of the rows (default: any)",
    1,
    10**6,
)
_LATENCIES = "default: the latencies that the topology states, else 10"
_RATES = "default: from the unit of the topology, 100 if the unit is link"
_PRINTED_TIME = "with any format, also for the printed time"
EXPORT_BYTES = size("chakra-et, goal (required): data size", typed=f"{SIZE}; {_PRINTED_TIME}")
EXPORT_ALPHA_US = number(
    "alpha_us",
    f"nccl-tuner-csv: latency of one hop; {_LATENCIES}",
    "microseconds",
    typed=_PRINTED_TIME,
)
EXPORT_NODE_GBPS = number(
    "node_gbps",
    f"nccl-tuner-csv: send rate of one host over all its ports; {_RATES}",
    "Gbit/s",
    typed="with any format, also for the printed rates",
)
SIMULATOR_ALPHA_US = number(
    "alpha_us", f"files of simulators: latency of every link; {_LATENCIES}", "microseconds"
)
SIMULATOR_NODE_GBPS = number(
    "node_gbps",
    f"files of simulators: send rate of one host over all its ports; {_RATES}",
    "Gbit/s",
)
HEIGHT_BYTES = size("data size, whose time the table shows for each height; default: no times")
HEIGHT_ALPHA_US = number(
    "alpha_us", f"with bytes: latency of one hop; {_LATENCIES}", "microseconds"
)

OF_PROGRAMS = (
    DIALECT,
    RUNTIME,
    INPLACE,
    INSTANCES,
    RANKS_PER_NODE,
    MIN_BYTES,
    MAX_EXPORT_BYTES,
    SCRATCH_BUDGET,
    TUNER_CHANNELS,
)
"""Options of every exported program, of one schedule or of all schedules of a design."""
