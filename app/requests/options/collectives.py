"""The options of schedules: of which collective, by how many trees, whose data, for whom."""

from typing import Literal, TypeAlias

from topoloom.app.requests.base import Gap
from topoloom.app.requests.options.factories import switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option

__all__ = [
    "ALGORITHM",
    "CERTIFIED_STEPS",
    "COMPARED_COLLECTIVE",
    "MAX_CHUNKS",
    "MAX_GAP",
    "MAX_HEIGHT",
    "OPTIMUM_COLLECTIVE",
    "PARTICIPANTS",
    "ROOT",
    "RUN_COLLECTIVE",
    "SHARDS",
    "STEPS",
    "TREES_PER_ROOT",
    "VALUES",
    "AlgorithmName",
    "AnyCollectiveName",
    "CollectiveName",
]

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

OPTIMUM_COLLECTIVE = Option(
    name="collective",
    type=AnyCollectiveName,
    default="allgather",
    help="the optimum depends on where data starts and where it goes",
)
VALUES = switch(
    "values",
    "also what every link is worth: algbw gained with more of it and lost with less; of a topology "
    "with lost or slow parts what undoing each change brings",
    None,
)
RUN_COLLECTIVE = Option(
    name="collective", type=AnyCollectiveName, default=REQUIRED, help="what the schedule does"
)
COMPARED_COLLECTIVE = Option(
    name="collective",
    type=AnyCollectiveName,
    help="of a topology, which needs it: what is run there",
)
TREES_PER_ROOT = whole(
    "trees_per_root",
    "forestcoll only: trees per root, or per unit of size of a shard; default: the least "
    "number that is optimal",
    1,
    10**6,
    metavar="K",
)
MAX_GAP = Option(
    name="max_gap",
    type=Gap,
    help="forestcoll only, instead of trees_per_root: the fewest trees per root that take at "
    "most 1 + max_gap times as long as the optimum",
    metavar="G",
    typed="such as 1/100 or 0.01",
)
ROOT = Option(
    name="root",
    type=int | str,
    help="of a broadcast or reduce: the compute node where the data begins or ends",
    metavar="ID",
)
SHARDS = Option(
    name="shards",
    type=list,
    help="forestcoll only: relative sizes of the shards, 0 for those not named; default: all equal",
    least=1,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed='a=3,b=1 or a JSON file with a list of {"rank", "size"}',
)
PARTICIPANTS = Option(
    name="participants",
    type=list,
    help="forestcoll only: the compute nodes that take part, the others only forward; default: all",
    least=2,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed="a,b,c or a JSON file with a list of ids",
)
MAX_HEIGHT = whole(
    "max_height",
    "forestcoll only: most hops from rank to rank in a tree of a pass, at the best rate that is "
    "found; default: any height",
    1,
    10**6,
)
ALGORITHM = Option(
    name="algorithm",
    type=AlgorithmName,
    help="bfb: fewest steps, for hosts joined by equal links; slack: least bandwidth within a "
    "number of steps, for hosts joined directly; forestcoll: highest throughput, "
    "for any fabric, and for broadcast, reduce, shards and participants; lifted: from the bases "
    "of a recipe, at the cost its theorems state; bfb-one-shot: an allreduce in one pass, every "
    "rank gathers all contributions and adds them up; slack-one-shot: the same by slack; "
    "lifted-one-shot: the same by lifted; mcf: all-to-all by the routes of least load "
    "(multi-commodity flow); shortest-paths: all-to-all by fewest hops; default: bfb where it "
    "applies, mcf for all-to-all, else forestcoll",
)
MAX_CHUNKS = whole(
    "max_chunks",
    "bfb and slack only, in one pass too: cut each shard into at most so many chunks, at the "
    "least loss of bandwidth, which bfb reports; default: enough to lose none",
    1,
    2**16,
)
STEPS = whole(
    "steps",
    "slack and slack-one-shot only: at most so many steps in each pass, at least the diameter; "
    "default: two more than the diameter",
    1,
    126,
)
CERTIFIED_STEPS = whole(
    "steps",
    "slack schedules of at most so many steps in each pass, as a point of a frontier says; "
    "default: breadth-first broadcast",
    1,
    126,
)
