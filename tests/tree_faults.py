"""Ways to break trees: (schedule, pick) -> schedule; ``pick(n)`` gives an index below n."""

from dataclasses import replace

from tests.step_faults import of_the_other_collective, ranks_exchanged


def _tree(schedule, index, **fields):
    trees = list(schedule.trees)
    trees[index] = replace(trees[index], **fields)
    return replace(schedule, trees=tuple(trees))


def _edges(change):
    def fault(schedule, pick):
        index = pick(len(schedule.trees))
        edges = change(list(schedule.trees[index].edges), pick, schedule)
        return _tree(schedule, index, edges=tuple(edges))

    return fault


def _node(schedule, pick):
    nodes = sorted(
        {node for tree in schedule.trees for edge in tree.edges for node in edge}, key=str
    )
    return nodes[pick(len(nodes))]


def _without_one(edges, pick, schedule):
    del edges[pick(len(edges))]
    return edges


def _one_twice(edges, pick, schedule):
    edges.insert(pick(len(edges) + 1), edges[pick(len(edges))])
    return edges


def _two_exchanged(edges, pick, schedule):
    one, other = pick(len(edges)), pick(len(edges))
    edges[one], edges[other] = edges[other], edges[one]
    return edges


def _one_turned(edges, pick, schedule):
    index = pick(len(edges))
    edges[index] = edges[index][::-1]
    return edges


def _a_node_replaced(edges, pick, schedule):
    index = pick(len(edges))
    edge = list(edges[index])
    edge[pick(len(edge))] = _node(schedule, pick)
    edges[index] = tuple(edge)
    return edges


def _a_node_more(edges, pick, schedule):
    index = pick(len(edges))
    edge = list(edges[index])
    edge.insert(pick(len(edge) + 1), _node(schedule, pick))
    edges[index] = tuple(edge)
    return edges


def _a_node_less(edges, pick, schedule):
    index = pick(len(edges))
    edge = list(edges[index])
    del edge[pick(len(edge))]
    edges[index] = tuple(edge)
    return edges


def _hung_elsewhere(edges, pick, schedule):
    """Give an edge the ends of others: below its own subtree this closes a cycle."""
    index, other = pick(len(edges)), pick(len(edges))
    start = edges[other][-1 if pick(2) else 0]
    edges[index] = (start, *edges[index][1:])
    return edges


def _of_another_tree(edges, pick, schedule):
    return schedule.trees[pick(len(schedule.trees))].edges


def another_root(schedule, pick):
    index = pick(len(schedule.trees))
    return _tree(schedule, index, root=_node(schedule, pick))


def another_weight(schedule, pick):
    index = pick(len(schedule.trees))
    return _tree(schedule, index, weight=schedule.trees[index].weight + pick(5) - 2)


def weight_moved(schedule, pick):
    """Harmless between trees of one root, if both keep some."""
    one, other = pick(len(schedule.trees)), pick(len(schedule.trees))
    lighter = _tree(schedule, one, weight=schedule.trees[one].weight - 1)
    return _tree(lighter, other, weight=lighter.trees[other].weight + 1)


def a_tree_less(schedule, pick):
    index = pick(len(schedule.trees))
    return replace(schedule, trees=schedule.trees[:index] + schedule.trees[index + 1 :])


def a_tree_twice(schedule, pick):
    return replace(schedule, trees=(*schedule.trees, schedule.trees[pick(len(schedule.trees))]))


def trees_in_another_order(schedule, pick):
    """Harmless: trees have no order."""
    return replace(schedule, trees=schedule.trees[::-1])


def split_in_two(schedule, pick):
    """Harmless if the tree's weight is more than 1."""
    index = pick(len(schedule.trees))
    tree = schedule.trees[index]
    half = replace(tree, weight=tree.weight // 2)
    rest = replace(tree, weight=tree.weight - tree.weight // 2)
    return replace(
        schedule, trees=(*schedule.trees[:index], half, rest, *schedule.trees[index + 1 :])
    )


def more_promised(schedule, pick):
    return replace(schedule, trees_per_root=schedule.trees_per_root + pick(3) - 1)


def a_size_changed(schedule, pick):
    sizes = list(schedule.sizes)
    sizes[pick(len(sizes))] = pick(4) - 1
    return replace(schedule, shards=tuple(sizes))


def sizes_exchanged(schedule, pick):
    sizes = list(schedule.sizes)
    one, other = pick(len(sizes)), pick(len(sizes))
    sizes[one], sizes[other] = sizes[other], sizes[one]
    return replace(schedule, shards=tuple(sizes))


def a_rank_idle(schedule, pick):
    rank = schedule.ranks[pick(len(schedule.ranks))]
    ranks = tuple(each for each in schedule.ranks if each != rank)
    return replace(schedule, ranks=ranks, idle=(*schedule.idle, rank), shards=schedule.sizes[1:])


def nobody_idle(schedule, pick):
    """Harmless where nobody was."""
    return replace(schedule, idle=())


TREE_FAULTS = {
    "a size changed": a_size_changed,
    "sizes exchanged": sizes_exchanged,
    "a rank idle": a_rank_idle,
    "nobody idle": nobody_idle,
    "edge missing": _edges(_without_one),
    "edge twice": _edges(_one_twice),
    "edges exchanged": _edges(_two_exchanged),
    "edge turned round": _edges(_one_turned),
    "node replaced": _edges(_a_node_replaced),
    "node more": _edges(_a_node_more),
    "node less": _edges(_a_node_less),
    "hung elsewhere": _edges(_hung_elsewhere),
    "edges of another tree": _edges(_of_another_tree),
    "another root": another_root,
    "another weight": another_weight,
    "weight moved": weight_moved,
    "tree missing": a_tree_less,
    "tree twice": a_tree_twice,
    "trees in another order": trees_in_another_order,
    "split in two": split_in_two,
    "more promised": more_promised,
    "other collective": of_the_other_collective,
    "ranks exchanged": ranks_exchanged,
}
