"""What makes a schedule valid, said as plainly as possible."""

from collections import Counter
from itertools import pairwise

import networkx as nx

from tests.schedule_oracles import gather_works, scatter_works
from topoloom.schedules.model.schedule import COPY, NO_LINK, REDUCE, Collective, StepSchedule


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
    if len(sizes) != len(ranks) or not any(sizes) or min(sizes) < 0:
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
