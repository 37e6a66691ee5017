"""Options of a topology source: how its text is read, and which parts are lost or slow."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictInt

from topoloom.app.requests.base import Rational
from topoloom.app.requests.options.factories import several, switch, whole
from topoloom.app.requests.options.option import Option, choices
from topoloom.synth.topology.assumptions import Assumption

FormatName: TypeAlias = Literal[
    "json",
    "matrix",
    "matrix-market",
    "node-link",
    "graphml",
    "gexf",
    "gml",
    "edgelist",
    "undirected-edgelist",
    "adjlist",
    "undirected-adjlist",
    "multiline-adjlist",
    "graph6",
    "sparse6",
    "digraph6",
    "slurm",
    "slurm-yaml",
    "msccl-tools",
    "taccl",
    "teccl",
    "dot",
    "containerlab",
    "air",
    "ibnetdiscover",
    "infragraph",
    "nccl-xml",
    "nvidia-smi",
    "nvidia-smi-nvlink",
    "hwloc-xml",
    "rocm-smi",
    "amd-smi",
    "npu-smi",
]
AttributeName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
UnitName: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
ShortText: TypeAlias = Annotated[str, Field(max_length=100)]
NicNames: TypeAlias = Annotated[str, Field(min_length=1, max_length=10_000)]
NodeName: TypeAlias = StrictInt | Annotated[str, Field(max_length=200)]

MAX_CHANGES = 10_000


def _changed(name: str, type_: Any, help: str, metavar: str) -> Option:
    flag = f"--{name.removesuffix('s').replace('_', '-')}"
    return several(name, type_, help, MAX_CHANGES, flag=flag, metavar=metavar)


def _rate(name: str, help: str) -> Option:
    unit, typed = "GB/s per direction", "such as 12.5 or 25/2"
    return Option(name=name, type=Rational, help=help, unit=unit, metavar="GBPS", typed=typed)


# Options for any text.
FORMAT = Option(
    name="format",
    type=FormatName,
    help="format of the file or text; default: detected from the file name, else from the text",
    flag="--from",
    metavar="FORMAT",
    typed=f"one of {', '.join(choices(FormatName))}",
)

# Options for graphs.
CAPACITY_ATTRIBUTE = Option(
    name="capacity_attribute",
    type=AttributeName,
    help="graphs: link attribute with the capacity, such as weight; default: capacity, else "
    "bandwidth, else every capacity is 1",
    metavar="NAME",
)
KIND_ATTRIBUTE = Option(
    name="kind_attribute",
    type=AttributeName,
    help="graphs: node attribute that marks switches; default: kind",
    metavar="NAME",
)
SWITCH_VALUES = several(
    "switch_values",
    list[AttributeName],
    "graphs: values of that attribute for a switch, such as router; default: switch",
    100,
    flag="--switch-value",
    metavar="VALUE",
)
UNIT = Option(
    name="unit",
    type=UnitName,
    help="graphs: unit of the capacities, such as GB/s; default: the unit in the file, else link "
    "if every capacity is 1, else GB/s",
    metavar="UNIT",
)

DIRECTED = switch(
    "directed",
    "graphs: each link runs one way, from its first node to its second, or both ways; "
    "default: as the file states, else the rule of the format",
    None,
    flag="--directed/--undirected",
)

# Options for dumps of machines.
LINK_BANDWIDTH = _rate(
    "link_bandwidth",
    "dumps: rate of one NVLink or xGMI link; default: by the GPU model, else 25 for NVLink "
    "and 50 for xGMI",
)
NVLINK = Option(
    name="nvlink",
    type=ShortText,
    help="dumps: mesh or switch: the NVLinks of the file join pairs of GPUs, or lead to a switch; "
    "a number: GB/s per direction of one link; none, dgx-1v, switch:GBPS, mesh:GBPS or "
    "pairs:GBPS: replaces the NVLinks of the file",
    metavar="NVLINKS",
)
PCIE_BANDWIDTH = _rate(
    "pcie_bandwidth",
    "dumps: rate of every PCIe link; default: as the file states, else by the GPU model, else 12",
)
CPU_BANDWIDTH = _rate(
    "cpu_bandwidth",
    "dumps: rate between two CPUs; default: by their vendor, else the PCIe rate",
)
BOXES = whole(
    "boxes",
    "dumps: number of copies of the machine, joined by their NICs; default: 1",
    1,
    1024,
    metavar="N",
)
NETWORK = Option(
    name="network",
    type=ShortText,
    help="boxes: network between them: one, rails, rail-only or planes:K; default: one",
    metavar="NETWORK",
)
OVERSUBSCRIPTION = Option(
    name="oversubscription",
    type=Rational,
    help="boxes: ratio of capacity into and out of the leaf switches, at least 1; default: 1",
    metavar="RATIO",
    typed="such as 2 or 3/2",
)
NICS = Option(
    name="nics",
    type=NicNames,
    help="boxes: comma-separated names of the NICs in the network, or their number if the dump "
    "lists none; default: the NICs nearest to a GPU",
    metavar="NAMES",
)
NIC_BANDWIDTH = _rate(
    "nic_bandwidth",
    "boxes: rate of every NIC (default: as the dump states, else by the NIC model)",
)
PCIE = Option(
    name="pcie",
    type=ShortText,
    help="auto: PCIe and sockets carry data only where NVLink or xGMI does not join all GPUs; "
    "always: in every case; a generation such as gen4x16: auto, with this rate of every PCIe "
    "link; default: auto",
    metavar="auto | always | genGxLANES",
)

# Options for lost and slow parts.
WITHOUT_NODES = _changed(
    "without_nodes",
    list[NodeName],
    "nodes to remove with all their links",
    "ID",
)
WITHOUT_LINKS = _changed(
    "without_links",
    list[tuple[NodeName, NodeName]],
    "pairs of nodes whose links to each other are removed, in both directions",
    "A,B",
)
SLOW_LINKS = _changed(
    "slow_links",
    list[tuple[NodeName, NodeName, Rational]],
    "pairs of nodes with the remaining share of the capacity between them, in both directions, "
    "more than 0 and less than 1, such as 1/2",
    "A,B=SHARE",
)

READING: tuple[Option, ...] = (
    FORMAT,
    *(CAPACITY_ATTRIBUTE, KIND_ATTRIBUTE, SWITCH_VALUES, UNIT, DIRECTED),
    *(LINK_BANDWIDTH, NVLINK, PCIE_BANDWIDTH, CPU_BANDWIDTH),
    *(BOXES, NETWORK, OVERSUBSCRIPTION, NICS, NIC_BANDWIDTH, PCIE),
)
"""Options that control how a text is read."""
CHANGES: tuple[Option, ...] = (WITHOUT_NODES, WITHOUT_LINKS, SLOW_LINKS)
"""Options for lost and slow parts of a topology."""

_SPELLINGS = {
    **{option.name: option.spelling for option in READING},
    "alpha_us": "--alpha-us",
    "node_gbps": "--node-gbps",
    "cable": "cable=RATE of Boxes",
    "ports": "ports=RULE of Boxes",
}


def changeable(assumption: Assumption) -> str:
    """Return the text of an assumption with the CLI option that changes the assumption.

    >>> changeable(Assumption("The file states no unit.", "unit"))
    'The file states no unit. (change: --unit)'
    """
    spelling = _SPELLINGS.get(assumption.option, "")
    return f"{assumption.text} (change: {spelling})" if spelling else assumption.text
