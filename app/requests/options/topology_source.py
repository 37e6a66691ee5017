"""The options of naming a topology: how its text is read, and what of it is lost or slow."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictBool, StrictInt

from topoloom.app.requests.base import Rational
from topoloom.app.requests.options.option import Option, choices
from topoloom.synth.topology.assumptions import Assumption

__all__ = [
    "CHANGES",
    "READING",
    "AttributeName",
    "FormatName",
    "NicNames",
    "NodeName",
    "ShortText",
    "UnitName",
    "changeable",
]

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
    "msccl-tools",
    "taccl",
    "nccl-xml",
    "nvidia-smi",
    "rocm-smi",
    "amd-smi",
]
AttributeName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
UnitName: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
ShortText: TypeAlias = Annotated[str, Field(max_length=100)]
NicNames: TypeAlias = Annotated[str, Field(min_length=1, max_length=10_000)]
NodeName: TypeAlias = StrictInt | Annotated[str, Field(max_length=200)]

MAX_CHANGES = 10_000
_RATIONAL = "such as 12.5 or 25/2"
_MANY = "may be given several times"


def _changed(name: str, type_: Any, help: str, **more: Any) -> Option:
    return Option(name=name, type=type_, help=help, least=1, most=MAX_CHANGES, **more)


# Of any text.
FORMAT = Option(
    name="format",
    type=FormatName,
    help="format of the file or text; default: told from the text",
    flag="--from",
    metavar="FORMAT",
    typed=f"the name of a file goes before its text; one of {', '.join(choices(FormatName))}",
)

# Of graphs.
CAPACITY_ATTRIBUTE = Option(
    name="capacity_attribute",
    type=AttributeName,
    help="of a graph: attribute of links that is their capacity, such as weight; default: "
    "capacity, else bandwidth, else every capacity is 1",
    metavar="NAME",
)
KIND_ATTRIBUTE = Option(
    name="kind_attribute",
    type=AttributeName,
    help="of a graph: attribute of nodes that tells switches; default: kind",
    metavar="NAME",
)
SWITCH_VALUES = Option(
    name="switch_values",
    type=list[AttributeName],
    help="of a graph: values of that attribute that mean a switch, such as router; default: switch",
    least=1,
    most=100,
    flag="--switch-value",
    metavar="VALUE",
    typed=_MANY,
)
UNIT = Option(
    name="unit",
    type=UnitName,
    help="of a graph: unit of the capacities, such as GB/s; default: the graph's own, else link "
    "where every capacity is 1, else GB/s",
    metavar="UNIT",
)

DIRECTED = Option(
    name="directed",
    type=StrictBool,
    help="of a graph: whether each link runs one way, from its first node to its second, or both "
    "ways; default: as the file states, else as its format has it",
    flag="--directed/--undirected",
)

# Of what machines say of themselves.
LINK_BANDWIDTH = Option(
    name="link_bandwidth",
    type=Rational,
    help="of a dump: what one NVLink or xGMI link carries; default: by the GPU model, else 25 "
    "for NVLink and 50 for xGMI",
    unit="GB/s per direction",
    metavar="GBPS",
    typed=_RATIONAL,
)
NVLINK = Option(
    name="nvlink",
    type=ShortText,
    help="of a dump: mesh or switch, whether the NVLinks of the file join pairs or lead to a "
    "switch; a number, GB/s per direction of one link; or in place of those of the file none, "
    "dgx-1v, switch:GBPS, mesh:GBPS, pairs:GBPS",
    metavar="NVLINKS",
)
PCIE_BANDWIDTH = Option(
    name="pcie_bandwidth",
    type=Rational,
    help="of a dump: what every PCIe link carries; default: as the file states, else by the GPU "
    "model, else 12",
    unit="GB/s per direction",
    metavar="GBPS",
    typed=_RATIONAL,
)
CPU_BANDWIDTH = Option(
    name="cpu_bandwidth",
    type=Rational,
    help="of a dump: what passes between two CPUs; default: by their vendor, else as PCIe",
    unit="GB/s per direction",
    metavar="GBPS",
    typed=_RATIONAL,
)
BOXES = Option(
    name="boxes",
    type=StrictInt,
    help="copies of the box that a dump describes, joined by their NICs; default: 1",
    least=1,
    most=1024,
    metavar="N",
)
NETWORK = Option(
    name="network",
    type=ShortText,
    help="what joins the boxes: one, rails, rail-only or planes:K; default: one",
    metavar="NETWORK",
)
OVERSUBSCRIPTION = Option(
    name="oversubscription",
    type=Rational,
    help="of boxes: how many times as much enters the leaf switches as goes on from there, at "
    "least 1; default: 1",
    metavar="RATIO",
    typed="such as 2 or 3/2",
)
NICS = Option(
    name="nics",
    type=NicNames,
    help="of boxes: names of the NICs that lead to the network, with commas; or, where the dump "
    "lists none, their number; default: those that are nearest to some GPU",
    metavar="NAMES",
)
NIC_BANDWIDTH = Option(
    name="nic_bandwidth",
    type=Rational,
    help="of boxes: what every NIC carries (default: what the dump says or is known)",
    unit="GB/s per direction",
    metavar="GBPS",
    typed=_RATIONAL,
)
PCIE = Option(
    name="pcie",
    type=ShortText,
    help="auto: PCIe and sockets carry data only where NVLink or xGMI does not join all GPUs; "
    "always: there, too; a generation such as gen4x16: auto, and the rate of every PCIe link; "
    "default: auto",
    metavar="auto | always | genGxLANES",
)

# What is lost or slow.
WITHOUT_NODES = _changed(
    "without_nodes",
    list[NodeName],
    "nodes that are lost with all their links",
    flag="--without-node",
    metavar="ID",
    typed=_MANY,
)
WITHOUT_LINKS = _changed(
    "without_links",
    list[tuple[NodeName, NodeName]],
    "pairs of nodes between which every link is lost, both ways",
    flag="--without-link",
    metavar="A,B",
    typed=_MANY,
)
SLOW_LINKS = _changed(
    "slow_links",
    list[tuple[NodeName, NodeName, Rational]],
    "pairs of nodes, and the share that is left of the capacity between them, both ways, more "
    "than 0 and less than 1, such as 1/2",
    flag="--slow-link",
    metavar="A,B=SHARE",
    typed=_MANY,
)

READING: tuple[Option, ...] = (
    FORMAT,
    *(CAPACITY_ATTRIBUTE, KIND_ATTRIBUTE, SWITCH_VALUES, UNIT, DIRECTED),
    *(LINK_BANDWIDTH, NVLINK, PCIE_BANDWIDTH, CPU_BANDWIDTH),
    *(BOXES, NETWORK, OVERSUBSCRIPTION, NICS, NIC_BANDWIDTH, PCIE),
)
"""How a text is read."""
CHANGES: tuple[Option, ...] = (WITHOUT_NODES, WITHOUT_LINKS, SLOW_LINKS)
"""What of a topology is lost or slow."""

_SPELLINGS = {option.name: option.spelling for option in READING}


def changeable(assumption: Assumption) -> str:
    """Return what was assumed, with the option of the command line that changes it.

    >>> changeable(Assumption("The file states no unit.", "unit"))
    'The file states no unit. (change: --unit)'
    """
    spelling = _SPELLINGS.get(assumption.option, "")
    return f"{assumption.text} (change: {spelling})" if spelling else assumption.text
