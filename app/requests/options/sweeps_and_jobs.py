"""The options of sweeps, jobs, lists of what is stored, and plots."""

from typing import Literal, TypeAlias

from topoloom.app.requests.options.factories import MANY, size, whole
from topoloom.app.requests.options.option import Option
from topoloom.synth.limits import MAX_DEGREE, MAX_HOSTS

__all__ = [
    "CURSOR",
    "JOB_OPERATION",
    "JOB_STATE",
    "LEAST_BYTES",
    "LIMIT",
    "LOST",
    "MOST_BYTES",
    "PREFER",
    "SWEEP_DEGREES",
    "SWEEP_NODES",
    "WEBHOOK",
    "JobStateName",
    "PartName",
]


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
PartName: TypeAlias = Literal["link", "host", "switch"]
LOST = Option(
    name="lost",
    type=list[PartName],
    help="which parts are lost, one at a time; default: all three: a network card is a link where "
    "it joins a GPU to the network, a switch where it is a node",
    metavar="link | host | switch",
    typed=MANY,
)

JobStateName: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
JOB_STATE = Option(name="state", type=JobStateName, help="only jobs in this state")
JOB_OPERATION = Option(
    name="operation", type=str, help="only jobs of this operation", metavar="NAME"
)
PREFER = Option(
    name="prefer",
    type=str,
    help="RFC 7240: `wait=n` waits up to n seconds for the answer, 60 at most, before it is "
    "promised with 202; `respond-async` promises it at once; default: wait=10",
)
WEBHOOK = Option(
    name="topoloom-webhook",
    type=str,
    help="URL that is sent the job/1 document, signed, when the answer is there or has failed; "
    "its host must be one that the configuration names",
)

LIMIT = whole("limit", "most entries of one page", 1, 100, default=20)
CURSOR = Option(
    name="cursor",
    type=str,
    help="`next_cursor` of the page before; default: the first",
    flag="--after",
    metavar="CURSOR",
)

LEAST_BYTES = size(
    "smallest size of the data; default: 1KiB, or 1/1024 of what a workload moves", name="from"
)
MOST_BYTES = size(
    "largest size of the data; default: 1GiB, or 4 times what a workload moves", name="to"
)
