"""Options of a search: hosts, link speed, workload."""

from decimal import Decimal
from typing import Literal, TypeAlias

from topoloom.app.requests.options.collectives import CollectiveName
from topoloom.app.requests.options.factories import (
    MANY,
    duration,
    number,
    several,
    size,
    switch,
    whole,
)
from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

LinkKind: TypeAlias = Literal["unidirectional", "bidirectional"]
JudgeName: TypeAlias = Literal["bfb", "best"]

NODES = whole("nodes", "number of hosts", 2, MAX_HOSTS, default=REQUIRED, metavar="N")
DEGREE = whole("degree", "ports of each host", 1, MAX_DEGREE, default=REQUIRED, metavar="D")
LINKS = Option(
    name="links",
    type=LinkKind,
    default="unidirectional",
    help="unidirectional: the two fibers of a port, in and out, may lead to different hosts; "
    "bidirectional: both lead to the same host",
)
PARALLEL_LINKS = switch("parallel_links", "allow parallel links between two hosts")
VERTEX_TRANSITIVE = switch(
    "vertex_transitive", "only topologies with a proof of vertex transitivity"
)
FAMILIES = several(
    "families",
    list[str],
    "only topologies from these base families; default: all families",
    100,
    flag="--family",
    metavar="NAME",
)
BASES = several(
    "bases",
    list[str],
    "additional base graphs, as recipes; the search uses and expands them",
    20,
    flag="--base",
    metavar="FILE_OR_RECIPE",
    typed=f"or graph files whose number of hosts divides N; {MANY}",
)
MAX_STEPS = whole("max_steps", "limit of the steps of a topology and of its transpose", 1, 10**6)
SCHEDULE = Option(
    name="schedule",
    type=JudgeName,
    default="best",
    help="schedules that rate a topology; bfb: breadth-first broadcast (BFB) alone; best: BFB "
    "and slack schedules, which may deliver data later than BFB",
)
ALL_TO_ALL = switch(
    "all_to_all", "also compute the all-to-all cost of every point, or bounds of it", None
)
SEARCH = (LINKS, PARALLEL_LINKS, VERTEX_TRANSITIVE, FAMILIES, BASES, MAX_STEPS, SCHEDULE)
"""Options of a search for some hosts."""

NODE_GBPS = number(
    "node_gbps", "send rate of one host over all its ports", "Gbit/s", default=Decimal(100)
)
PORT_GBPS = number(
    "port_gbps",
    "send rate of one port, instead of the rate of a host, which is this times the degree",
    "Gbit/s",
    instead_of=("node_gbps",),
)
ALPHA_US = number("alpha_us", "latency of one hop", "microseconds", default=Decimal(10))
MESSAGE_US = duration(
    "overhead_us", "link time of each message beside its bytes; default: 0", "microseconds"
)
CHUNK_US = duration(
    "chunk_us", "link time of each chunk of a message beside its bytes; default: 0", "microseconds"
)
MEASURED = Option(
    name="measured",
    type=list,
    help="measured times of messages over one link; rate, latency and overheads are fitted to them",
    instead_of=("node_gbps", "alpha_us"),
    least=2,
    most=10_000,
    metavar="FILE",
    typed="CSV with columns bytes, seconds, messages, chunks, as `topoloom probe` writes, or a "
    "JSON list of such rows",
)
SPEED = (NODE_GBPS, PORT_GBPS, ALPHA_US, MESSAGE_US, CHUNK_US, MEASURED)
"""Options of the links of these hosts."""

COLLECTIVE = Option(name="collective", type=CollectiveName, help="collective to run")
DESIGN_BYTES = size(
    "data size: the result of an allgather; the input of a reduce-scatter or allreduce; the "
    "data that one host sends to all hosts in an all-to-all"
)
WORKLOAD = Option(
    name="workload",
    type=list,
    help="several collectives with their sizes and counts, instead of one collective",
    least=1,
    most=1000,
    metavar="FILE",
    typed='JSON list of {"collective", "bytes", "count"}',
)
PRESET = Option(
    name="preset",
    type=str,
    help="collectives of one training step of a known model, instead of a collective; `topoloom "
    "catalog presets` lists all; `topoloom iteration` designs for whole iterations",
    metavar="NAME",
)
RUN = (COLLECTIVE, DESIGN_BYTES, WORKLOAD, PRESET)
"""Options of what the hosts run."""
