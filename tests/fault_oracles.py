"""What makes a schedule valid, said as plainly as possible, and ways to break one."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np

from schedules.model import COPY, NO_LINK, REDUCE, Collective, StepSchedule
from tests.schedule_oracles import gather_works, scatter_works


def steps_are_right(schedule, topology):
    """Every field has a meaning, and the data ends where it must without waste."""
    ranks, chunks = topology.compute_nodes, schedule.chunks_per_shard
    joined = Counter((link.source, link.target) for link in topology.links)
    wanted = COPY if schedule.collective is Collective.ALLGATHER else REDUCE
    for step in schedule.steps:
        for source, target, shard, first, count, link, op in step.tolist():
            if not all(0 <= rank < len(ranks) for rank in (source, target, shard)):
                return False
            links = joined[ranks[source], ranks[target]]
            if not (0 <= link < links or (link == NO_LINK and links == 1)):
                return False
            if op != wanted or first < 0 or count < 1 or first + count > chunks:
                return False
    if wanted == COPY:
        return gather_works(schedule)
    # Less than N - 1 arrivals per chunk cannot do, more are waste, if not wrong.
    moved = sum(int(step["count"].sum()) for step in schedule.steps)
    return moved == len(ranks) * (len(ranks) - 1) * chunks and scatter_works(schedule)


def trees_are_right(schedule, topology):
    """Each tree is a spanning arborescence over links, in order of depth; weights add up."""
    ranks, forwarding = set(schedule.ranks), topology.switches | set(schedule.idle)
    sizes = schedule.sizes
    if len(sizes) != len(ranks) or min(sizes) < 0 or not any(sizes):
        return False
    if schedule.collective.has_root and sorted(sizes) != [0] * (len(ranks) - 1) + [1]:
        return False
    links = {(link.source, link.target) for link in topology.links}
    outward = schedule.collective in (Collective.ALLGATHER, Collective.BROADCAST)
    weights = Counter(dict.fromkeys(ranks, 0))
    for tree in schedule.trees:
        weights[tree.root] += tree.weight
        if tree.weight < 1 or tree.root not in ranks:
            return False
        graph = nx.MultiDiGraph()
        graph.add_node(tree.root)
        for edge in tree.edges:
            if len(edge) < 2 or not all(hop in links for hop in pairwise(edge)):
                return False
            if not set(edge[1:-1]) <= forwarding:
                return False
            graph.add_edge(*((edge[0], edge[-1]) if outward else (edge[-1], edge[0])))
        if set(graph) != ranks or not nx.is_arborescence(graph) or graph.in_degree(tree.root):
            return False
        depth = nx.single_source_shortest_path_length(graph, tree.root)
        order = [depth[edge[-1] if outward else edge[0]] for edge in tree.edges]
        if order != sorted(order):
            return False
    return schedule.trees_per_root >= 1 and all(
        weights[rank] == schedule.trees_per_root * size
        for rank, size in zip(schedule.ranks, sizes, strict=True)
    )


def is_right(schedule, topology):
    if schedule.topology != topology.digest or schedule.collective is Collective.ALL_TO_ALL:
        return False
    if isinstance(schedule, StepSchedule):
        if schedule.ranks != topology.compute_nodes or schedule.chunks_per_shard < 1:
            return False
        return not schedule.collective.has_root and steps_are_right(schedule, topology)
    taking_part = [node for node in topology.compute_nodes if node not in schedule.idle]
    return list(schedule.ranks) == taking_part and trees_are_right(schedule, topology)


# Ways to break steps: (schedule, pick) -> schedule.  ``pick(n)`` gives an index below n.


def _edit(schedule, change):
    steps = [step.copy() for step in schedule.steps]
    return replace(schedule, steps=tuple(change(steps)))


def _place(steps, pick):
    step = pick(len(steps))
    return step, pick(len(steps[step]))


def _field(name, values):
    def fault(schedule, pick):
        def change(steps):
            step, send = _place(steps, pick)
            options = values(schedule)
            steps[step][send][name] = options[pick(len(options))]
            return steps

        return _edit(schedule, change)

    return fault


def dropped(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        steps[step] = np.delete(steps[step], send)
        return steps

    return _edit(schedule, change)


def duplicated(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        other = pick(len(steps))
        steps[other] = np.append(steps[other], steps[step][send])
        return steps

    return _edit(schedule, change)


def moved_to_another_step(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        row = steps[step][[send]]
        steps[step] = np.delete(steps[step], send)
        other = pick(len(steps))
        steps[other] = np.append(steps[other], row)
        return steps

    return _edit(schedule, change)


def turned_round(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        row = steps[step][send]
        row["source"], row["target"] = int(row["target"]), int(row["source"])
        return steps

    return _edit(schedule, change)


def exchanged(name):
    def fault(schedule, pick):
        def change(steps):
            one, other = _place(steps, pick), _place(steps, pick)
            a, b = steps[one[0]][one[1]], steps[other[0]][other[1]]
            a[name], b[name] = int(b[name]), int(a[name])
            return steps

        return _edit(schedule, change)

    return fault


def reordered_within_a_step(schedule, pick):
    """Harmless: the sends of a step have no order."""

    def change(steps):
        step = pick(len(steps))
        steps[step] = steps[step][::-1]
        return steps

    return _edit(schedule, change)


def steps_exchanged(schedule, pick):
    def change(steps):
        one, other = pick(len(steps)), pick(len(steps))
        steps[one], steps[other] = steps[other], steps[one]
        return steps

    return _edit(schedule, change)


def two_steps_at_once(schedule, pick):
    def change(steps):
        step = pick(len(steps))
        if step + 1 < len(steps):
            steps[step : step + 2] = [np.concatenate(steps[step : step + 2])]
        return steps

    return _edit(schedule, change)


def an_empty_step_more(schedule, pick):
    """Harmless for the data; it costs a step."""

    def change(steps):
        steps.insert(pick(len(steps) + 1), steps[0][:0])
        return steps

    return _edit(schedule, change)


def cut_in_two(schedule, pick):
    """Harmless if the send has several chunks."""

    def change(steps):
        step, send = _place(steps, pick)
        count = int(steps[step][send]["count"])
        rest = steps[step][[send]]
        steps[step][send]["count"] = count // 2
        rest["first"] += count // 2
        rest["count"] -= count // 2
        steps[step] = np.append(steps[step], rest)
        return steps

    return _edit(schedule, change)


def cut_finer(schedule, pick):
    return replace(schedule, chunks_per_shard=schedule.chunks_per_shard + 1 + pick(3))


def cut_coarser(schedule, pick):
    return replace(schedule, chunks_per_shard=schedule.chunks_per_shard - 1)


def of_the_other_collective(schedule, pick):
    others = [
        each for each in Collective if each not in (schedule.collective, Collective.ALLREDUCE)
    ]
    return replace(schedule, collective=others[pick(len(others))])


def ranks_exchanged(schedule, pick):
    ranks = list(schedule.ranks)
    one, other = pick(len(ranks)), pick(len(ranks))
    ranks[one], ranks[other] = ranks[other], ranks[one]
    return replace(schedule, ranks=tuple(ranks))


def _ranks(schedule):
    return range(-1, len(schedule.ranks) + 1)


STEP_FAULTS = {
    "dropped": dropped,
    "duplicated": duplicated,
    "moved to another step": moved_to_another_step,
    "turned round": turned_round,
    "from another source": _field("source", _ranks),
    "misrouted": _field("target", _ranks),
    "of another shard": _field("shard", _ranks),
    "other chunks": _field("first", lambda s: range(-1, s.chunks_per_shard + 1)),
    "more or fewer chunks": _field("count", lambda s: range(s.chunks_per_shard + 2)),
    "another link": _field("link", lambda s: range(-2, 4)),
    "another op": _field("op", lambda s: range(4)),
    "targets exchanged": exchanged("target"),
    "shards exchanged": exchanged("shard"),
    "chunks exchanged": exchanged("first"),
    "reordered within a step": reordered_within_a_step,
    "steps exchanged": steps_exchanged,
    "two steps at once": two_steps_at_once,
    "an empty step more": an_empty_step_more,
    "cut in two": cut_in_two,
    "cut finer": cut_finer,
    "cut coarser": cut_coarser,
    "other collective": of_the_other_collective,
    "ranks exchanged": ranks_exchanged,
}


# Ways to break trees.


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
