"""Options of an exported schedule: format, dialect, runtime, buffers."""

from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import SIZE, number, size, switch, whole
from topoloom.app.requests.options.option import Option

__all__ = [
    "DIALECT",
    "EXPORT_ALPHA_US",
    "EXPORT_BYTES",
    "EXPORT_NODE_GBPS",
    "FILES_FORMAT",
    "INPLACE",
    "INSTANCES",
    "MAX_EXPORT_BYTES",
    "MIN_BYTES",
    "OF_PROGRAMS",
    "RANKS_PER_NODE",
    "READ_DIALECT",
    "RUNTIME",
    "SCHEDULE_FORMAT",
    "SCRATCH_BUDGET",
    "TUNER_CHANNELS",
    "DesignFormat",
    "DialectName",
    "ScheduleFormat",
]

ScheduleFormat: TypeAlias = Literal[
    "json", "msccl-xml", "mscclpp-json", "chakra-et", "nccl-tuner-csv", "dot", "graphml"
]
DesignFormat: TypeAlias = Literal["json", "msccl-xml", "mscclpp-json"]
DialectName: TypeAlias = Literal["msccl", "azure", "rccl"]

SCHEDULE_FORMAT = Option(
    name="format",
    type=ScheduleFormat,
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
    help="msccl-xml: msccl, azure or rccl; default: the first of them that takes the file",
)
RUNTIME = Option(
    name="runtime",
    type=str,
    help="msccl-xml, mscclpp-json: the library and device that will load the file, whose limits it "
    "keeps (docs/schedule-formats.md lists them); default: the smallest device that takes it",
    metavar="NAME",
)
INSTANCES = whole(
    "instances",
    "msccl-xml, mscclpp-json: parts that every message is cut into, each on its own channel "
    "(default: 1)",
    1,
    16,
)
MIN_BYTES = size(
    "msccl-xml, mscclpp-json: least size of data that the file is for", name="min_bytes"
)
MAX_EXPORT_BYTES = size(
    "msccl-xml, mscclpp-json: largest size of data that the file is for", name="max_bytes"
)
SCRATCH_BUDGET = size(
    "msccl-xml, mscclpp-json: scratch memory of a GPU in bytes (default: 1 GiB where a "
    "run-time allocates at start, elsewhere no limit)",
    name="scratch_budget",
)
TUNER_CHANNELS = whole(
    "channels",
    "nccl-tuner-csv: channels of NCCL (default: at least 2, and one for every 20 GB/s of a host)",
    1,
    32,
)
INPLACE = switch(
    "inplace", "msccl-xml, mscclpp-json: for calls whose input and output are one buffer", None
)
RANKS_PER_NODE = whole(
    "ranks_per_node",
    "ranks of one machine; mscclpp-json: they use memory channels, others port channels "
    "(default: 1); nccl-tuner-csv: rows are for so many machines (default: for any number)",
    1,
    10**6,
)
_SAID = "with any format, for the printed time"
EXPORT_BYTES = size("chakra-et, which needs it: size of the data", typed=f"{SIZE}; {_SAID}")
EXPORT_ALPHA_US = number(
    "alpha_us", "nccl-tuner-csv: latency of one hop (default: 10)", "microseconds", typed=_SAID
)
EXPORT_NODE_GBPS = number(
    "node_gbps",
    "nccl-tuner-csv: what one host sends at most (default: the topology's own unit, and 100 "
    "where that counts links)",
    "Gbit/s",
    typed="with any format, for the printed rates",
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
