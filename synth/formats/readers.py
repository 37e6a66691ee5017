"""Reading of all formats: the readers by name, and the options of each.

Readers of networkx and SciPy serve where they lose nothing: networkx reads sparse6. GML, GEXF,
Matrix Market and adjacency lists have own readers for three reasons:

* networkx and SciPy read decimals as floats of 53 bits. These readers keep 30 digits.
* Errors name the line of a node, a link or a cell. networkx keeps no lines, SciPy only some.
* Nesting, entities and sizes have limits. networkx recurses over GML and expands the entities of
  GEXF; SciPy allocates the dense matrix that a header announces.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.adjacency_list import adjlist, multiline_adjlist
from topoloom.synth.formats.attributes import Attributes
from topoloom.synth.formats.detection import MAX_CHARACTERS, detect, looks_like, marked_as
from topoloom.synth.formats.dot import dot_graph
from topoloom.synth.formats.edge_list import edgelist
from topoloom.synth.formats.gexf import gexf
from topoloom.synth.formats.gml import gml
from topoloom.synth.formats.graph6 import digraph6, graph6, sparse6
from topoloom.synth.formats.graphml import graphml
from topoloom.synth.formats.ibnetdiscover import ibnetdiscover
from topoloom.synth.formats.infragraph.read import read_infragraph
from topoloom.synth.formats.machines.box import Box, Rates
from topoloom.synth.formats.machines.cluster import assemble
from topoloom.synth.formats.machines.cluster_plan import PCIE_TAKEN, ClusterPlan
from topoloom.synth.formats.machines.host_path import pcie_rate
from topoloom.synth.formats.machines.hwloc_xml import hwloc_xml
from topoloom.synth.formats.machines.nccl_xml import nccl_xml
from topoloom.synth.formats.machines.npu_smi import npu_smi
from topoloom.synth.formats.machines.nvidia_smi import nvidia_smi
from topoloom.synth.formats.machines.nvlink_status import nvlink_status
from topoloom.synth.formats.machines.rocm_smi import rocm_smi
from topoloom.synth.formats.machines.unlisted_nvlinks import nvlinks
from topoloom.synth.formats.matrix_market import matrix_market
from topoloom.synth.formats.network_labs import air, containerlab
from topoloom.synth.formats.node_link import node_link
from topoloom.synth.formats.slurm import slurm
from topoloom.synth.formats.slurm_yaml import slurm_yaml
from topoloom.synth.formats.synthesizers import msccl_tools, taccl, teccl
from topoloom.synth.formats.tables import matrix
from topoloom.synth.formats.topology_json import document
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.topology import Capacity, Topology

DUMPS: Mapping[str, Callable[..., Box]] = MappingProxyType(
    {
        "nccl-xml": nccl_xml,
        "nvidia-smi": nvidia_smi,
        "nvidia-smi-nvlink": nvlink_status,
        "hwloc-xml": hwloc_xml,
        "rocm-smi": rocm_smi,
        "amd-smi": rocm_smi,
        "npu-smi": npu_smi,
    }
)
"""Readers of machine descriptions, by the name of the format."""

GRAPHS: Mapping[str, Callable[..., Topology]] = MappingProxyType(
    {
        "json": document,
        "matrix": matrix,
        "matrix-market": matrix_market,
        "node-link": node_link,
        "graphml": graphml,
        "gexf": gexf,
        "gml": gml,
        "edgelist": edgelist,
        "undirected-edgelist": partial(edgelist, directed=False),
        "adjlist": adjlist,
        "undirected-adjlist": partial(adjlist, directed=False),
        "multiline-adjlist": multiline_adjlist,
        "graph6": graph6,
        "sparse6": sparse6,
        "digraph6": digraph6,
        "slurm": slurm,
        "slurm-yaml": slurm_yaml,
        "msccl-tools": msccl_tools,
        "taccl": taccl,
        "teccl": teccl,
        "dot": dot_graph,
        "containerlab": containerlab,
        "air": air,
        "ibnetdiscover": ibnetdiscover,
        "infragraph": read_infragraph,
    }
)
"""Graphs, by the name of the format; ``json`` is topology/1."""

READABLE = (*GRAPHS, *DUMPS)
"""The names of all formats that can be read."""

_NAMED = ("node-link", "graphml", "gexf", "gml", "dot")
_LABS = ("containerlab", "air")
_UNMARKED = ("edgelist", "undirected-edgelist", "adjlist", "undirected-adjlist")
"""Formats whose readers take almost any line for links."""
_LISTED = ("edgelist", "undirected-edgelist", "multiline-adjlist")

OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "capacity_attribute": (*_NAMED, *_LISTED, "slurm", "taccl", "containerlab"),
        "kind_attribute": (*_NAMED, *_LABS),
        "switch_values": (*_NAMED, *_LABS),
        "unit": tuple(form for form in GRAPHS if form != "json"),
        "directed": (*_NAMED, "edgelist", "adjlist", "multiline-adjlist"),
        "link_bandwidth": tuple(DUMPS),
        "nvlink": tuple(DUMPS),
        "pcie_bandwidth": tuple(DUMPS),
        "cpu_bandwidth": tuple(DUMPS),
        "boxes": tuple(DUMPS),
        "network": tuple(DUMPS),
        "oversubscription": tuple(DUMPS),
        "nics": tuple(DUMPS),
        "nic_bandwidth": tuple(DUMPS),
        "pcie": tuple(DUMPS),
    }
)
"""The options of reading, and the formats that take each."""

_OF_ATTRIBUTES = {
    "capacity_attribute": "capacity",
    "kind_attribute": "kind",
    "switch_values": "switch_values",
    "unit": "unit",
    "directed": "directed",
}
_OF_PLAN = ("boxes", "network", "oversubscription", "nics", "nic_bandwidth", "pcie")


def read(text: str, form: str | None = None, **options: Any) -> Topology:
    r"""Return the topology that a text describes, with what was assumed in ``assumed``.

    Args:
        text: At most 32 Mi characters.
        form: One of `READABLE`; by default the result of `detect`.
        **options: Those of `OPTIONS` that the format takes; None is the default.  Of graphs:
            ``capacity_attribute``, ``kind_attribute``, ``switch_values`` and ``unit``, the fields
            of `attributes.Attributes`, and ``directed``.  Of dumps: ``link_bandwidth``, GB/s per
            direction of one NVLink or xGMI link, exact; ``nvlink``, one of `dumps.nvlinks.NVLINKS`;
            ``pcie_bandwidth``, GB/s per direction of every PCIe link; ``cpu_bandwidth``, GB/s per
            direction between CPUs; and the fields of `dumps.cluster.ClusterPlan`.

    Raises:
        InvalidTopology: The text breaks a rule of its format, the format cannot be detected, or the
            format does not take an option.

    >>> read("0 25\n25 0")
    <Topology (unnamed): 2 compute, 2 links>
    >>> read("a b {'weight': 2.5}", capacity_attribute="weight", unit="GB/s").capacities
    (Fraction(5, 2),)
    >>> box = "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tNV2\tPIX\nGPU1\tNV2\tX\tPIX\nNIC0\tPIX\tPIX\tX\n"
    >>> read(box, boxes=2, nic_bandwidth=25)
    <Topology boxes-2-one: 4 compute, 3 switch, 16 links>
    >>> read("a b 25\nb c fast", "edgelist")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: /line/2: must be a number of at most 30 digits; 'fast' is not
    """  # noqa: E501
    if len(text) > MAX_CHARACTERS:
        raise InvalidTopology("", f"must have at most {MAX_CHARACTERS} characters")
    text = text.removeprefix("\ufeff")
    if form is not None:
        return _as_stated(text, form, options)
    return _read(text, detect(text), options)


def _as_stated(text: str, form: str, options: dict[str, Any]) -> Topology:
    """Return the topology of a text in the stated format."""
    try:
        found = _read(text, form, options)
    except InvalidTopology as error:
        looks = looks_like(text) if form in READABLE else form
        if looks in (None, form, form.removeprefix("undirected-")):
            raise
        raise InvalidTopology(error.field, f"{error.rule}; the text looks like {looks}") from None
    if form in _UNMARKED and (looks := marked_as(text)) not in (None, form):
        raise InvalidTopology("", f"looks like {looks}, not like {form}")
    return found


def _read(text: str, form: str, options: dict[str, Any]) -> Topology:
    if form not in READABLE:
        raise InvalidTopology("/format", one_of(form, READABLE))
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"read() got an unexpected keyword argument {name!r}")
        if form not in OPTIONS[name]:
            raise InvalidTopology(
                f"/{name}", f"is only for {', '.join(OPTIONS[name])}; not for {form}"
            )
    return (_dump if form in DUMPS else _graph)(text, form, given)


def _graph(text: str, form: str, given: dict[str, Any]) -> Topology:
    if not given:
        return GRAPHS[form](text)
    if "switch_values" in given:
        given["switch_values"] = tuple(given["switch_values"])
    attributes = Attributes(**{_OF_ATTRIBUTES[name]: value for name, value in given.items()})
    return GRAPHS[form](text, attributes=attributes)


def _dump(text: str, form: str, given: dict[str, Any]) -> Topology:
    plan = ClusterPlan(**{name: given[name] for name in _OF_PLAN if name in given})
    rates = _rates(given)
    # The other tools list no NICs.
    more = {"nics": plan.boxes > 1} if form in ("nccl-xml", "nvidia-smi") else {}
    return assemble(DUMPS[form](text, rates=rates, **more), plan)


def _rates(given: dict[str, Any]) -> Rates:
    """Return the rates of the links of a box that the options state."""
    for name in ("link_bandwidth", "pcie_bandwidth", "cpu_bandwidth"):
        if not isinstance(given.get(name, 1), int | Fraction):
            raise InvalidTopology(f"/{name}", "must be a number, GB/s per direction")
        if given.get(name, 1) <= 0:
            raise InvalidTopology(f"/{name}", "must be positive")
    if "link_bandwidth" in given and nvlinks(given.get("nvlink")).link is not None:
        raise InvalidTopology("/link_bandwidth", "must be left out: nvlink states the same rate")
    return Rates(
        given.get("link_bandwidth"),
        given.get("nvlink"),
        _pcie(given),
        given.get("cpu_bandwidth"),
    )


def _pcie(given: dict[str, Any]) -> Capacity | None:
    """Return GB/s of every PCIe link, stated by one of two options."""
    generation = given.get("pcie", "auto")
    if "pcie_bandwidth" not in given:
        return None if generation in PCIE_TAKEN else pcie_rate(generation)
    if generation not in PCIE_TAKEN:
        raise InvalidTopology("/pcie_bandwidth", "must be left out: pcie states the same rate")
    return given["pcie_bandwidth"]
