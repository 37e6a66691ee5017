"""The flows that packing keeps: what arcs can no longer carry, and groups left behind."""

import numpy as np
import pytest

from tests.cases import for_every
from topoloom.schedules.trees.flow.max_flow import arcs_of
from topoloom.schedules.trees.packing.kernel_state import forest_for, stack_for, warm_up
from topoloom.schedules.trees.packing.spanning_trees import pack
from topoloom.schedules.trees.packing.tight_sets import MOST
from topoloom.schedules.trees.packing.tree_growing import grow_groups
from topoloom.schedules.trees.packing.warm_flow_repair import _next_excess


@pytest.mark.parametrize("count", [1, 255, 256, 257, 700])
def test_every_arc_that_carries_too_much_is_found_in_turn(count: int) -> None:
    draw = np.random.default_rng(count)
    capacity = draw.integers(0, 1 << 31, count).astype(np.int32)
    flow = np.minimum(capacity, draw.integers(0, 1 << 31, count)).astype(np.int32)
    full = draw.random(count) < 0.02
    flow[full] = capacity[full] + (capacity[full] < np.iinfo(np.int32).max)
    found, first = [], np.int64(0)
    while (first := _next_excess(flow, capacity, first)) < count:
        found.append(int(first))
        first += np.int64(1)
    assert found == np.flatnonzero(flow > capacity).tolist()


def _union_of_trees(
    draw: np.random.Generator, nodes: int, trees: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return arcs with just the room for random trees, long and thin ones: no arc to spare."""
    room: dict[tuple[int, int], int] = {}
    for root in np.repeat(np.arange(nodes), trees).tolist():
        order = [root]
        for node in draw.permutation([other for other in range(nodes) if other != root]).tolist():
            arc = order[int(draw.integers(max(0, len(order) - 4), len(order)))], node
            room[arc] = room.get(arc, 0) + 1
            order.append(node)
    tail, head = np.array(sorted(room)).T
    return tail, head, np.array([room[arc] for arc in sorted(room)])


@for_every("seed", range(60))
def test_roots_whose_trees_split_many_times_get_all_of_them(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 15))
    trees = draw.integers(1, 6, nodes)
    tail, head, room = _union_of_trees(draw, nodes, trees)
    groups = pack(nodes, tail, head, room, trees)
    assert len(groups) > nodes, "some root should have trees of several kinds"
    load, grown = np.zeros(len(tail), np.int64), np.zeros(nodes, np.int64)
    for group in groups:
        reached = {group.root}
        for arc in group.arcs.tolist():
            assert tail[arc] in reached and head[arc] not in reached
            reached.add(int(head[arc]))
        assert len(reached) == nodes
        load[group.arcs] += group.multiplicity
        grown[group.root] += group.multiplicity
    assert (load <= room).all()
    assert grown.tolist() == trees.tolist()


@for_every("seed", range(60))
def test_sets_kept_as_tight_are_entered_by_just_what_must_until_all_is_packed(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(12, 20))
    trees = draw.integers(2, 6, nodes)
    tail, head, room = _union_of_trees(draw, nodes, trees)
    arcs = arcs_of(nodes, tail, head)
    forest, stack, roots = forest_for(arcs, room), stack_for(arcs), np.arange(nodes)
    rows, times = np.empty((1, nodes - 1), np.int64), np.empty(1, np.int64)
    whose = np.empty(1, np.int64)
    assert warm_up(forest, trees, 0)
    for index in roots.tolist():
        while True:
            end = index + 1
            assert (
                grow_groups(forest, stack, roots, index, end, trees, False, rows, times, whose) == 1
            )
            assert whose[0] == index
            for bit in range(min(MOST, int(forest.known[0]))):
                inside = forest.inside >> bit & 1 == 1
                need = trees[index + 1 :][~inside[index + 1 :]].sum()
                for group in range(int(stack.depth[0])):
                    meets = inside[stack.order[: stack.size[group]]].any()
                    assert meets == bool(stack.touched[group] >> bit & 1)
                    need += 0 if meets else stack.multiplicity[group]
                assert forest.capacity[~inside[tail] & inside[head]].sum() == need
            if not stack.depth[0]:
                break
    assert forest.known[0] > 0
