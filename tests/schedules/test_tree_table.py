"""Trees as arrays: the same trees, the same verdicts and the same loads as edge by edge."""

import json
import pickle
import tracemalloc
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_documents import to_document
from tests.schedule_oracles import direct_topologies, two_boxes
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import make, reverse
from topoloom.schedules.model import tree_table as module
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.model.tree_table import TreeTable, tree_table
from topoloom.schedules.verify import link_index, tree_hops, tree_loads, trees, violations
from topoloom.synth.topology.topology import Topology

NODES = ("a", 3, "c", 7)
PATHS = st.lists(st.sampled_from(NODES), max_size=5).map(tuple)
TREES = st.lists(
    st.builds(
        Tree,
        st.sampled_from(NODES),
        st.integers(-3, 2**70),
        st.lists(PATHS, max_size=4).map(tuple),
    ),
    max_size=6,
)


@pytest.mark.parametrize("block", [1, 3, 1 << 18])
def test_a_table_is_the_sequence_of_its_trees(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)

    @given(TREES)
    def holds(given_trees: list[Tree]) -> None:
        table = tree_table(given_trees, NODES)
        assert table == tuple(given_trees) and tuple(given_trees) == table
        assert list(table) == [table[at] for at in range(len(table))] == given_trees
        assert table[1:-1] == tuple(given_trees[1:-1])
        assert pickle.loads(pickle.dumps(table)) == table
        assert hash(table) == hash(tuple(given_trees))
        assert tree_table(table, NODES) is table
        assert tree_table(table, NODES[::-1]) == tree_table(given_trees) == tuple(given_trees)
        turned = [[edge[::-1] for edge in tree.edges] for tree in given_trees]
        assert [list(tree.edges) for tree in table.reversed_edges()] == turned
        with pytest.raises(IndexError):
            table[len(given_trees)]

    holds()


def test_nodes_without_a_name_have_the_number_minus_one() -> None:
    table = tree_table([Tree("x", 1, (("x", "a"), ("a", "c")))], ("a", "c"))
    assert table.roots.tolist() == [-1]
    assert table.nodes.tolist() == [-1, 0, 0, 1]
    again = tree_table(tree_table([Tree("x", 1, (("x", "a"),))]), ("a", "c"))
    assert (again.roots.tolist(), again.nodes.tolist()) == ([-1], [-1, 0])


@st.composite
def damaged(draw: st.DrawFn) -> tuple[TreeSchedule, Topology]:
    """A forest on a topology, with some trees, edges, nodes or weights changed."""
    boxes = st.sampled_from([two_boxes(), two_boxes(3)])
    topology = draw(st.one_of(direct_topologies(5), boxes))
    nodes = topology.compute_nodes
    members = draw(st.sampled_from([None, nodes[:-1]])) if len(nodes) > 2 else None
    try:
        forest = make(topology, "allgather", "forestcoll", participants=members)
    except Exception:
        forest = make(topology, "allgather", "forestcoll")
    assert isinstance(forest, TreeSchedule)
    if draw(st.booleans()):
        turned = reverse(replace(forest, topology=topology.transpose().digest), topology)
        assert isinstance(turned, TreeSchedule)
        forest = turned
    found = list(forest.trees)
    names = st.sampled_from([*topology.nodes, "nobody"])
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(found) - 1))
        tree, edges = found[at], list(found[at].edges)
        kind = draw(st.sampled_from(["edge", "swap", "drop", "again", "root", "weight", "node"]))
        place = draw(st.integers(0, max(0, len(edges) - 1)))
        if kind == "root":
            found[at] = replace(tree, root=draw(names))
        elif kind == "weight":
            found[at] = replace(tree, weight=draw(st.sampled_from([0, -1, 2**65])))
        elif edges:
            if kind == "edge":
                edges[place] = tuple(draw(st.lists(names, max_size=4)))
            elif kind == "swap":
                other = draw(st.integers(0, len(edges) - 1))
                edges[place], edges[other] = edges[other], edges[place]
            elif kind == "drop":
                del edges[place]
            elif kind == "again":
                edges.append(edges[place])
            else:
                edge = list(edges[place])
                if edge:
                    edge[draw(st.integers(0, len(edge) - 1))] = draw(names)
                edges[place] = tuple(edge)
            found[at] = replace(tree, edges=tuple(edges))
    return replace(forest, trees=tuple(found)), topology


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 1 << 18])
@pytest.mark.parametrize("entries", [0, 1 << 25])
def test_arrays_and_edges_one_by_one_yield_the_same_verdict(
    block: int, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(link_index, "_MOST_ENTRIES", entries)
    quick = trees.spanning_trees

    @settings(max_examples=60, deadline=None)
    @given(damaged())
    def holds(drawn: tuple[TreeSchedule, Topology]) -> None:
        schedule, topology = drawn
        found = [str(one) for one in violations(schedule, topology, limit=10**6)]
        with monkeypatch.context() as patch:
            patch.setattr(trees, "spanning_trees", lambda table, *_: np.zeros(len(table), np.bool_))
            slow = [str(one) for one in violations(schedule, topology, limit=10**6)]
        assert trees.spanning_trees is quick
        assert found == slow
        packed = tree_table(schedule.trees)
        assert found == [
            str(one) for one in violations(replace(schedule, trees=packed), topology, limit=10**6)
        ]
        load: dict[object, int] = defaultdict(int)
        for tree in schedule.trees:
            for edge in tree.edges:
                for hop in pairwise(edge):
                    load[hop] += tree.weight
        if load.keys() <= {(link.source, link.target) for link in topology.links}:
            assert tree_loads(schedule, topology) == {k: v for k, v in load.items() if v}
        else:
            with pytest.raises(InvalidSchedule, match="existing links"):
                tree_loads(schedule, topology)

    holds()


def test_valid_trees_are_decided_by_arrays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_check_tree", None)
    for topology in (two_boxes(), two_boxes(3)):
        for wanted in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
            assert violations(make(topology, wanted, "forestcoll"), topology) == []


@given(TREES)
def test_packed_trees_come_back_as_they_were(given_trees: list[Tree]) -> None:
    fitting = tuple(replace(tree, weight=min(tree.weight, 2**60)) for tree in given_trees)
    schedule = TreeSchedule(Collective.ALLGATHER, "sha256:0", NODES, 1, fitting)
    back = unpack(pack(schedule))
    assert isinstance(back, TreeSchedule) and isinstance(back.trees, TreeTable)
    assert back == schedule
    assert unpack(pack(back)) == schedule


@given(TREES)
def test_the_text_of_trees_is_that_of_their_document(given_trees: list[Tree]) -> None:
    full = [replace(tree, edges=tuple(filter(None, tree.edges))) for tree in given_trees]
    for some in (given_trees, full):
        schedule = TreeSchedule(Collective.ALLGATHER, "sha256:0", NODES, 1, tuple(some))
        assert "".join(write(schedule)) == json.dumps(to_document(schedule))


def test_trees_of_two_ranks_among_many_nodes_are_verified_in_little_memory() -> None:
    nodes, count = np.arange(4000), 5000
    ends = nodes, np.roll(nodes, -1)
    topology = Topology.direct(len(nodes), np.concatenate(ends), np.concatenate(ends[::-1]))
    both = tuple(Tree(root, 1, ((root, 1 - root),)) for root in (0, 1) for _ in range(count))
    idle = tuple(nodes[2:].tolist())
    schedule = TreeSchedule(
        Collective.ALLGATHER, topology.digest, (0, 1), count, both, shards=(), idle=idle
    )
    table, links = tree_table(both, topology.nodes), link_index.LinkIndex.of(topology)
    tracemalloc.start()
    try:
        assert tree_hops.spanning_trees(table, schedule, topology, links).all()
        assert tracemalloc.get_traced_memory()[1] < 10e6, "a row of all nodes a tree takes 160 MB"
    finally:
        tracemalloc.stop()
