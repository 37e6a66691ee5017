import io
import json
import re
from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import WRITERS, read
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.topology import Topology

TEXTS = ["", "a", "b c", 'quo"te', "back\\slash", "<&>", "ümlaut", "a#1", "光", "0.gpu0", "x;y"]
# Numerators and denominators of at most 30 digits: what files may hold.
FRACTIONS = st.fractions(Fraction(1, 9), 9, max_denominator=10**28)
CAPACITIES = st.one_of(st.integers(1, 10**30 - 1), FRACTIONS)

IDS = st.one_of(st.integers(-5, 5), st.sampled_from(TEXTS))
PLAIN_IDS = st.one_of(st.integers(-5, 5), st.sampled_from(["a", "ü", "0.gpu0", "x\\y"]))


@st.composite
def topologies(draw, ids=IDS):
    nodes = draw(st.lists(ids, min_size=2, max_size=6, unique_by=str))
    ends = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes), CAPACITIES)
    links = draw(st.lists(ends.filter(lambda link: link[0] != link[1]), max_size=12))
    links += links[: draw(st.integers(0, 3))]
    switches = draw(st.sets(st.sampled_from(nodes)))
    return Topology(nodes, links, switches=switches, name=draw(st.sampled_from(TEXTS)))


def as_text(topology):
    return Counter((str(s), str(t), str(c)) for s, t, c in topology.links)


@given(topologies())
def test_json_reads_back_to_the_same_topology(topology):
    again = topology_from_document(json.loads(WRITERS["json"](topology)))
    assert again == topology
    assert (again.name, again.digest) == (topology.name, topology.digest)


@given(topologies())
def test_json_has_a_line_for_every_node_and_link(topology):
    lines = WRITERS["json"](topology).splitlines()
    assert sum(line.startswith('{"id"') for line in lines) == topology.node_count
    assert sum(line.startswith('{"source"') for line in lines) == topology.link_count


@given(topologies())
def test_networkx_reads_the_graphml_with_every_node_kind_and_link(topology):
    graph = nx.parse_graphml(WRITERS["graphml"](topology), force_multigraph=True)
    assert graph.is_directed()
    kinds = {str(n): "switch" if n in topology.switches else "compute" for n in topology.nodes}
    assert dict(graph.nodes(data="kind")) == kinds
    assert Counter((s, t, str(c)) for s, t, c in graph.edges(data="capacity")) == as_text(topology)
    assert graph.graph.get("bandwidth_unit") == "link"


@pytest.mark.parametrize(("capacity", "kind"), [(7, int), (Fraction(7, 2), str)])
def test_graphml_types_whole_capacities_as_numbers(capacity, kind):
    topology = Topology("ab", [("a", "b", capacity), ("b", "a", 2)])
    graph = nx.parse_graphml(WRITERS["graphml"](topology))
    assert {type(c) for _, _, c in graph.edges(data="capacity")} == {kind}


@given(topologies(ids=PLAIN_IDS))
def test_networkx_reads_the_edge_list_with_every_link(topology):
    graph = nx.parse_edgelist(
        WRITERS["edgelist"](topology).splitlines(),
        create_using=nx.MultiDiGraph,
        data=(("capacity", Fraction),),
    )
    assert Counter((s, t, str(c)) for s, t, c in graph.edges(data="capacity")) == as_text(topology)


DOT_TEXT = r'"((?:[^"\\]|\\.)*)"'


@given(topologies())
def test_dot_names_every_node_and_link_once(topology):
    text = WRITERS["dot"](topology)
    head, *body, last = text.splitlines()
    assert re.fullmatch(rf"digraph {DOT_TEXT} {{", head) and last == "}"

    def plain(quoted):
        return re.sub(r"\\(.)", r"\1", quoted)

    nodes = [re.fullmatch(rf"  (\d+) \[label={DOT_TEXT}(, shape=box)?\];", line) for line in body]
    labels = {match[1]: plain(match[2]) for match in nodes if match}
    assert list(labels.values()) == [str(node) for node in topology.nodes]
    assert sum(bool(match and match[3]) for match in nodes) == len(topology.switches)
    links = [re.fullmatch(rf"  (\d+) -> (\d+) \[label={DOT_TEXT}\];", line) for line in body]
    found = [(labels[match[1]], labels[match[2]], match[3]) for match in links if match]
    assert Counter(found) == as_text(topology)
    assert len(body) == topology.node_count + topology.link_count


@pytest.mark.parametrize("name", ["graphml", "dot", "edgelist"])
@pytest.mark.parametrize("text", ["a\x00", "a\nb", "\ud800", "\x1b[31m"])
def test_ids_that_a_text_format_cannot_hold_are_refused(name, text):
    with pytest.raises(InvalidTopology) as caught:
        WRITERS[name](Topology(["a", text], []))
    assert caught.value.field == "/nodes/1/id"


@pytest.mark.parametrize("text", ["", "a b", "a\u00a0b", "a#b"])
def test_ids_that_break_the_columns_of_an_edge_list_are_refused(text):
    with pytest.raises(InvalidTopology) as caught:
        WRITERS["edgelist"](Topology(["a", text], []))
    assert caught.value.field == "/nodes/1/id"


@pytest.mark.parametrize("name", sorted(WRITERS.keys() - {"astra-sim", "htsim", "phantora"}))
def test_the_same_topology_gives_the_same_bytes_whatever_the_order_of_its_links(name):
    links = [(1, 0), (0, 1), (2, 0), (0, 2)]
    # The launch files of a fabric have the names of its ports.
    one, other = (
        Topology(range(3), rows, name="mac-studio-ring-3") for rows in (links, links[::-1])
    )
    assert WRITERS[name](one) == WRITERS[name](other)
    assert WRITERS[name](one).endswith("\n")


@pytest.mark.slow
@given(topologies())
def test_networkx_reads_the_gml_with_every_id_kind_and_link(topology):
    graph = nx.parse_gml(WRITERS["gml"](topology))
    assert graph.is_directed()
    kinds = {n: "switch" if n in topology.switches else "compute" for n in topology.nodes}
    assert dict(graph.nodes(data="kind")) == kinds
    found = Counter((str(s), str(t), str(c)) for s, t, c in graph.edges(data="capacity"))
    assert found == as_text(topology)


@given(topologies())
def test_networkx_reads_the_gexf_with_every_node_kind_and_link(topology):
    graph = nx.read_gexf(io.BytesIO(WRITERS["gexf"](topology).encode()))
    assert graph.is_directed()
    kinds = {str(n): "switch" if n in topology.switches else "compute" for n in topology.nodes}
    assert dict(graph.nodes(data="kind")) == kinds
    assert Counter((s, t, str(c)) for s, t, c in graph.edges(data="capacity")) == as_text(topology)


@pytest.mark.slow
@given(topologies())
def test_networkx_reads_the_node_link_json_with_every_node_kind_and_link(topology):
    graph = nx.node_link_graph(json.loads(WRITERS["node-link"](topology)), edges="edges")
    kinds = {n: "switch" if n in topology.switches else "compute" for n in topology.nodes}
    assert dict(graph.nodes(data="kind")) == kinds
    found = Counter((str(s), str(t), str(c)) for s, t, c in graph.edges(data="capacity"))
    assert found == as_text(topology)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["gml", "node-link", "graphml", "gexf"])
@given(topology=topologies())
def test_what_keeps_everything_is_read_back_the_same(name, topology):
    again = read(WRITERS[name](topology), name)
    assert again.name == topology.name
    if name in ("gml", "node-link"):
        assert again == topology
    else:
        assert tuple(map(str, topology.nodes)) == again.nodes
        assert as_text(again) == as_text(topology)
        assert {*map(str, topology.switches)} == again.switches


@st.composite
def numbered(draw, *, undirected, parallel=False, most=70):
    """Draw a graph of nodes 0, 1, ... and unit links."""
    size = draw(st.integers(1, most))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    links = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=40))
    if not parallel:
        links = list({tuple(sorted(pair)) if undirected else pair for pair in links})
    back = [pair[::-1] for pair in links] if undirected else []
    return Topology(range(size), [*links, *back])


@given(numbered(undirected=True))
def test_graph6_is_read_back_and_is_what_networkx_writes(topology):
    text = WRITERS["graph6"](topology)
    assert read(text, "graph6") == topology
    graph = nx.Graph(topology.to_networkx())
    assert nx.to_graph6_bytes(graph, nodes=range(topology.node_count)).decode() == (
        ">>graph6<<" + text
    )
    assert read(">>graph6<<" + text) == topology


@given(numbered(undirected=True, parallel=True))
def test_sparse6_is_read_back_with_its_parallel_links(topology):
    text = WRITERS["sparse6"](topology)
    assert read(text, "sparse6") == topology
    assert read(">>sparse6<<" + text) == topology


def test_sparse6_is_what_its_definition_shows():
    edges = [(0, 1), (0, 2), (1, 2), (5, 6)]
    shown = Topology(range(7), [link for u, v in edges for link in ((u, v), (v, u))])
    assert WRITERS["sparse6"](shown) == ":Fa@x^\n"
    assert read(":Fa@x^") == shown


@given(numbered(undirected=False))
def test_digraph6_has_the_rows_of_the_matrix_and_is_read_back(topology):
    text = WRITERS["digraph6"](topology)
    assert read(text, "digraph6") == topology
    size = topology.node_count
    if size < 63:
        bits = "".join(f"{ord(char) - 63:06b}" for char in text.strip()[2:])
        ends = {(link.source, link.target) for link in topology.links}
        rows = "".join(str(int((i, j) in ends)) for i in range(size) for j in range(size))
        assert bits.startswith(rows) and set(bits[len(rows) :]) <= {"0"}


@given(topologies(ids=PLAIN_IDS))
def test_an_adjacency_list_is_read_back_or_refused_for_what_it_cannot_say(topology):
    sayable = not topology.switches and set(topology.capacities) <= {1}
    if not sayable:
        with pytest.raises(InvalidTopology, match=r"switch|capacity 1"):
            WRITERS["adjlist"](topology)
        return
    text = WRITERS["adjlist"](topology)
    graph = nx.parse_adjlist(text.splitlines(), create_using=nx.MultiDiGraph)
    assert Counter((s, t, "1") for s, t in graph.edges()) == as_text(topology)
    assert as_text(read(text, "adjlist")) == as_text(topology)


@pytest.mark.slow
@given(
    numbered(undirected=False, parallel=True, most=9),
    st.lists(st.sampled_from([1, 7, 10**20, Fraction(1, 8), Fraction(33, 20)]), min_size=40),
)
def test_matrix_market_is_read_back_and_scipy_reads_the_same_sums(topology, values):
    links = [(s, t, values[i]) for i, (s, t, _) in enumerate(topology.links)]
    topology = Topology(topology.nodes, links, bandwidth_unit="GB/s")
    text = WRITERS["matrix-market"](topology)
    assert read(text, unit="GB/s") == topology
    if topology.links and max(topology.capacities) < 2**53:
        sums = Counter()
        for source, target, value in topology.links:
            sums[source, target] += value
        matrix = scipy.io.mmread(io.BytesIO(text.encode())).todense()
        # SciPy adds up floating-point numbers, in the file's order.
        assert {pair: matrix[pair] for pair in sums} == pytest.approx(
            {pair: float(value) for pair, value in sums.items()}, rel=1e-12
        )


UNSAYABLE = {
    "a switch": (Topology(range(2), [(0, 1), (1, 0)], switches=[1]), "switch"),
    "names": (Topology("ab", [("a", "b"), ("b", "a")]), "numbered 0, 1"),
}
UNIT_ONLY = {
    "capacities": (Topology(range(2), [(0, 1, 2), (1, 0, 2)]), "capacity 1"),
}
ONE_WAY = {
    "one way": (Topology(range(2), [(0, 1)]), "both ways"),
}
PARALLEL = {
    "parallel": (Topology(range(2), [(0, 1), (0, 1), (1, 0), (1, 0)]), "parallel"),
}


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("graph6", UNSAYABLE | UNIT_ONLY | ONE_WAY | PARALLEL),
        ("sparse6", UNSAYABLE | UNIT_ONLY | ONE_WAY),
        ("digraph6", UNSAYABLE | UNIT_ONLY | PARALLEL),
        ("matrix-market", UNSAYABLE),
    ],
)
def test_what_a_format_cannot_say_is_refused(name, cases):
    for topology, words in cases.values():
        with pytest.raises(InvalidTopology, match=words):
            WRITERS[name](topology)


def test_a_third_is_no_number_of_matrix_market():
    with pytest.raises(InvalidTopology, match="finite decimal"):
        WRITERS["matrix-market"](Topology(range(2), [(0, 1, Fraction(1, 3))]))
