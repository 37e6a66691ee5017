"""The options, by what they are about; `OPTIONS` has them all."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from pydantic import StrictBool, StrictInt

from app.options import known, learning_rate, reading
from app.options.option import REQUIRED, Option
from app.quantities import LEAST_POSITIVE, MAX_BYTES, MOST, Bytes, Gap, NotNegative, Positive

LinkKind: TypeAlias = Literal["unidirectional", "bidirectional"]
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
JudgeName: TypeAlias = Literal["bfb", "best"]
ScheduleFormat: TypeAlias = Literal[
    "json", "msccl-xml", "mscclpp-json", "chakra-et", "nccl-tuner-csv", "dot", "graphml"
]
DialectName: TypeAlias = Literal["msccl", "azure", "rccl"]
TopologyFormat: TypeAlias = Literal[
    "json",
    "graphml",
    "dot",
    "edgelist",
    "gexf",
    "gml",
    "node-link",
    "adjlist",
    "matrix-market",
    "graph6",
    "sparse6",
    "digraph6",
]
PanelKind: TypeAlias = Literal["per-port", "single"]
PlaceKind: TypeAlias = Literal["fixed", "free"]
DeviceFormat: TypeAlias = Literal[
    "sonic-cli",
    "sonic-patch",
    "sonic-config",
    "polatis-netconf",
    "polatis-scpi",
    "calient-tl1",
    "dicon",
    "netbox-csv",
    "html",
    "dot",
    "graphml",
    "deployment",
]
PlanFormat: TypeAlias = Literal["json", "csv"] | DeviceFormat

_SIZE = "an integer, or with B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024)"
_MANY = "may be given several times"


def _whole(name: str, help: str, least: int, most: int, **more: Any) -> Option:
    return Option(name=name, type=StrictInt, help=help, least=least, most=most, **more)


def _number(name: str, help: str, unit: str, **more: Any) -> Option:
    """Return a decimal number that is more than 0."""
    limits = {"least": LEAST_POSITIVE, "most": MOST}
    return Option(name=name, type=Positive, help=help, unit=unit, **limits, **more)


def _switch(name: str, help: str, default: bool | None = False, **more: Any) -> Option:
    return Option(name=name, type=StrictBool, help=help, default=default, **more)


def _size(help: str, **more: Any) -> Option:
    facts = {"name": "bytes", "type": Bytes, "least": 1, "most": MAX_BYTES, "typed": _SIZE}
    return Option(help=help, **facts | more)


# Which hosts there are, and what is looked for.
NODES = _whole("nodes", "number of hosts", 2, 10**6, default=REQUIRED, metavar="N")
DEGREE = _whole("degree", "ports of each host", 1, 10**4, default=REQUIRED, metavar="D")
LINKS = Option(
    name="links",
    type=LinkKind,
    default="unidirectional",
    help="unidirectional: a port is one fibre in and one out, which may lead to different "
    "hosts; bidirectional: both lead to the same host",
)
PARALLEL_LINKS = _switch(
    "parallel_links", "allow several links from one host to the same other host"
)
VERTEX_TRANSITIVE = _switch(
    "vertex_transitive", "only topologies that are known to look the same from every host"
)
FAMILIES = Option(
    name="families",
    type=list[str],
    help="only topologies made of these families of bases; left out, of all",
    least=1,
    most=100,
    flag="--family",
    metavar="NAME",
    typed=_MANY,
)
BASES = Option(
    name="bases",
    type=list[str],
    help="recipes that take part beside the families, as they are and expanded",
    least=1,
    most=20,
    flag="--base",
    metavar="FILE_OR_RECIPE",
    typed=f"or files of graphs, whose hosts' number divides N; {_MANY}",
)
MAX_STEPS = _whole(
    "max_steps", "only topologies of at most so many steps, and so on their transposes", 1, 10**6
)
SCHEDULE = Option(
    name="schedule",
    type=JudgeName,
    default="best",
    help="what topologies are judged by: best, by breadth-first broadcast and by labels, that is, "
    "also by arrivals that are not as early as they can be; bfb, by breadth-first broadcast alone",
)
ALL_TO_ALL = _switch(
    "all_to_all", "measure all-to-all on every point, too, exactly or between bounds", None
)

# How fast the hosts are, and what they run.
NODE_GBPS = _number(
    "node_gbps", "what one host sends at most, all ports together", "Gbit/s", default=Decimal(100)
)
ALPHA_US = _number("alpha_us", "latency of one hop", "microseconds", default=Decimal(10))
MESSAGE_US = Option(
    name="overhead_us",
    type=NotNegative,
    help="how long each message keeps its link busy beside its bytes; left out, 0",
    unit="microseconds",
    least=0,
    most=MOST,
)
CHUNK_US = Option(
    name="chunk_us",
    type=NotNegative,
    help="the same for each chunk of a message; left out, 0",
    unit="microseconds",
    least=0,
    most=MOST,
)
MEASURED = Option(
    name="measured",
    type=list,
    help="instead of node_gbps, alpha_us, overhead_us and chunk_us: times of messages over one "
    "link, to which they are fitted",
    least=2,
    most=10_000,
    metavar="FILE",
    typed="CSV with the columns bytes, seconds, messages, chunks, as `topoloom probe` writes it, "
    "or a JSON file with a list of such rows",
)
COLLECTIVE = Option(name="collective", type=CollectiveName, help="what is run, on data of a size")
DESIGN_BYTES = _size(
    "allgather: size of the result; reduce-scatter, allreduce: of the input; all-to-all: of "
    "what a host has for all hosts together"
)
WORKLOAD = Option(
    name="workload",
    type=list,
    help="instead: several collectives, each with its size and how often it is run",
    least=1,
    most=1000,
    metavar="FILE",
    typed='a JSON file with a list of {"collective", "bytes", "count"}',
)
PRESET = Option(
    name="preset",
    type=str,
    help="instead: one training step of a known model, which `topoloom presets` lists",
    metavar="NAME",
)

# Of which collective, by how many trees, whose data, for whom.
OPTIMUM_COLLECTIVE = Option(
    name="collective",
    type=AnyCollectiveName,
    default="allgather",
    help="the optimum depends on where data starts and where it goes",
)
RUN_COLLECTIVE = Option(
    name="collective", type=AnyCollectiveName, default=REQUIRED, help="what the schedule does"
)
TREES_PER_ROOT = _whole(
    "trees_per_root",
    "forestcoll only: trees per root, or per unit of size of a shard; left out, the least "
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
    help="forestcoll only: relative sizes of the shards, 0 for those left out; by default all "
    "equal",
    least=1,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed='a=3,b=1 or a JSON file with a list of {"rank", "size"}',
)
PARTICIPANTS = Option(
    name="participants",
    type=list,
    help="forestcoll only: the compute nodes that take part, the others only forward; by "
    "default all",
    least=2,
    most=10**5,
    metavar="FILE_OR_LIST",
    typed="a,b,c or a JSON file with a list of ids",
)
MAX_HEIGHT = _whole(
    "max_height",
    "forestcoll only: no tree of a pass has more hops from rank to rank, at the best rate that is "
    "found; left out, any height",
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
    "(multi-commodity flow); shortest-paths: all-to-all by fewest hops; left out, bfb where it "
    "applies, mcf for all-to-all, else forestcoll",
)
MAX_CHUNKS = _whole(
    "max_chunks",
    "bfb and slack only, in one pass too: cut each shard into at most so many chunks, at the "
    "least loss of bandwidth, which bfb says; left out, as many as lose none",
    1,
    2**16,
)
STEPS = _whole(
    "steps",
    "slack only, in one pass too: at most so many steps of each pass, from the diameter on; left "
    "out, two more than the diameter",
    1,
    126,
)

CERTIFIED_STEPS = _whole(
    "steps",
    "labels within so many steps of each pass, as a point of a frontier says; left out, by "
    "breadth-first broadcast",
    1,
    126,
)

# In which format a schedule is written.
SCHEDULE_FORMAT = Option(
    name="format",
    type=ScheduleFormat,
    default="json",
    help="what the schedule is written as; json is schedule/1",
)
DIALECT = Option(name="dialect", type=str, help="msccl-xml: msccl, azure or rccl; left out, msccl")
RUNTIME = Option(
    name="runtime",
    type=str,
    help="msccl-xml, mscclpp-json: what will load the file, a library on a device, whose limits it "
    "keeps (docs/schedule-formats.md lists them); left out, the smallest device that takes it",
    metavar="NAME",
)
INSTANCES = _whole(
    "instances",
    "msccl-xml, mscclpp-json: into how many parts on channels of their own every message is cut "
    "(left out, 1)",
    1,
    16,
)
MIN_BYTES = _size(
    "msccl-xml, mscclpp-json: least size of data that the file is for", name="min_bytes"
)
MAX_EXPORT_BYTES = _size(
    "msccl-xml, mscclpp-json: largest size of data that the file is for", name="max_bytes"
)
SCRATCH_BUDGET = _size(
    "msccl-xml, mscclpp-json: bytes of scratch that a GPU may give (left out, 1 GiB where a "
    "run-time allocates at start, elsewhere no limit)",
    name="scratch_budget",
)
TUNER_CHANNELS = _whole(
    "channels",
    "nccl-tuner-csv: channels of NCCL (left out, at least 2, and one for every 20 GB/s of a host)",
    1,
    32,
)
INPLACE = _switch(
    "inplace", "msccl-xml, mscclpp-json: for calls whose input and output are one buffer", None
)
RANKS_PER_NODE = _whole(
    "ranks_per_node",
    "ranks of one machine; mscclpp-json: they use memory channels, others port channels (left "
    "out, 1); nccl-tuner-csv: rows are for so many machines (left out, for any number)",
    1,
    10**6,
)
_SAID = "with any format, for the time that is said"
EXPORT_BYTES = _size("chakra-et, which needs it: size of the data", typed=f"{_SIZE}; {_SAID}")
EXPORT_ALPHA_US = _number(
    "alpha_us", "nccl-tuner-csv: latency of one hop (left out, 10)", "microseconds", typed=_SAID
)
EXPORT_NODE_GBPS = _number(
    "node_gbps",
    "nccl-tuner-csv: what one host sends at most (left out, the topology's own unit, and 100 "
    "where that counts links)",
    "Gbit/s",
    typed="with any format, for the rates that are said",
)

# Simulations.
SIMULATED_BYTES = _size(
    "allgather: size of the result; else of the input of every rank", default=REQUIRED
)
SIMULATED_NODE_GBPS = _number(
    "node_gbps",
    "what one host sends at most, all ports together (left out, the topology's own unit, and "
    "100 where that counts links)",
    "Gbit/s",
)
SIMULATED_ALPHA_US = Option(
    name="alpha_us",
    type=NotNegative,
    default=Decimal(10),
    help="latency of one hop, 0 for none",
    unit="microseconds",
    least=0,
    most=MOST,
)
LINK_GBPS = _number("link_gbps", "instead: what one unit of capacity carries", "Gbit/s")
OVERHEAD_US = Option(
    name="overhead_us",
    type=NotNegative,
    default=Decimal(0),
    help="how long each message keeps its link busy beside its bytes",
    unit="microseconds",
    least=0,
    most=MOST,
)
CHANNELS = _whole(
    "channels", "how many links a host sends on at a time; left out, on all", 1, 10**4
)
CHUNKS = _whole(
    "chunks",
    "into how many pieces each message is cut; left out, 1 for steps, and for trees what is "
    "best in lock step",
    1,
    2**20,
)
SYNCHRONOUS = _switch("synchronous", "all hosts wait for the slowest message of each step or round")

OPPONENT = Option(
    name="opponent",
    type=str,
    help="with --out: write the schedule of this one, schedule/1",
    metavar="NAME",
)

# Runs on this machine.
RANKS = _whole("ranks", "how many processes; must be the number of ranks it has", 1, 128)
PROBED_RANKS = _whole(
    "ranks",
    "processes on this machine; the first talks to each other one",
    2,
    128,
    default=2,
)
ROUND_TRIPS = _whole("repeat", "round trips of each; their median counts", 1, 10_000, default=20)
EXECUTED_BYTES = _size("size of the data, a multiple of 4", default=2**20)
REPEAT = _whole("repeat", "runs, each on fresh data", 1, 1000, default=1)
PIPELINE_CHUNKS = _whole(
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

# Topologies and wiring.
TOPOLOGY_FORMAT = Option(
    name="format",
    type=TopologyFormat,
    default="json",
    help="what the topology is written as; json is topology/1",
)
PANELS = Option(
    name="panels",
    type=PanelKind,
    default="per-port",
    help="one panel for each port of the hosts, or one for all",
)
HOSTS = _whole("hosts", "hosts cabled to the panels; left out, the nodes of the topology", 1, 10**6)
LANES = _whole("lanes", "ports cabled of each host; left out, the degree of the topology", 1, 10**4)
PLANT = Option(
    name="plant",
    type=list,
    help="instead of panels, hosts and lanes: the hosts, panels and cabling that there are, "
    "plant/1, or a list of cables as NetBox and Nautobot have it",
    metavar="FILE",
    typed="JSON, YAML or CSV",
)
PLACE = Option(
    name="place",
    type=PlaceKind,
    default="fixed",
    help="fixed: every node sits on the host of its name or number; free: on whichever host "
    "needs the fewest moves",
)
MAX_LINKS_DOWN = _whole(
    "max_links_down", "most links that are taken away in one stage; left out, any", 1, 10**6
)
STAY_CONNECTED = _switch(
    "stay_connected", "the hosts must reach each other all the time by what is plugged"
)
MAKE_FIRST = _switch("make_first", "what has free ports is plugged before anything is taken away")
SPARES = _switch("spares", "use ports that are marked as spare, too")
PRESENT = Option(
    name="present",
    type=list,
    help='what is plugged today: pairs {"panel", "a", "b"}, or a patch-plan/1 document, whose '
    "final wiring is meant; left out, what the plant says, or nothing",
    metavar="FILE",
    typed="a file of them, or a CSV file with these columns",
)
DESIGN_PANELS = replace(
    PANELS,
    default=None,
    help="today's wiring is weighed: one panel for each port of the hosts, or one for all",
)
DESIGN_PLANT = replace(
    PLANT, help="today's wiring is weighed, instead on this plant: plant/1, or a list of cables"
)
DESIGN_PRESENT = replace(
    PRESENT,
    help=f"today's wiring is weighed: {PRESENT.help}",
)
DESIGN_PLACE = replace(PLACE, default=None, help=f"where moves are counted: {PLACE.help}")
DESIGN_SPARES = replace(SPARES, default=None, help=f"where moves are counted: {SPARES.help}")
MAX_MOVES = _whole(
    "max_moves", "only topologies that today's wiring reaches in at most so many moves", 0, 10**7
)
PLAN_FORMAT = Option(
    name="format",
    type=PlanFormat,
    default="json",
    help="json is patch-plan/1, csv a work order, the others are for devices and people",
)
DEVICE_FORMAT = Option(
    name="format",
    type=DeviceFormat,
    default=REQUIRED,
    help="what is written: for SONiC-OCS, Polatis, Calient, DiCon, NetBox, people (html, dot), "
    "programs (graphml), or addresses and routes of the hosts (deployment)",
)

AT_ONCE = _whole("at_once", "hosts, panels and pairs that fail together", 1, 2, default=1)
WORST = _whole("worst", "so many failures, the worst first", 1, 20_000, default=10)
WayName: TypeAlias = Literal["re-patch", "spare-ports", "spare-host", "left-out"]
DEAD_HOSTS = Option(
    name="hosts",
    type=list[str],
    help="dead hosts",
    flag="--dead-host",
    metavar="HOST",
    typed=_MANY,
    least=1,
    most=1000,
)
DEAD_HOST_PORTS = Option(
    name="host_ports",
    type=list[str],
    help="dead ports of hosts",
    flag="--dead-host-port",
    metavar="HOST/PORT",
    typed=_MANY,
    least=1,
    most=1000,
)
DEAD_PORTS = Option(
    name="ports",
    type=list[str],
    help="dead ports of panels",
    flag="--dead-port",
    metavar="PANEL/PORT",
    typed=_MANY,
    least=1,
    most=1000,
)
DEAD_PAIRS = Option(
    name="pairs",
    type=list[str],
    help="plugged pairs through which no light goes, such as panel-0/3A-12B; both ports are then "
    "dead",
    flag="--dead-pair",
    metavar="PANEL/A-B",
    typed=_MANY,
    least=1,
    most=1000,
)
WAY = Option(
    name="way",
    type=WayName,
    help="write the plan of this way too, and the plant that it is on; left out, the ways are only "
    "weighed",
)

# Sweeps.
_RANGES = f"a number, or a range FROM:TO or FROM:TO:STEP; {_MANY}"
SWEEP_NODES = Option(
    name="nodes", type=list[str], help="numbers of hosts", metavar="N", typed=_RANGES
)
SWEEP_DEGREES = Option(
    name="degrees",
    type=list[str],
    help="ports of each host",
    flag="--degree",
    metavar="D",
    typed=_RANGES,
)
PartName: TypeAlias = Literal["link", "host", "switch"]
LOST = Option(
    name="lost",
    type=list[PartName],
    help="which parts are lost, one at a time; left out, all three: a network card is a link where "
    "it joins a GPU to the network, a switch where it is a node",
    metavar="link | host | switch",
    typed=_MANY,
)

# Jobs.
JobStateName: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
JOB_STATE = Option(name="state", type=JobStateName, help="only jobs in this state")
JOB_OPERATION = Option(
    name="operation", type=str, help="only jobs of this operation", metavar="NAME"
)
PREFER = Option(
    name="prefer",
    type=str,
    help="RFC 7240: `wait=n` waits up to n seconds for the answer, 60 at most, before it is "
    "promised with 202; `respond-async` promises it at once; left out, 10 seconds are waited",
)
WEBHOOK = Option(
    name="topoloom-webhook",
    type=str,
    help="URL that is sent the job/1 document, signed, when the answer is there or has failed; "
    "its host must be one that the configuration names",
)

# Lists of what is stored.
LIMIT = _whole("limit", "most entries of one page", 1, 100, default=20)
CURSOR = Option(
    name="cursor",
    type=str,
    help="`next_cursor` of the page before; left out, the first",
    flag="--after",
    metavar="CURSOR",
)

# Plots.
LEAST_BYTES = _size(
    "smallest size of the data; left out, 1KiB, or 1/1024 of what a workload moves", name="from"
)
MOST_BYTES = _size(
    "largest size of the data; left out, 1GiB, or 4 times what a workload moves", name="to"
)

OPTIONS: tuple[Option, ...] = (
    *(entry for entry in dict(globals()).values() if isinstance(entry, Option)),
    *reading.READING,
    *reading.CHANGES,
    *known.OPTIONS,
    *learning_rate.TUNING,
    *(entry for entry in vars(learning_rate).values() if isinstance(entry, Option)),
)
"""Every entry above, those of naming a topology, which are in `app.options.reading`, those of
asking what is known, in `app.options.known`, and of tuning, in `app.options.learning_rate`."""
