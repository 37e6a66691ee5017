"""Fabrics as people have them: what each reader takes, and where it blames a bad file."""

import shutil
import subprocess
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.synth.format_files import DATA, text_of
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS, detect, read
from topoloom.synth.topology.topology import Topology


def cables_of(topology):
    """Return the cables of a topology whose links all run both ways, with their capacities."""
    assert topology.is_bidirectional
    return {frozenset((a, b)): c for a, b, c in topology.links}


def notes_of(topology):
    return " ".join(one.text for one in topology.assumed)


def test_dot_has_defaults_subgraphs_ports_and_chains():
    topology = read(text_of("leaf-spine.dot"))
    assert topology.name == "hall 1"
    assert topology.switches == {"leaf1", "leaf2", "spine"}
    assert cables_of(topology) == {
        frozenset(pair): capacity
        for pair, capacity in [
            (("leaf1", "h1"), Fraction(25, 2)), (("leaf1", "h2"), Fraction(25, 2)),
            (("leaf2", "h3"), Fraction(25, 2)), (("leaf2", "h4"), Fraction(25, 2)),
            (("leaf1", "spine"), 25), (("spine", "leaf2"), 25),
        ]
    }  # fmt: skip


def test_the_functions_of_an_air_lab_tell_its_switches():
    topology = read(text_of("lab.air.dot"))
    assert topology.compute_nodes == ("server01", "server02")
    assert "function" in notes_of(topology)
    chosen = read(text_of("lab.air.dot"), kind_attribute="function", switch_values=["spine"])
    assert chosen.switches == {"spine01"}


def test_arrows_are_one_way_and_lines_both():
    assert read("digraph { a -> b -> a }").link_count == 2
    assert read("graph { a -- b }").link_count == 2
    assert read("digraph { a -> b }", directed=False).link_count == 2


WORDS = st.text('ab01_ "\\é;{}[]-', max_size=6)


def quoted(text):
    return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'


@given(st.lists(st.tuples(WORDS, WORDS, st.integers(1, 99)), min_size=1, max_size=6))
def test_quoted_names_come_back_as_they_are(rows):
    edges = [(a, b, c) for a, b, c in rows if a != b]
    assume(edges)
    text = ";".join(f"{quoted(a)}->{quoted(b)}[capacity={c}]" for a, b, c in edges)
    found = read(f"digraph {{{text}}}", "dot")
    assert sorted((a, b, int(c)) for a, b, c in found.links) == sorted(edges)


@pytest.mark.parametrize("name", ["mi300x", "fat-tree-4", "dgx-a100-2"])
def test_the_dot_that_is_written_is_read_by_its_labels(name):
    topology = fabric(name)
    back = read(WRITERS["dot"](topology), capacity_attribute="label", kind_attribute="shape",
                switch_values=["box"], unit=topology.bandwidth_unit)  # fmt: skip
    numbered = {str(index): node for index, node in enumerate(topology.nodes)}
    links = [(numbered[a], numbered[b], c) for a, b, c in back.links]
    assert sorted(links) == sorted(tuple(link) for link in topology.links)
    assert {numbered[node] for node in back.switches} == set(topology.switches)


def test_a_lab_of_containerlab_has_hosts_of_kind_linux():
    topology = read(text_of("lab.clab.yml"))
    assert topology.compute_nodes == ("host1", "host2")
    assert cables_of(topology) == {
        frozenset(("leaf1", "leaf2")): Fraction(25, 2),
        frozenset(("leaf1", "host1")): 1,
        frozenset(("leaf2", "host2")): 1,
    }
    assert "The link 3 leaves the lab" in notes_of(topology)


def test_a_lab_of_air_has_hosts_with_the_systems_of_servers():
    topology = read(text_of("lab.air.json"))
    assert topology.compute_nodes == ("server01", "server02")
    assert len(cables_of(topology)) == 2
    assert "The link 2 leaves the lab" in notes_of(topology)


def test_a_subnet_has_hosts_with_all_their_adapters_and_the_rates_of_its_cables():
    topology = read(text_of("subnet.ibnetdiscover.txt"))
    assert topology.compute_nodes == ("node1", "node2")
    graph = nx.MultiDiGraph([(a, b, {"c": c}) for a, b, c in topology.links])
    leaves = ("MF0;leaf-1:MQM8700/U1", "MF0;leaf-2:MQM8700/U1")
    assert [data["c"] for data in graph.get_edge_data("node1", leaves[0]).values()] == [25, 25]
    assert [data["c"] for data in graph.get_edge_data("node2", leaves[1]).values()] == [
        Fraction(25, 2)
    ]
    assert graph.number_of_edges(*leaves) == 2
    assert topology.bandwidth_unit == "GB/s"
    assert optimum(topology).algbw == 25


def test_links_of_gpus_lead_to_a_switch_unless_a_mesh_is_stated():
    text = text_of("quad.nvlink-status.txt")
    topology = read(text)
    line = Fraction(26562, 1000)
    rates = {a: c for a, b, c in topology.links if b == "nvswitch"}
    assert rates == {"GPU0": 4 * line, "GPU1": 4 * line, "GPU2": 3 * line, "GPU3": 4 * line}
    assert "does not state where links lead" in notes_of(topology)
    mesh = read(text, nvlink="mesh", link_bandwidth=None)
    assert mesh.link_count == 12 and not mesh.assumed
    assert {c for a, b, c in read(text, nvlink="25").links if a == "GPU0"} == {100}


PCIE = Fraction(31507692, 10**6)


def test_hwloc_has_nvlinks_pci_switches_and_packages():
    topology = read(text_of("pairs.hwloc.xml"))
    assert topology.compute_nodes == ("GPU0", "GPU1", "GPU2", "GPU3")
    cables = cables_of(topology)
    assert cables[frozenset(("GPU0", "pci0"))] == cables[frozenset(("pci1", "cpu1"))] == PCIE
    assert cables[frozenset(("GPU0", "GPU1"))] == cables[frozenset(("GPU2", "GPU3"))] == 100
    assert cables[frozenset(("cpu0", "machine"))] == 12
    assert "between CPUs" in notes_of(topology)
    faster = read(text_of("pairs.hwloc.xml"), cpu_bandwidth=32, pcie_bandwidth=24)
    assert cables_of(faster)[frozenset(("cpu0", "machine"))] == 32
    assert "CPUs" not in notes_of(faster)


@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc is not installed")
def test_hwloc_itself_reads_the_file_of_the_tests():
    command = ["lstopo-no-graphics", "-i", str(DATA / "pairs.hwloc.xml"), "--of", "console"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("GPU(NVML)") == 4


def test_sccl_and_te_ccl_are_read_as_their_successors_are():
    assert read(text_of("ring.sccl.json")).link_count == 6
    assert read(text_of("ndv2.teccl.json")) == fabric("ndv2-2").with_latencies({})


NAMED = {
    "dgx-h200-2": 500, "dgx-b200-1": 900, "dgx-b300-2": 1000, "gb300-nvl72": 900,
    "gb300-nvl72-2": 1000, "mi325x": 448, "mi355x": Fraction(2688, 5),
    "mi355x-2": Fraction(2938, 5),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_boxes_of_today_have_their_published_bandwidth(name):
    topology = fabric(name)
    totals = dict.fromkeys(topology.compute_nodes, Fraction(0))
    for source, _, capacity in topology.links:
        if source in totals:
            totals[source] += capacity
    assert set(totals.values()) == {NAMED[name]}


LAB = "topology:\n  nodes: {{a: {{kind: linux}}, b: {{kind: linux}}}}\n  links: {}\n"
IB = 'Switch 2 "S-1" # "s" port 0\n'
BAD = {
    # name: (format, text, place, words)
    "no graph": ("dot", "subgraph { a }", "/line/1", "graph or digraph"),
    "an open list": ("dot", "graph {\na -- b [x=1\n}", "/line/3", "a name"),
    "an open graph": ("dot", "graph {\na -- b\n", "/line/3", "a name"),
    "two graphs": ("dot", "graph { a -- b }\ngraph { }", "/line/2", "one graph"),
    "a strange sign": ("dot", "graph {\n a -- b ! }", "/line/2", "must be DOT"),
    "a word as capacity": ("dot", "graph { a -- b [capacity=fast] }", "/line/1", "'fast' is not"),
    "very many links": (
        "dot", "graph {{" + " ".join(f"a{i}" for i in range(2100)) + "} -- {"
        + " ".join(f"b{i}" for i in range(2100)) + "}}", "/line/1", "links",
    ),
    "deep subgraphs": ("dot", "graph " + "{" * 300, "/line/1", "100 subgraphs"),
    "no kind": ("containerlab", "topology:\n  nodes: {a: {}}\n", "/topology/nodes/a/kind", "text"),
    "a stranger": (
        "containerlab", LAB.format('[{endpoints: ["a:1", "c:1"]}]'),
        "/topology/links/0/endpoints", "'c'",
    ),
    "one end": ("containerlab", LAB.format('[{endpoints: ["a:1"]}]'),
        "/topology/links/0/endpoints", "two"),
    "no topology": ("containerlab", "name: x", "/topology", "an object"),
    "no system": ("air", '{"content": {"nodes": {"a": {}}, "links": []}}',
        "/content/nodes/a/os", "text"),
    "a stranger in Air": (
        "air",
        '{"content": {"nodes": {"a": {"os": "x"}}, "links": [[{"node": "a"}, {"node": "b"}]]}}',
        "/content/links/0", "nodes of the lab",
    ),
    "a port of nobody": ("ibnetdiscover", '[1] "H-2"[1] # "a" 4xEDR', "/line/1", "a port"),
    "no speed": ("ibnetdiscover", IB + 'Ca 1 "H-2" # "a"\n[1] "S-1"[1] # lid 1',
        "/line/3", "a width"),
    "a cable to nowhere": ("ibnetdiscover", IB + '[1] "H-2"[1] # "a" 4xEDR', "/line/2", "H-2"),
    "twice the same": ("ibnetdiscover", IB + IB, "/line/2", "once"),
    "no GPU": ("hwloc-xml", "<topology><object type='Machine'/></topology>", "/line/1", "a GPU"),
    "a matrix of another size": (
        "hwloc-xml",
        "<topology><object type='PCIDev' pci_type='0302'/>\n<distances2 name='NVLinkBandwidth'>"
        "<indexes>1 2</indexes><u64values>0</u64values></distances2></topology>",
        "/line/2", "4 values",
    ),
    "NPUs over PCIe": ("npu-smi", "NPU0 NPU1\nNPU0 X SYS\nNPU1 SYS X", "", "no rates"),
    "a row too few": ("npu-smi", "NPU0 NPU1\nNPU0 X HCCS", "/line/2", "a row for NPU1"),
    "two cells of a pair": (
        "npu-smi", "NPU0 NPU1\nNPU0 X HCCS\nNPU1 SIO X", "/line/3", "both ways",
    ),
    "a link of nobody": ("nvidia-smi-nvlink", " Link 0: 25 GB/s", "/line/1", "a GPU"),
    "a GPU twice": ("nvidia-smi-nvlink", "GPU 0: a\nGPU 0: a\n", "/line/2", "once"),
    "a machine of TE-CCL": ("teccl", '{"TopologyParams": {"name": "AMD"}}',
        "/TopologyParams/name", "NDv2"),
    "too many chassis": (
        "teccl", '{"TopologyParams": {"name": "NDv2", "chassis": 9999}}',
        "/TopologyParams/chassis", "1024",
    ),
}  # fmt: skip


@for_every("case", BAD)
def test_what_breaks_a_rule_is_blamed_at_its_place(case):
    form, text, place, words = BAD[case]
    with pytest.raises(InvalidTopology) as caught:
        read(text, form)
    assert caught.value.field == place
    assert words in caught.value.rule


FOREIGN = {
    "graph.xml": ("<graphs version='1'/>", "is an NCCL graph file"),
    "algo.xml": ("<algo name='a'/>", "is a schedule, an MSCCL XML program"),
    "clab.json": (
        '{"name": "l", "type": "clab", "clab": {}}',
        "the data that containerlab exports",
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_kind_is_named_for_what_it_is(name):
    text, words = FOREIGN[name]
    with pytest.raises(InvalidTopology, match=words):
        detect(text, name)


def test_a_topology_is_a_value_of_the_same_kind_from_every_reader():
    assert isinstance(read(text_of("lab.air.json")), Topology)
