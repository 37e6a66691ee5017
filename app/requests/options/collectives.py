"""Options of schedules: collective, algorithm, trees, shards, participants."""

from typing import Any, Literal, TypeAlias

from topoloom.app.requests.base import Gap
from topoloom.app.requests.options.factories import switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

CollectiveName: TypeAlias = Literal["allgather", "reduce-scatter", "allreduce", "all-to-all"]
AnyCollectiveName: TypeAlias = Literal[
    "allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"
]
AlgorithmName: TypeAlias = Literal[
    "bfb",
    "slack",
    "forestcoll",
    "lifted",
    "bfb-one-shot",
    "slack-one-shot",
    "lifted-one-shot",
    "mcf",
    "shortest-paths",
]


def _collective(help: str, default: Any = None) -> Option:
    return Option(name="collective", type=AnyCollectiveName, help=help, default=default)


OPTIMUM_COLLECTIVE = _collective("collective whose optimum is computed", "allgather")
VALUES = switch(
    "values",
    "also the value of every link: algbw gained with more capacity and lost with less; of a "
    "degraded topology, the algbw that each repair restores",
    None,
)
GROUPS = Option(
    name="groups",
    type=str,
    help="process groups: sizes of tensor, context, expert, data and pipeline parallelism, or "
    "lists of hosts; ranks count through the dimensions in this order, and rank r runs on the r-th "
    "compute node; default: one group of all hosts",
    metavar="SIZES_OR_FILE",
    typed="such as tensor=8,data=4, or a JSON file with a list of lists of ids",
)
GROUP = Option(
    name="group",
    type=str,
    help="with groups: one kind of group only, a dimension or several joined by +; default: every "
    "dimension",
    metavar="KIND",
    typed="such as tensor or expert+data",
)
TRAFFIC = Option(
    name="traffic",
    type=dict,
    help="with groups: the collective and the size of each kind of group, where several kinds run "
    "at once; instead of collective and group",
    metavar="KINDS",
    typed="such as tensor=allreduce:64MiB,expert=all-to-all:16MiB",
    instead_of=("collective",),
)
GROUP_NUMBER = whole(
    "number",
    "with groups: number of the group whose schedule is returned, from 0; default: 0",
    0,
    10**5,
)
GROUPED_COLLECTIVE = _collective("collective of the schedule; required without traffic")
RUN_COLLECTIVE = _collective("collective of the schedule", REQUIRED)
COMPARED_COLLECTIVE = _collective("collective to run on the topology; required with a topology")
TREES_PER_ROOT = whole(
    "trees_per_root",
    "forestcoll only: trees per root, or per unit of shard size; default: the least optimal number",
    1,
    10**6,
    metavar="K",
)
MAX_GAP = Option(
    name="max_gap",
    type=Gap,
    help="forestcoll only: use the fewest trees per root that take at most 1 + max_gap times the "
    "optimal time",
    metavar="G",
    typed="such as 1/100 or 0.01",
)
ROOT = Option(
    name="root",
    type=int | str,
    help="source of a broadcast or destination of a reduce: a compute node",
    metavar="ID",
)
SHARDS = Option(
    name="shards",
    type=list,
    help="forestcoll only: relative sizes of the shards; 0 for ranks not named; default: all equal",
    least=1,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed='a=3,b=1 or a JSON list of {"rank", "size"}',
)
PARTICIPANTS = Option(
    name="participants",
    type=list,
    help="forestcoll only: compute nodes that take part; the others only forward; default: all",
    least=2,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed="a,b,c or a JSON list of ids",
)
MAX_HEIGHT = whole(
    "max_height",
    "forestcoll only: limit of rank-to-rank hops in a tree, at the best rate found; default: no "
    "limit",
    1,
    10**6,
)
ALGORITHM = Option(
    name="algorithm",
    type=AlgorithmName,
    help="bfb: fewest steps, for direct topologies with equal links; slack: least bandwidth cost "
    "within a number of steps, for direct topologies; forestcoll: highest throughput, for any "
    "fabric, and for broadcast, reduce, shards and participants; lifted: from the schedules of "
    "the bases of a recipe, at the cost its theorems state; bfb-one-shot: an allreduce in one "
    "pass, in which every rank gathers and reduces all contributions; slack-one-shot: one pass "
    "with a slack schedule; lifted-one-shot: one pass with a lifted schedule; mcf: all-to-all "
    "along the routes of least load (multi-commodity flow); shortest-paths: all-to-all along "
    "shortest paths; default: bfb where it applies, mcf for all-to-all, else forestcoll",
)
MAX_CHUNKS = whole(
    "max_chunks",
    "bfb and slack only, also one-shot: limit of chunks per shard; fewer chunks may cost "
    "bandwidth, which bfb reports; default: enough for no loss",
    1,
    2**16,
)
STEPS = whole(
    "steps",
    "slack and slack-one-shot only: limit of steps per pass, at least the diameter; default: "
    "diameter plus 2",
    1,
    126,
)
CERTIFIED_STEPS = whole(
    "steps",
    "certify slack schedules with this limit of steps per pass, as a frontier point states; "
    "default: breadth-first broadcast",
    1,
    126,
)
