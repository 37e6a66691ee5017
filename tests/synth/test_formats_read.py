"""Reading other people's files: right figures from right files."""

import json
from fractions import Fraction

import networkx as nx
import pytest

from tests.cases import for_every
from tests.synth.format_files import DATA, FILES, ROUTERS, SAID, text_of
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import READABLE, WRITERS, detect, read
from topoloom.synth.formats.topology_json import to_json
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.rates import rate_assumptions
from topoloom.synth.topology.topology import Topology


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


@for_every(("name", "form"), FILES.items())
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
    xml = text_of("dgx-1v.nccl.xml")
    assert read(xml, link_bandwidth=Fraction(25, 2)).capacities == half.capacities
    with pytest.raises(InvalidTopology, match="/link_bandwidth: is only for nccl-xml"):
        read("0 1\n1 0", link_bandwidth=25)
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


def test_cells_of_an_edge_list_may_stand_in_quotes_as_csv_has_them():
    plain = read("source,target,gbps\nh-1,h-2,25\nh-2,h-1,25", "edgelist")
    quoted = '"source","target","gbps"\n"h-1","h-2","25"\n"h-2","h-1",25'
    assert read(quoted) == read(quoted, "edgelist") == plain
    spaced = read('"rack 1, left","the ""other""",3\n"the ""other""","rack 1, left",3', "edgelist")
    assert spaced.nodes == ("rack 1, left", 'the "other"')


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


UNITS_BY_SPELLING = {
    "GB/s": ["GB/s", "GBps", "GB/S", "gB/s", "GBytes/s", "Gbyte/sec", " GB / s"],
    "Gbit/s": ["gbps", "Gbps", "Gb/s", "gb/s", "Gbit/s", "GBit/s", "gbits/s", "Gb/sec"],
}


@for_every(("unit", "spellings"), UNITS_BY_SPELLING.items())
def test_a_unit_has_one_name_for_all_its_spellings(unit, spellings) -> None:
    for spelled in spellings:
        assert read("a b 5\nb a 5", unit=spelled).bandwidth_unit == unit
        document = json.loads(to_json(read("a b 5\nb a 5"))) | {"bandwidth_unit": spelled}
        assert read(json.dumps(document)).bandwidth_unit == unit
        # The id of a stored document depends on its spelling.
        assert topology_from_document(document, stored=True).bandwidth_unit == spelled


@for_every("unit", ["lanes", "MB/s", "Tbit/s", "GiB/s", "GBPS", "100 Gbit/s"])
def test_a_unit_without_a_known_rate_is_a_note(unit) -> None:
    topology = read("a b 5\nb a 5", unit=unit)
    assert topology.bandwidth_unit == unit
    [note] = rate_assumptions(topology, stated=False)
    assert (repr(unit) in note.text, note.option) == (True, "node_gbps")
    assert not rate_assumptions(topology, stated=True)


@pytest.mark.parametrize(("form", "lines"), [("edgelist", "{}\n{}"), ("multiline-adjlist", "{}")])
def test_lists_of_networkx_have_the_bandwidths_of_its_other_formats(form: str, lines: str) -> None:
    rows = {"edgelist": ("a b {}", "b a {}"), "multiline-adjlist": ("a 1\nb {}\nb 1\na {}",)}
    text = lines.format(*rows[form])
    found = read(text.replace("{}", "{'bandwidth': 2.5, 'weight': 9}"), form)
    assert found.capacities == (Fraction(5, 2), Fraction(5, 2))
    silent = read(text.replace("{}", "{'color': 'red', 'weight': 9}"), form)
    assert "each has 1. Not read: color, weight." in silent.assumed[0].text


def test_what_yed_draws_is_passed_over_and_defaults_are_taken() -> None:
    assert read(text_of("pair.yed.graphml")).capacities == (Fraction(5, 2), 5)
