import xml.etree.ElementTree as ElementTree
from collections import Counter

import networkx as nx
import pytest

from tests.schedule_oracles import every_schedule, ring, shortest_steps, shortest_trees, two_boxes
from topoloom.schedules.errors import InvalidSchedule, NotExportable
from topoloom.schedules.formats.drawing.write import dot, graphml
from topoloom.schedules.model.schedule import SequenceSchedule
from topoloom.synth.topology.topology import Topology

KINDS = ["trees-allgather", "trees-reduce-scatter", "trees-allreduce"]


def edges_of(schedule):
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    return [edge for part in parts for tree in part.trees for edge in tree.edges]


@pytest.mark.parametrize("kind", KINDS)
def test_graphml_holds_every_edge_of_every_tree(kind):
    boxes = two_boxes()
    schedule = every_schedule(boxes)[kind]
    graph = nx.parse_graphml("".join(graphml(schedule, boxes)), force_multigraph=True)
    drawn = Counter((a, b, data["via"]) for a, b, data in graph.edges(data=True))
    assert drawn == Counter((e[0], e[-1], " ".join(e[1:-1])) for e in edges_of(schedule))
    assert {node for node, kind in graph.nodes(data="kind") if kind == "switch"} == boxes.switches


@pytest.mark.parametrize("kind", KINDS)
def test_the_edges_of_a_tree_form_a_tree_and_know_their_depth(kind):
    boxes = two_boxes()
    graph = nx.parse_graphml(
        "".join(graphml(every_schedule(boxes)[kind], boxes)), force_multigraph=True
    )
    trees = {data["tree"] for *_, data in graph.edges(data=True)}
    for number in trees:
        edges = [(a, b, d) for a, b, d in graph.edges(data=True) if d["tree"] == number]
        tree = nx.DiGraph((a, b) for a, b, _ in edges)
        root = edges[0][2]["root"]
        if edges[0][2]["collective"] == "reduce-scatter":
            tree = tree.reverse()
        assert nx.is_arborescence(tree)
        depth = nx.shortest_path_length(tree, root)
        assert all(d["depth"] == max(depth[a], depth[b]) for a, b, d in edges)


@pytest.mark.parametrize("kind", KINDS)
def test_dot_has_a_cluster_for_every_tree_and_a_line_for_every_edge(kind):
    boxes = two_boxes()
    schedule = every_schedule(boxes)[kind]
    text = "".join(dot(schedule, boxes))
    assert text.count(" -> ") == len(edges_of(schedule))
    assert text.count("subgraph cluster_") == text.count("peripheries=2")
    assert text.count("{") == text.count("}")


def test_ids_are_quoted():
    pair = Topology(['a"', "b\\<"], [('a"', "b\\<"), ("b\\<", 'a"')])
    schedule = shortest_trees(pair)
    assert 'label="a\\""' in "".join(dot(schedule, pair))
    assert 'label="b\\\\<"' in "".join(dot(schedule, pair))
    ElementTree.fromstring("".join(graphml(schedule, pair)))


@pytest.mark.parametrize("draw", [dot, graphml])
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(NotExportable) as caught:
        draw(shortest_steps(ring(3)), ring(3))
    assert caught.value.field == "/format"
    with pytest.raises(InvalidSchedule):
        draw(shortest_trees(ring(3)), ring(4))
    control = Topology(["a\x00", "b"], [("a\x00", "b"), ("b", "a\x00")])
    with pytest.raises(NotExportable, match="control"):
        draw(shortest_trees(control), control)
