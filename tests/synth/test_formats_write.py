import json
import re
from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import InvalidTopology
from synth.formats import WRITERS
from synth.topology import Topology
from synth.topology_document import topology_from_document

TEXTS = ["", "a", "b c", 'quo"te', "back\\slash", "<&>", "ümlaut", "a#1", "光", "0.gpu0", "x;y"]
CAPACITIES = st.one_of(st.integers(1, 10**20), st.fractions(Fraction(1, 9), 9))


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


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_topology_gives_the_same_bytes_whatever_the_order_of_its_links(name):
    links = [("a", "b", 2), ("b", "a", 1), ("a", "b", 1)]
    one, other = Topology("ab", links), Topology("ab", links[::-1])
    assert WRITERS[name](one) == WRITERS[name](other)
    assert WRITERS[name](one).endswith("\n")
