"""Options of training iterations."""

from decimal import Decimal

from topoloom.app.requests.base import LEAST_POSITIVE, Share
from topoloom.app.requests.options import cluster
from topoloom.app.requests.options.factories import number, whole
from topoloom.app.requests.options.option import Option

PARALLEL = Option(
    name="parallel",
    type=str,
    help="sizes of tensor, context, expert, data and pipeline parallelism, in the order of ranks; "
    "data takes the ranks that the others leave; default: the layout of the preset or of the file",
    metavar="SIZES",
    typed="such as tensor=8,pipeline=4",
)
TOPOLOGY = Option(
    name="topology",
    type=str,
    help="topology between the hosts, as a recipe, boxes, a fabric's name or a file, instead of "
    "the best",
    metavar="TOPOLOGY",
    typed="2 x RECIPE has two cables for each link",
)
ACCELERATOR = Option(
    name="accelerator",
    type=str,
    help="accelerator whose peak rate computes the layers: a100, h100, h800, b200 or mi300x; "
    "default: that of the preset",
    metavar="NAME",
)
EFFICIENCY = Option(
    name="efficiency",
    type=Share,
    help="share of the peak rate that computations reach",
    least=LEAST_POSITIVE,
    most=1,
    default=Decimal("0.5"),
)
ACCELERATORS_PER_HOST = whole(
    "accelerators_per_host",
    "accelerators of each host; default: those of the preset, or 1",
    1,
    64,
    metavar="G",
)
INSIDE_GBPS = number(
    "inside_gbps",
    "rate of one accelerator to the others of its host; default: that of the accelerator",
    "Gbit/s",
)
ITERATION_NODE_GBPS = number(
    "node_gbps",
    "send rate of one host over all its ports; default: one network card per accelerator",
    "Gbit/s",
)
ITERATION_ALPHA_US = number(
    "alpha_us",
    "latency of one hop; default: the latencies that the topology states, else 10",
    "microseconds",
)
MICROBATCHES = whole(
    "microbatches",
    "microbatches of each replica; default: those of the preset or of the file",
    1,
    4096,
    metavar="M",
)

OF_SWEEPS: tuple[Option, ...] = (
    cluster.LINKS,
    PARALLEL,
    ACCELERATOR,
    EFFICIENCY,
    ACCELERATORS_PER_HOST,
    INSIDE_GBPS,
    ITERATION_NODE_GBPS,
    ITERATION_ALPHA_US,
    MICROBATCHES,
)
"""Options of `topoloom sweep iteration`; `topoloom iteration` has a size and a topology, too."""
