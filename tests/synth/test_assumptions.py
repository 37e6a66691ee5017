"""Nothing is assumed in silence: a fact that a text no longer states is reported, or demanded.

Each reader has a text that states every fact it can, with options for what its format cannot
state: nothing is assumed of it.  Then each fact is taken out by itself.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.cases import for_every
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import READABLE, read
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.degrade import degraded


class Stated(NamedTuple):
    """A text of a format, the options that complete it, and how each fact is taken out.

    ``facts`` maps the option that a missing fact is reported with to pattern and replacement.
    """

    text: str
    options: Mapping[str, Any] = {}
    facts: Mapping[str, tuple[str, str]] = {}


GRAPHML = """<graphml><key id="c" for="edge" attr.name="capacity"/>
<key id="k" for="node" attr.name="kind"/><key id="u" for="graph" attr.name="bandwidth_unit"/>
<graph edgedefault="directed"><data key="u">GB/s</data>
<node id="a"><data key="k">compute</data></node><node id="b"><data key="k">switch</data></node>
<node id="c"><data key="k">compute</data></node>
<edge source="a" target="b"><data key="c">25</data></edge>
<edge source="b" target="c"><data key="c">25</data></edge>
<edge source="c" target="a"><data key="c">25</data></edge></graph></graphml>"""
GEXF = """<gexf><graph defaultedgetype="directed" bandwidth_unit="GB/s">
<attributes class="node"><attribute id="0" title="kind"/></attributes>
<attributes class="edge"><attribute id="1" title="capacity"/></attributes>
<nodes><node id="a"><attvalues><attvalue for="0" value="compute"/></attvalues></node>
<node id="b"><attvalues><attvalue for="0" value="compute"/></attvalues></node></nodes>
<edges><edge source="a" target="b"><attvalues><attvalue for="1" value="25"/></attvalues></edge>
<edge source="b" target="a"><attvalues><attvalue for="1" value="25"/></attvalues></edge></edges>
</graph></gexf>"""
GML = """graph [ directed 0 bandwidth_unit "GB/s"
node [ id 0 label "a" kind "compute" ] node [ id 1 label "b" kind "compute" ]
edge [ source 0 target 1 capacity 25 ] ]"""
NODE_LINK = """{"directed": false, "graph": {"bandwidth_unit": "GB/s"},
"nodes": [{"id": "a", "kind": "compute"}, {"id": "b", "kind": "compute"}],
"edges": [{"source": "a", "target": "b", "capacity": 25}]}"""
DOCUMENT = """{"schema": "topology/1", "bandwidth_unit": "GB/s", "nodes": [{"id": 0}, {"id": 1}],
"links": [{"source": 0, "target": 1, "capacity": 25},
{"source": 1, "target": 0, "capacity": 25}]}"""
XML = """<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0000:10:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="80" gdr="1"><nvlink target="0000:20:00.0" count="4" tclass="0x030200"/></gpu></pci>
<pci busid="0000:20:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="1" sm="80" gdr="1"><nvlink target="0000:10:00.0" count="4" tclass="0x030200"/></gpu></pci>
<pci busid="0000:30:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
<nic><net name="mlx5_0" dev="0" speed="200000" gdr="1"/></nic></pci></cpu></system>"""
SMI = """        GPU0 GPU1 GPU2 GPU3 NIC0
GPU0 X NV4 NV4 SYS PIX
GPU1 NV4 X NV4 SYS PIX
GPU2 NV4 NV4 X SYS PIX
GPU3 SYS SYS SYS X SYS
NIC0 PIX PIX PIX SYS X
"""
ROCM = """=== Link Type between two GPUs ===
 GPU0 GPU1 GPU2
GPU0 0 XGMI PCIE
GPU1 XGMI 0 PCIE
GPU2 PCIE PCIE 0
"""
BOXES = {"boxes": 2, "network": "one", "oversubscription": 1, "nics": "1", "nic_bandwidth": 25}
RATES = {"link_bandwidth": 25, "nvlink": "mesh", "pcie_bandwidth": 24, "cpu_bandwidth": 16}
LIST = {"directed": False, "unit": "GB/s"}

NO_CAPACITY = ("25", "")
"""Capacities of lists are cells."""

STATED = {
    "json": Stated(
        DOCUMENT, facts={"": (', "capacity": 25', ""), "unit": ('"bandwidth_unit": "GB/s", ', "")}
    ),
    "node-link": Stated(
        NODE_LINK,
        facts={
            "directed": ('"directed": false, ', ""),
            "capacity_attribute": (', "capacity": 25', ""),
            "kind_attribute": (', "kind": "compute"', ""),
            "unit": (', "graph": {"bandwidth_unit": "GB/s"}', ""),
        },
    ),
    "graphml": Stated(
        GRAPHML,
        facts={
            "directed": (' edgedefault="directed"', ""),
            "capacity_attribute": ('<data key="c">25</data>', ""),
            "kind_attribute": ('<data key="k">[a-z]*</data>', ""),
            "unit": ('<data key="u">GB/s</data>', ""),
        },
    ),
    "gexf": Stated(
        GEXF,
        facts={
            "directed": (' defaultedgetype="directed"', ""),
            "capacity_attribute": ('<attvalue for="1" value="25"/>', ""),
            "kind_attribute": ('<attvalue for="0" value="compute"/>', ""),
            "unit": (' bandwidth_unit="GB/s"', ""),
        },
    ),
    "gml": Stated(
        GML,
        facts={
            "directed": ("directed 0", ""),
            "capacity_attribute": (" capacity 25", ""),
            "kind_attribute": (' kind "compute"', ""),
            "unit": ('bandwidth_unit "GB/s"', ""),
        },
    ),
    "dot": Stated(
        "digraph { graph [x=y] node [kind=compute] a -> b [capacity=25]; b -> a [capacity=25] }",
        {"unit": "GB/s"},
        {
            "capacity_attribute": (" \\[capacity=25\\]", ""),
            "kind_attribute": ("node \\[kind=compute\\]", ""),
        },
    ),
    "edgelist": Stated("a b 25\nb c 25", LIST, {"capacity_attribute": NO_CAPACITY}),
    "undirected-edgelist": Stated("a b 25", {"unit": "GB/s"}, {"capacity_attribute": NO_CAPACITY}),
    "multiline-adjlist": Stated(
        "a 1\nb {'capacity': 25}\nb 0", LIST, {"capacity_attribute": ("{'capacity': 25}", "")}
    ),
    "msccl-tools": Stated(
        '{"msccl_type": "topology", "name": "pair", "switches": [], "links": [[0, 2], [1, 0]]}',
        {"unit": "GB/s"},
    ),
    "matrix": Stated("0 25\n25 0", {"unit": "GB/s"}),
    "matrix-market": Stated(
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 25\n",
        {"unit": "GB/s"},
        {"capacity_attribute": ("real symmetric\n2 2 1\n2 1 25", "pattern symmetric\n2 2 1\n2 1")},
    ),
    "nccl-xml": Stated(
        XML,
        BOXES | {"link_bandwidth": 25, "pcie": "always", "nics": "mlx5_0"},
        {
            "gdr": ('(<gpu[^>]*) gdr="1"', r"\1"),
            "pcie_bandwidth": (' link_speed="16.0 GT/s PCIe"', ""),
            "pcie_bandwidth again": (' link_width="16"', ""),
        },
    ),
    "nvidia-smi": Stated(SMI, BOXES | RATES | {"nics": "NIC0"}),
    "rocm-smi": Stated(ROCM, BOXES | RATES),
    "amd-smi": Stated(ROCM, BOXES | RATES),
}
"""Of those formats that can state a capacity."""

SILENT = {
    "adjlist": ("a b c\nb c\nc a", {"directed", "capacity_attribute"}),
    "undirected-adjlist": ("a b c\nb c\nc", {"capacity_attribute"}),
    "slurm": ("SwitchName=leaf Nodes=a,b", {"", "capacity_attribute"}),
    "containerlab": (
        "topology:\n  nodes: {a: {kind: linux}, b: {kind: linux}}\n"
        "  links: [{endpoints: [a:1, b:1]}]",
        {"kind_attribute", "capacity_attribute"},
    ),
    "air": (
        '{"content": {"nodes": {"a": {"os": "generic"}, "b": {"os": "generic"}}, '
        '"links": [[{"node": "a"}, {"node": "b"}]]}}',
        {"kind_attribute", "capacity_attribute"},
    ),
    "infragraph": (
        '{"devices": [{"name": "box", "components": [{"name": "gpu", "choice": "xpu", "count": 2}, '
        '{"name": "cpu", "choice": "cpu", "count": 3}], "links": [{"name": "pcie"}], "edges": '
        '[{"ep1": {"component": "cpu"}, "ep2": {"component": "gpu"}, "scheme": "many2many", '
        '"link": "pcie"}, {"ep1": {"component": "cpu[0]"}, "ep2": {"component": "cpu[1:]"}, '
        '"scheme": "many2many", "link": "pcie"}]}], "instances": [{"name": "box", "device": "box", '
        '"count": 1}], "links": [], "edges": []}',
        {""},
    ),
    "ibnetdiscover": (
        'Ca 1 "H-1" # "a hca"\n[1] "H-2"[1] # "b hca" 4xEDR\n'
        'Ca 1 "H-2" # "b hca"\n[1] "H-1"[1] # "a hca" 4xEDR\n',
        {""},
    ),
    "teccl": ('{"TopologyParams": {"name": "DGX1"}}', {""}),
    "hwloc-xml": (
        '<topology><object type="Machine"><object type="Package"><object type="PCIDev" '
        'pci_type="0302"/></object><object type="Package"><object type="PCIDev" pci_type="0302"/>'
        "</object></object></topology>",
        {"pcie_bandwidth", "cpu_bandwidth"},
    ),
    "npu-smi": ("  NPU0 NPU1\nNPU0 X HCCS\nNPU1 HCCS X\n", {"link_bandwidth"}),
    "nvidia-smi-nvlink": ("GPU 0: a\n Link 0: 25 GB/s\nGPU 1: a\n Link 0: 25 GB/s\n", {"nvlink"}),
    "slurm-yaml": (
        "- topology: t\n  tree:\n    switches:\n    - {switch: leaf, nodes: 'a,b'}",
        {"", "capacity_attribute"},
    ),
    "taccl": (
        '{"name": "pair", "gpus_per_node": 2, "links": [[0, 1], [1, 0]], '
        '"betas": [[0, 20], [20, 0]]}',
        {"capacity_attribute"},
    ),
    "graph6": ("Bw", {"capacity_attribute"}),
    "sparse6": (":Bc", {"capacity_attribute"}),
    "digraph6": ("&BW?", {"capacity_attribute"}),
}


def options_of(assumed: tuple[Assumption, ...]) -> set[str]:
    return {assumption.option for assumption in assumed}


def test_every_reader_is_held_to_this() -> None:
    assert {*STATED, *SILENT} == {*READABLE}


@pytest.mark.parametrize("form", STATED)
def test_of_a_text_that_states_everything_nothing_is_assumed(form: str) -> None:
    stated = STATED[form]
    left = [
        assumption.text
        for assumption in read(stated.text, form, **stated.options).assumed
        # That a GPU has no NVLink, and where the links of the file lead, is seen in the file.
        if not assumption.text.startswith(("No NVLink joins", "The dump lists no NICs"))
    ]
    assert not left


@for_every(
    ("form", "fact"), [(form, fact) for form, stated in STATED.items() for fact in stated.facts]
)
def test_a_fact_that_is_taken_out_is_reported_with_the_option_that_states_it(form, fact) -> None:
    stated = STATED[form]
    pattern, replacement = stated.facts[fact]
    text, count = re.subn(pattern, replacement, stated.text)
    assert count
    option = fact.removesuffix(" again")
    try:
        found = options_of(read(text, form, **stated.options).assumed)
    except InvalidTopology as error:
        assert error.field == f"/{option}"
        return
    assert found - options_of(read(stated.text, form, **stated.options).assumed) or found == {""}
    assert option in found or option in ("gdr", "unit")


@for_every(
    ("form", "option"),
    [
        (form, option)
        for form, stated in STATED.items()
        for option in stated.options
        if option not in ("boxes",)
    ],
)
def test_an_option_that_is_left_out_is_reported_or_demanded(form: str, option: str) -> None:
    stated = STATED[form]
    fewer = {name: value for name, value in stated.options.items() if name != option}
    try:
        found = options_of(read(stated.text, form, **fewer).assumed)
    except InvalidTopology as error:
        # An AMD dump must be told how many NICs there are, a matrix how fast they are.
        assert error.field == f"/{option}"
        return
    # With pcie=auto nothing is left out here; the file states speeds of NICs, and no mesh.
    seen_in_the_file = {
        ("nccl-xml", "nic_bandwidth"),
        ("rocm-smi", "nvlink"),
        ("amd-smi", "nvlink"),
    }
    assert option in found or (form, option) in seen_in_the_file


@pytest.mark.parametrize("form", SILENT)
def test_what_a_format_cannot_state_is_reported(form: str) -> None:
    text, expected = SILENT[form]
    assert options_of(read(text, form).assumed) == expected


def test_a_list_that_names_both_ways_states_its_direction() -> None:
    assert "directed" not in options_of(read("a b 1\nb a 1", "edgelist").assumed)


def test_attributes_that_are_not_read_are_named() -> None:
    text = NODE_LINK.replace('"capacity"', '"weight"').replace('"kind"', '"role"')
    texts = " ".join(assumption.text for assumption in read(text).assumed)
    assert "weight" in texts
    assert "role" in texts


def test_switches_that_a_list_cannot_state_are_named() -> None:
    found = read("h0 leaf1 25\nleaf1 h1 25\nh1 h0 25", "edgelist").assumed
    assert any("leaf1" in assumption.text for assumption in found)


def test_assumptions_stay_with_a_topology_wherever_it_goes() -> None:
    topology = read("a b\nb c\nc a", "edgelist")
    assert topology.assumed
    document = topology.to_document()
    assert topology_from_document(document).assumed == topology.assumed
    assert topology.transpose().assumed == topology.renamed("ring").assumed == topology.assumed
    slow = degraded(topology, slow_links=[("a", "b", 1 / 2)])
    assert slow.assumed == topology.assumed
    stated = read("a b\nb c\nc a", "edgelist", directed=True)
    assert (stated == topology, stated.digest == topology.digest) == (True, True)


@pytest.mark.parametrize("assumed", [{}, ["text"], [{"option": "unit"}], [{"text": "a\nb"}]])
def test_assumptions_of_another_shape_are_refused(assumed: Any) -> None:
    document = read("0 1\n1 0").to_document() | {"assumed": assumed}
    with pytest.raises(InvalidTopology, match="/assumed"):
        topology_from_document(document)


@pytest.mark.parametrize(
    ("heading", "unit"), [("GB/s", "GB/s"), ("gbps", "Gbit/s"), ("Gbit/s", "Gbit/s")]
)
def test_a_heading_of_a_list_states_the_unit(heading: str, unit: str) -> None:
    topology = read(f"from,to,{heading}\na,b,25\nb,a,25\n")
    assert topology.bandwidth_unit == unit
    assert not topology.assumed
    assert options_of(read("from,to,rate\na,b,25\nb,a,25\n").assumed) == {"unit"}
