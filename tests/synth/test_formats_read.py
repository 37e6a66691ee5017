"""Reading other people's files: right figures from right files, one error from the rest."""

import json
import re
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.forestcoll import optimum
from synth.errors import InvalidTopology
from synth.fabrics import fabric
from synth.formats import MAX_CHARACTERS, OPTIONS, READABLE, WRITERS, detect, read
from synth.formats.dumps.cluster import PCIE_TAKEN
from synth.formats.read import DUMPS
from synth.topology import Topology

DATA = Path(__file__).parent / "data"
FILES = {
    "dgx-1v.nccl.xml": "nccl-xml",
    "hgx-h100.nccl.xml": "nccl-xml",
    "mi300x.rccl.xml": "nccl-xml",
    "pcie-box.nccl.xml": "nccl-xml",
    "dgx-1v.nvidia-smi.txt": "nvidia-smi",
    "dgx-a100.nvidia-smi.txt": "nvidia-smi",
    "pcie-box.nvidia-smi.txt": "nvidia-smi",
    "mi210-bridges.rocm-smi.txt": "rocm-smi",
    "mi250.rocm-smi.txt": "rocm-smi",
    "mi300x.rocm-smi.txt": "rocm-smi",
    "ring.matrix.txt": "matrix",
    "square.matrix.csv": "matrix",
    "star.node-link.json": "node-link",
    "multi.node-link.json": "node-link",
    "star.graphml": "graphml",
    "pair.yed.graphml": "graphml",
    "ring.edgelist.txt": "edgelist",
    "networkx.edgelist.txt": "edgelist",
    "circulant.adjlist": "adjlist",
    "circulant.d6": "digraph6",
    "cloud-a100.nccl.xml": "nccl-xml",
    "cloud-bare.nccl.xml": "nccl-xml",
    "cloud-h100.nccl.xml": "nccl-xml",
    "cloud-v100.nccl.xml": "nccl-xml",
    "cycle.undirected-adjlist.txt": "undirected-adjlist",
    "full.mtx": "matrix-market",
    "half-nvlinks.nvidia-smi.txt": "nvidia-smi",
    "lost-nvlinks.nvidia-smi.txt": "nvidia-smi",
    "mi250.amd-smi.txt": "amd-smi",
    "nic-per-gpu.nvidia-smi.txt": "nvidia-smi",
    "petersen.g6": "graph6",
    "petersen.s6": "sparse6",
    "ring.mtx": "matrix-market",
    "routers.gml": "gml",
    "star.gexf": "gexf",
    "weighted.multiline-adjlist.txt": "multiline-adjlist",
}
SAID = ("undirected-adjlist", "multiline-adjlist")
"""Formats that nothing tells: the user does."""
ROUTERS = {"capacity_attribute": "speed", "kind_attribute": "type", "switch_values": ["router"]}


def text_of(name: str) -> str:
    return (DATA / name).read_text()


def shape(topology: Topology) -> "nx.DiGraph[object]":
    """Return the graph with kinds and capacities, for comparing up to the names."""
    return nx.DiGraph(topology.to_networkx())


def same_shape(one: Topology, other: Topology) -> bool:
    return nx.is_isomorphic(
        shape(one),
        shape(other),
        node_match=lambda a, b: a["kind"] == b["kind"],
        edge_match=lambda a, b: a["capacity"] == b["capacity"],
    )


def test_every_format_has_a_file_and_every_file_is_tried() -> None:
    assert set(FILES.values()) | {"json", "undirected-edgelist"} == set(READABLE)
    assert {path.name for path in DATA.iterdir()} == set(FILES)


@pytest.mark.parametrize(("name", "form"), FILES.items())
def test_the_format_of_a_file_is_told_from_its_text(name: str, form: str) -> None:
    text = text_of(name)
    if form not in SAID:
        assert detect(text, name) == form
    topology = read(text, form)
    assert read("\ufeff" + text.replace("\n", "\r\n"), form) == topology
    topology.require_connected()


@pytest.mark.parametrize(
    ("name", "known", "link_bandwidth"),
    [
        ("dgx-1v.nccl.xml", "dgx-1v", None),
        ("dgx-1v.nvidia-smi.txt", "dgx-1v", None),
        ("dgx-a100.nvidia-smi.txt", "dgx-a100-1", None),
        ("hgx-h100.nccl.xml", "dgx-h100-1", None),
        ("mi300x.rccl.xml", "mi300x", None),
        ("mi300x.rocm-smi.txt", "mi300x", 64),
    ],
)
def test_what_a_box_reports_of_itself_is_the_fabric_known_by_name(name, known, link_bandwidth):
    topology = read(text_of(name), link_bandwidth=link_bandwidth)
    assert same_shape(topology, fabric(known))
    assert optimum(topology).algbw == optimum(fabric(known)).algbw
    assert topology.bandwidth_unit == "GB/s"


def test_a_box_without_nvlink_is_a_tree_of_pcie_bridges_and_sockets() -> None:
    topology = read(text_of("pcie-box.nccl.xml"))
    links = {(link.source, link.target): link.capacity for link in topology.links}
    # 16 lanes of generation 4 are 24 GB/s in practice; AMD's sockets have 16 between them.
    assert links["gpu0", "pci 0000:20:00.0"] == links["pci 0000:20:00.0", "cpu0"] == 24
    assert links["cpu0", "cpu1"] == links["cpu1", "cpu0"] == 16
    assert optimum(topology).algbw == Fraction(4 * 16, 2)


def test_nvidia_smi_without_nvlink_is_a_tree_of_its_levels() -> None:
    topology = read(text_of("pcie-box.nvidia-smi.txt"))
    assert topology.switches == {"PIX0", "NODE0", "SYS0"}
    assert set(topology.capacities) == {12}
    assert optimum(topology).algbw == 16


def test_rocm_smi_takes_widths_from_the_table_of_bandwidths() -> None:
    topology = read(text_of("mi250.rocm-smi.txt"))
    links = {(link.source, link.target): link.capacity for link in topology.links}
    assert (links["GPU0", "GPU1"], links["GPU0", "GPU6"], links["GPU0", "GPU2"]) == (200, 100, 50)
    assert ("GPU0", "GPU4") not in links


def test_a_rocm_box_that_xgmi_does_not_join_goes_through_its_numa_nodes() -> None:
    topology = read(text_of("mi210-bridges.rocm-smi.txt"))
    assert topology.switches == {"numa0", "numa1", "sys0"}
    assert optimum(topology).algbw == Fraction(4 * 12, 2)


def test_links_are_faster_where_the_user_says_so() -> None:
    text = text_of("dgx-1v.nvidia-smi.txt")
    half = read(text, link_bandwidth=Fraction(25, 2))
    assert optimum(half).algbw * 2 == optimum(read(text)).algbw
    with pytest.raises(InvalidTopology, match="/link_bandwidth: is only for nvidia-smi"):
        read(text_of("dgx-1v.nccl.xml"), link_bandwidth=25)
    with pytest.raises(InvalidTopology, match="/link_bandwidth: must be positive"):
        read(text, link_bandwidth=0)


def test_tables_and_graphs_of_the_same_links_are_the_same() -> None:
    matrix = read("0 1 0\n0 0 1\n1 0 0")
    assert matrix == read("0 1\n1 2\n2 0", "edgelist")
    assert matrix == read(json.dumps(nx.node_link_data(shape(matrix), edges="links")))
    assert matrix.bandwidth_unit == "link"
    both = read("0 1\n1 2\n2 0", "undirected-edgelist")
    assert both == read("0 1 1\n1 0 1\n1 1 0")
    assert read(text_of("star.graphml")).digest == read(text_of("star.node-link.json")).digest


@pytest.mark.parametrize("name", ["dgx-1v", "dgx-a100-2", "trainium2"])
def test_what_is_written_as_graphml_or_json_is_read_back(name: str) -> None:
    topology = fabric(name)
    for form in ("graphml", "json", "gml", "node-link"):
        again = read(WRITERS[form](topology))
        assert (again.digest, again.name) == (topology.digest, topology.name)
    edges = read(WRITERS["edgelist"](topology))
    assert sorted(map(str, edges.links)) == sorted(map(str, topology.links))


def test_graphs_of_the_same_links_are_the_same_in_every_format() -> None:
    petersen = Topology(
        range(10), [link for ends in nx.petersen_graph().edges() for link in (ends, ends[::-1])]
    )
    assert read(text_of("petersen.g6")) == petersen == read(text_of("petersen.s6"), "sparse6")
    circulant = read(text_of("circulant.d6"), "digraph6")
    assert same_shape(circulant, read(text_of("circulant.adjlist"), "adjlist"))
    cycle = read(text_of("cycle.undirected-adjlist.txt"), "undirected-adjlist")
    assert cycle == read("0 1\n1 2\n2 3\n3 0", "undirected-edgelist")
    assert same_shape(read(text_of("ring.mtx"), unit="link"), scaled(cycle, Fraction(3, 2)))
    assert read(text_of("full.mtx")) == read("0 1 2\n1 0 1\n2 1 0")
    lines = text_of("weighted.multiline-adjlist.txt")
    assert read(lines, "multiline-adjlist") == read("a b 2\nb c 3\nc a 4")
    assert read(text_of("star.gexf")).digest == read(text_of("star.graphml")).digest


def scaled(topology: Topology, factor: Fraction) -> Topology:
    links = [(link.source, link.target, link.capacity * factor) for link in topology.links]
    return Topology(topology.nodes, links)


def test_capacities_switches_and_units_are_where_the_user_says() -> None:
    topology = read(text_of("routers.gml"), **ROUTERS, unit="Gbit/s")
    assert (topology.name, topology.bandwidth_unit) == ("pair", "Gbit/s")
    assert (topology.nodes, topology.switches) == (("a", "b & c", "r"), {"r"})
    assert topology.capacities == (Fraction(25, 2), 25, Fraction(25, 2), 25)
    named = {"nodes": [{"id": 1, "sw": True}, {"id": 2, "sw": False}, {"id": 3}]}
    named["links"] = [{"source": 1, "target": i, "gbps": "25/2"} for i in (2, 3)]
    options = {"capacity_attribute": "gbps", "kind_attribute": "sw", "switch_values": ["true"]}
    found = read(json.dumps(named), **options)
    assert (found.switches, {*found.capacities}) == ({1}, {Fraction(25, 2)})
    weighted = "a b {'weight': 3, 'capacity': 7}\nb a {'capacity': 7, 'weight': 2.5}"
    assert read(weighted).capacities == (7, 7)
    assert read(weighted, capacity_attribute="weight").capacities == (3, Fraction(5, 2))


@pytest.mark.parametrize(
    ("text", "form", "options", "place", "words"),
    [
        ("a b {}", None, {"capacity_attribute": "w"}, "/line/1", "attribute 'w'"),
        (text_of("star.gexf"), None, {"capacity_attribute": "w"}, "/line/15", "attribute 'w'"),
        (text_of("routers.gml"), None, {"kind_attribute": "type"}, "/line/6", "'host' is not"),
        ("0 1\n1 0", "matrix", {"kind_attribute": "x"}, "/kind_attribute", "is only for"),
        ("Bw", "graph6", {"capacity_attribute": "x"}, "/capacity_attribute", "is only for"),
        ("Bw", "graph6", {"boxes": 2}, "/boxes", "is only for nccl-xml"),
        ("a b", "edgelist", {"unit": "x" * 201}, "", "printable"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(text, form, options, place, words) -> None:
    with pytest.raises(InvalidTopology, match=words) as caught:
        read(text, form, **options)
    assert caught.value.field == place


def test_what_yed_draws_is_passed_over_and_defaults_are_taken() -> None:
    assert read(text_of("pair.yed.graphml")).capacities == (Fraction(5, 2), 5)


HEAD = "\tGPU0\tGPU1\tGPU2\n"
ROCM = "== Link Type between two GPUs ==\n"
XML = '<system><cpu numaid="0" arch="x86_64">{}</cpu></system>'
GPU = '<pci busid="0000:{0}:00.0"><gpu dev="{0}" sm="{1}">{2}</gpu></pci>'
LINK = '<nvlink target="0000:{}:00.0" count="{}" tclass="{}"/>'


def box(first: str, second: str = "", sm: str = "80") -> str:
    return XML.format(GPU.format(1, sm, first) + "\n" + GPU.format(2, sm, second))


BAD = {
    # name: (format, text, place, words)
    "nothing": (None, "", "", "one of the formats"),
    "binary": (None, "\x7fELF\x02\x01\x00\x00", "", "one of the formats"),
    "prose": (None, "the quick brown fox\njumps over", "", "one of the formats"),
    "unknown format": ("yaml", "a: b", "/format", "must be one of json"),
    "matrix of three rows of two": ("matrix", "0 1\n1 0\n1 1", "/line/1", "must have 3 cells"),
    "matrix with a negative cell": ("matrix", "0 -1\n1 0", "/line/1", "'-1' is not"),
    "matrix with NaN": ("matrix", "0 1\nnan 0", "/line/2", "'nan' is not"),
    "matrix with infinity": ("matrix", "0 1\n1e999 0", "/line/2", "'1e999' is not"),
    "matrix with a loop": ("matrix", "0 1\n1 5", "/line/2", "diagonal"),
    "matrix with a repeated name": ("matrix", ",a,a\na,0,1\na,1,0", "/line/3", "unique"),
    "huge number": ("edgelist", "a b 1\nb a " + "9" * 31, "/line/2", "30 digits"),
    "number over zero": ("edgelist", "a b 1/0", "/line/1", "'1/0' is not"),
    "negative link": ("edgelist", "a b 1\nb a -3", "/line/2", "'-3' is not"),
    "zero link": ("edgelist", "a b 1\nb a 0", "/line/2", "must be positive"),
    "four cells": ("edgelist", "a b 1\nb a 1 7", "/line/2", "source, target"),
    "a link to itself": ("edgelist", "a b 1\nb b 1", "/line/2", "two different nodes"),
    "no JSON": ("node-link", '{"nodes": [\n}', "/line/2", "must be JSON"),
    "JSON without nodes": ("node-link", "{}", "/nodes", "must be a list"),
    "JSON without links": ("node-link", '{"nodes": [{"id": 1}]}', "/links", "must be a list"),
    "a node without id": ("node-link", '{"nodes": [{}], "links": []}', "/nodes/0/id", "string"),
    "NaN in JSON": (
        "node-link",
        '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "capacity": NaN}]}',
        "/links/0/capacity",
        "positive number",
    ),
    "an end that is no node": (
        "node-link",
        '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}',
        "/links/0/target",
        "id of a node",
    ),
    "deep JSON": ("node-link", '{"nodes":' + "[" * 200_000, "", "nest"),
    "wrong root": ("graphml", "<system/>", "/line/1", "root"),
    "two graphs": ("graphml", "<graphml><graph/>\n<graph/></graphml>", "/line/1", "one graph"),
    "hyperedge": (
        "graphml",
        "<graphml><graph>\n<hyperedge/></graph></graphml>",
        "/line/2",
        "hyper",
    ),
    "broken XML": ("graphml", "<graphml>\n<graph>", "/line/2", "well-formed"),
    "entities": (
        None,
        '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>',
        "/line/1",
        "no DOCTYPE",
    ),
    "an external entity": (
        "nccl-xml",
        '<?xml version="1.0"?>\n<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/hostname">]><s>&x;</s>',
        "/line/2",
        "no DOCTYPE",
    ),
    "deep XML": ("nccl-xml", "<system>" + "\n<pci>" * 5000, "/line/65", "64 deep"),
    "no GPU": ("nccl-xml", "<system/>", "/line/1", "must hold a <gpu>"),
    "no bus": ("nccl-xml", XML.format("<pci><gpu dev='0'/></pci>"), "/line/1", "busid"),
    "a link of no class": (
        "nccl-xml",
        box(LINK.format(2, 1, "0x55")),
        "/line/1",
        "tclass of <nvlink>",
    ),
    "links of one side": (
        "nccl-xml",
        box(LINK.format(2, 2, "0x030200"), LINK.format(1, 1, "0x030200")),
        "/line/1",
        "agree both ways",
    ),
    "very many links": (
        "nccl-xml",
        box(LINK.format(2, 10**9, "0x030200")),
        "/line/1",
        "at most 1000",
    ),
    "a GPU too old": (
        "nccl-xml",
        box(LINK.format(2, 1, "0x030200"), sm="35"),
        "/line/1",
        "at least 60",
    ),
    "two GPUs of one number": (
        "nccl-xml",
        XML.format(GPU.format(1, 80, "") + "\n" + GPU.format(1, 80, "").replace("0000", "0001")),
        "/line/2",
        "unique",
    ),
    "GML without a graph": ("gml", "node [ id 1 ]", "", "one graph"),
    "GML cut short": ("gml", "graph [\nnode [ id 1", "/line/2", "must not end"),
    "GML with too many brackets": ("gml", "graph [ ] ]", "/line/1", "] must end"),
    "GML of nobody": ("gml", "graph [\nnode [ label 1 ] ]", "/line/2", "id of its own"),
    "GML with a stranger": (
        "gml",
        "graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]",
        "/line/2",
        "ids of nodes",
    ),
    "GML with a node for a number": ("gml", "graph [ node 1 ]", "/line/1", "followed by ["),
    "deep GML": ("gml", "graph [" + "\na [" * 5000, "/line/64", "64 deep"),
    "nodes in nodes": (
        "gexf",
        '<gexf><graph><nodes><node id="a"><nodes/></node></nodes></graph></gexf>',
        "/line/1",
        "no graph of its own",
    ),
    "GEXF of entities": (
        "gexf",
        '<!DOCTYPE gexf [<!ENTITY a "aaaa">]><gexf>&a;</gexf>',
        "/line/1",
        "no DOCTYPE",
    ),
    "no matrix market": ("matrix-market", "%%MatrixMarket vector", "/line/1", "must be %%"),
    "complex numbers": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate complex general\n1 1 0",
        "/line/1",
        "must be %%",
    ),
    "a matrix that is not square": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 3",
        "/line/2",
        "square",
    ),
    "an entry outside": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 3",
        "/line/3",
        "from 1 to 2",
    ),
    "entries that are missing": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3",
        "/line/2",
        "2 entries; there are 1",
    ),
    "a graph of too many nodes": ("graph6", "~~~~~~~~", "/line/1", "from 1 to 4096"),
    "a graph cut short": ("graph6", "Z?", "/line/1", "a bit for each pair"),
    "a graph too long": ("graph6", "B????", "/line/1", "last pair"),
    "no digraph": ("digraph6", "Bw", "/line/1", "begins with"),
    "an edge to itself": ("sparse6", ":A`", "/line/1", "two different nodes"),
    "a node with two lines": ("adjlist", "a b\na c", "/line/2", "had its line"),
    "a link to oneself in a list": ("adjlist", "a b a", "/line/1", "two different nodes"),
    "too few targets": ("multiline-adjlist", "a 2\nb", "/line/2", "2 lines of targets"),
    "no heading": ("nvidia-smi", "GPU1 X\n", "", "heading"),
    "a missing row": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\tNV1\n", "/line/1", "row for GPU1"),
    "a missing cell": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\n", "/line/2", "a cell for each"),
    "an unknown cell": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\tWIFI\n", "/line/2", "'WIFI'"),
    "a stranger": ("nvidia-smi", HEAD + "GPU7\tX\tNV1\tNV1\n", "/line/2", "'GPU7'"),
    "unlike both ways": (
        "nvidia-smi",
        "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV2\tX\n",
        "/line/3",
        "same cell both ways",
    ),
    "X elsewhere": ("nvidia-smi", "\tGPU0\tGPU1\nGPU0\tX\tX\nGPU1\tX\tX\n", "/line/2", "X must"),
    "no link types": ("rocm-smi", "== Numa Nodes ==\n", "", "Link Type"),
    "an unknown type": (
        "rocm-smi",
        ROCM + "GPU0 GPU1\nGPU0 0 WIFI\n",
        "/line/3",
        "'WIFI'",
    ),
    "too few types": ("rocm-smi", ROCM + "GPU0 GPU1\nGPU0 0\n", "/line/3", "must have 2 cells"),
    "a control character": ("edgelist", "a\x01 b 1", "/line/1", "printable"),
    "a long id": ("edgelist", "a" * 201 + " b 1", "/line/1", "200 characters"),
}


@pytest.mark.parametrize(("form", "text", "place", "words"), BAD.values(), ids=list(BAD))
def test_a_wrong_file_is_one_error_that_names_the_place_and_the_rule(form, text, place, words):
    with pytest.raises(InvalidTopology) as caught:
        read(text, form)
    assert caught.value.field == place
    assert words in caught.value.rule


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("matrix", "0 1\n" * 5000, "from 1 to 4096 rows"),
        ("matrix", "0 " * 150_000, "200000 characters"),
        ("edgelist", "1 2\n" * 1_000_001, "1000000 lines"),
        ("graphml", "<graphml>" + "<a/>" * 1_000_001, "1000000 elements"),
        ("nvidia-smi", "GPU0 " + " ".join(f"N{i}" for i in range(2000)), "1024"),
        (None, "0" * (MAX_CHARACTERS + 1), "characters"),
        ("gml", "graph [" + " a 1" * 1_000_001, "2000000 words"),
        ("matrix-market", "%%MatrixMarket matrix array real general\n99999999 99999999", "square"),
        ("sparse6", ":~~????????", "65536 nodes"),
        ("digraph6", "&~Axx", "4096 nodes"),
        (
            "nccl-xml",
            '<system><cpu numaid="0">'
            + "".join(f'<pci busid="{i}" class="0x030200"/>' for i in range(1025))
            + "</cpu></system>",
            "1024 GPUs",
        ),
    ],
)
def test_what_is_too_large_is_refused(form, text, words) -> None:
    with pytest.raises(InvalidTopology, match=words):
        read(text, form)


SPOILS = [
    *("", "\0", "\x1b[4m", "\n", "\t", " ", "-1", "NaN", "1e999999", "9" * 40, "1/0", "\ud800"),
    *("<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;", "<pci>" * 70, "]]>", '"', "{", "[" * 2000, "#"),
    *("%%MatrixMarket", "graph [", "]", "~~~~", ":A`", "&", "99999999 99999999 9", "{'capacity': "),
    *("GPU0", "NV18", "XGMI", "X", "SYS", "x" * 300, "null", "true", ",", "١", "0x068000"),
]


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """Draw a text that was cut, repeated, or written into at a few places."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20, 300, 10**6])))
        kind = draw(st.sampled_from(["write", "cut", "repeat", "swap"]))
        middle = {
            "write": draw(st.sampled_from(SPOILS)),
            "cut": "",
            "repeat": 2 * text[start:end],
            "swap": text[start:end][::-1],
        }[kind]
        text = text[:start] + middle + text[end:]
    return text


ATTRIBUTES = [
    {"capacity_attribute": "speed", "kind_attribute": "type", "switch_values": ["host"]},
    {"capacity_attribute": "weight"},
    {"kind_attribute": "label/~ x", "switch_values": ["A", "true", ""], "unit": "GB/s"},
    {"capacity_attribute": "id", "kind_attribute": "id", "switch_values": ["a", "sw", "1"]},
]


def require_read_or_refused(text: str, form: str | None, **options: object) -> None:
    try:
        topology = read(text, form, **options)
    except InvalidTopology as error:
        assert re.fullmatch(r"(/[\w.-]+)*", error.field)
        assert 0 < len(error.rule) <= 400
    else:
        assert topology.node_count >= 1
        assert all(capacity > 0 for capacity in topology.capacities)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_in_one_error(name: str, data: st.DataObject) -> None:
    text = data.draw(spoilt(text_of(name)))
    require_read_or_refused(text, FILES[name])
    require_read_or_refused(text, None)
    if FILES[name] in OPTIONS["kind_attribute"]:
        require_read_or_refused(text, FILES[name], **data.draw(st.sampled_from(ATTRIBUTES)))
    if FILES[name] in DUMPS:
        plan = {"boxes": 2, "nic_bandwidth": 25, "pcie": data.draw(st.sampled_from(PCIE_TAKEN))}
        require_read_or_refused(text, FILES[name], **plan, network="rails")


@pytest.mark.parametrize("form", READABLE)
@settings(max_examples=60)
@given(text=st.text(max_size=60) | st.text(alphabet="01 \n,<>/{}[]\"':agGPUXNV=#", max_size=80))
def test_any_text_at_all_is_read_or_refused_in_one_error(form: str, text: str) -> None:
    require_read_or_refused(text, form)
    require_read_or_refused(text, None)
