"""Options of sweeps, jobs, pages of lists, and plots."""

from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import MANY, size, switch, whole
from topoloom.app.requests.options.option import Option
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

_RANGES = f"a number, or a range FROM:TO or FROM:TO:STEP; {MANY}"
SWEEP_NODES = Option(
    name="nodes",
    type=list[str],
    help=f"numbers of hosts, each from 2 to {MAX_HOSTS}",
    metavar="N",
    typed=_RANGES,
)
SWEEP_DEGREES = Option(
    name="degrees",
    type=list[str],
    help=f"ports of each host, each from 1 to {MAX_DEGREE}",
    flag="--degree",
    metavar="D",
    typed=_RANGES,
)
SWEEP_TOPOLOGIES = Option(
    name="topologies",
    type=list[str],
    help="topologies between the hosts, as recipes, instead of numbers of hosts and the best "
    "topology of each",
    least=1,
    most=100,
    flag="--topology",
    metavar="RECIPE",
    typed=f"2 x RECIPE has two cables for each link; {MANY}",
)
PartName: TypeAlias = Literal["link", "host", "switch"]
LOST = Option(
    name="lost",
    type=list[PartName],
    help="kinds of parts to remove, one part at a time; default: all; a NIC between a GPU and the "
    "network is a link, a NIC with its own node is a switch",
    metavar="link | host | switch",
    typed=MANY,
)

JobStateName: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
JOB_STATE = Option(name="state", type=JobStateName, help="only jobs in this state")
JobOperationName: TypeAlias = Literal[
    "design", "frontier", "topology", "cost", "optimum", "schedule", "patch-plan",
    "verification", "simulation", "comparison", "sweep", "box-design", "iteration",
    "plot-frontier", "plot-sizes", "plot-load", "plot-survey", "plot-iterations", "plot-tree",
]  # fmt: skip
JOB_OPERATION = Option(name="operation", type=JobOperationName, help="only jobs of this operation")
PREFER = Option(
    name="prefer",
    type=str,
    help="RFC 7240: with `wait=n`, the service waits n seconds, at most 60, before it replies 202; "
    "with `respond-async`, it replies 202 at once; default: wait=10",
)
WEBHOOK = Option(
    name="topoloom-webhook",
    type=str,
    help="URL that receives the signed job/1 document when the job succeeds or fails; the "
    "configuration must allow its host",
)

LIMIT = whole("limit", "entries per page", 1, 100, default=20)
CURSOR = Option(
    name="cursor",
    type=str,
    help="`next_cursor` of the previous page; default: the first page",
    flag="--after",
    metavar="CURSOR",
)
COUNT = switch("count", "count the entries of all pages, as `total`")

LEAST_BYTES = size(
    "smallest data size; default: 1KiB, or 1/1024 of the data of a workload", name="from"
)
MOST_BYTES = size("largest data size; default: 1GiB, or 4 times the data of a workload", name="to")
