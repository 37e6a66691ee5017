"""The options of a search: which hosts there are, how fast they are, what they run."""

from decimal import Decimal
from typing import Literal, TypeAlias

from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.app.requests.options.factories import MANY, duration, number, size, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

__all__ = [
    "ALL_TO_ALL",
    "ALPHA_US",
    "BASES",
    "CHUNK_US",
    "COLLECTIVE",
    "DEGREE",
    "DESIGN_BYTES",
    "FAMILIES",
    "LINKS",
    "MAX_STEPS",
    "MEASURED",
    "MESSAGE_US",
    "NODES",
    "NODE_GBPS",
    "PARALLEL_LINKS",
    "PORT_GBPS",
    "PRESET",
    "SCHEDULE",
    "VERTEX_TRANSITIVE",
    "WORKLOAD",
    "JudgeName",
    "LinkKind",
]

LinkKind: TypeAlias = Literal["unidirectional", "bidirectional"]
JudgeName: TypeAlias = Literal["bfb", "best"]

NODES = whole("nodes", "number of hosts", 2, MAX_HOSTS, default=REQUIRED, metavar="N")
DEGREE = whole("degree", "ports of each host", 1, MAX_DEGREE, default=REQUIRED, metavar="D")
LINKS = Option(
    name="links",
    type=LinkKind,
    default="unidirectional",
    help="unidirectional: a port is one fibre in and one out, which may lead to different "
    "hosts; bidirectional: both lead to the same host",
)
PARALLEL_LINKS = switch(
    "parallel_links", "allow several links from one host to the same other host"
)
VERTEX_TRANSITIVE = switch(
    "vertex_transitive", "only topologies that are known to look the same from every host"
)
FAMILIES = Option(
    name="families",
    type=list[str],
    help="only topologies from these base families; default: all families",
    least=1,
    most=100,
    flag="--family",
    metavar="NAME",
    typed=MANY,
)
BASES = Option(
    name="bases",
    type=list[str],
    help="more base graphs for the search, as recipes; used as they are and expanded",
    least=1,
    most=20,
    flag="--base",
    metavar="FILE_OR_RECIPE",
    typed=f"or files of graphs whose number of hosts divides N; {MANY}",
)
MAX_STEPS = whole(
    "max_steps", "only topologies of at most so many steps, also on the transpose", 1, 10**6
)
SCHEDULE = Option(
    name="schedule",
    type=JudgeName,
    default="best",
    help="schedules that a topology is rated by; bfb: breadth-first broadcast (BFB) alone; best: "
    "BFB and slack schedules, whose data may arrive later than in BFB",
)
ALL_TO_ALL = switch(
    "all_to_all", "also measure all-to-all on every point, exactly or between bounds", None
)

NODE_GBPS = number(
    "node_gbps", "what one host sends at most, all ports together", "Gbit/s", default=Decimal(100)
)
PORT_GBPS = number(
    "port_gbps",
    "instead of node_gbps: what one port sends at most; a host sends this times its degree",
    "Gbit/s",
    instead_of=("node_gbps",),
)
ALPHA_US = number("alpha_us", "latency of one hop", "microseconds", default=Decimal(10))
MESSAGE_US = duration(
    "overhead_us",
    "time that each message occupies its link in addition to its bytes; default: 0",
    "microseconds",
)
CHUNK_US = duration(
    "chunk_us", "the same time for each chunk of a message; default: 0", "microseconds"
)
MEASURED = Option(
    name="measured",
    type=list,
    help="instead of node_gbps, alpha_us, overhead_us and chunk_us: measured times of messages "
    "over one link, from which these are fitted",
    instead_of=("node_gbps", "alpha_us"),
    least=2,
    most=10_000,
    metavar="FILE",
    typed="CSV with the columns bytes, seconds, messages, chunks, as `topoloom probe` writes it, "
    "or a JSON file with a list of such rows",
)
COLLECTIVE = Option(name="collective", type=CollectiveName, help="the collective that is run")
DESIGN_BYTES = size(
    "allgather: size of the result; reduce-scatter, allreduce: of the input; all-to-all: of "
    "what a host has for all hosts together"
)
WORKLOAD = Option(
    name="workload",
    type=list,
    help="instead: several collectives, each with its size and its count",
    least=1,
    most=1000,
    metavar="FILE",
    typed='a JSON file with a list of {"collective", "bytes", "count"}',
)
PRESET = Option(
    name="preset",
    type=str,
    help="instead: one training step of a known model; `topoloom catalog presets` lists them",
    metavar="NAME",
)
