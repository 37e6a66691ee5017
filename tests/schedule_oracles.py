"""Plain generators and a slow, obvious checker, to test the schedule rooms against."""

from collections import Counter, defaultdict, deque

import numpy as np
from hypothesis import strategies as st

from topoloom.schedules.groups.joint_schedule import traffic_schedules
from topoloom.schedules.groups.traffic import GroupTraffic
from topoloom.schedules.model.schedule import (
    COPY,
    NO_LINK,
    REDUCE,
    SEND,
    Collective,
    SequenceSchedule,
    StepSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.schedules.verify.groups import joint_time
from topoloom.synth.topology.topology import Topology


def ring(count):
    return Topology(
        range(count), [(i, (i + 1) % count) for i in range(count)], name=f"UniRing({count})"
    )


def bidirectional_ring(count):
    links = [(i, (i + way) % count) for i in range(count) for way in (1, -1)]
    return Topology(range(count), links, name=f"BiRing({count})")


def two_boxes(per_box=2):
    """Two boxes of GPUs behind a switch each; GPU i of one is joined to GPU i of the other."""
    gpus = [f"{box}.gpu{i}" for box in range(2) for i in range(per_box)]
    switches = ["0.nvswitch", "1.nvswitch"]
    links = []
    for gpu in gpus:
        switch = f"{gpu[0]}.nvswitch"
        links += [(gpu, switch, 300), (switch, gpu, 300)]
        links.append((gpu, f"{1 - int(gpu[0])}{gpu[1:]}", 25))
    return Topology(gpus + switches, links, switches=switches, name="two-boxes")


@st.composite
def direct_topologies(draw, largest=7):
    """Strongly connected digraphs without switches, parallel links included."""
    count = draw(st.integers(2, largest))
    order = draw(st.permutations(range(count)))
    links = [(order[i], order[(i + 1) % count]) for i in range(count)]
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links += draw(st.lists(ends.filter(lambda pair: pair[0] != pair[1]), max_size=2 * count))
    ids = draw(st.sampled_from(["numbers", "texts"]))
    if ids == "texts":
        return Topology(map(str, range(count)), [(str(a), str(b)) for a, b in links])
    return Topology(range(count), links)


def shortest_steps(topology, chunks=1):
    """Allgather: everyone at distance t of a shard gets it in step t, chunks spread evenly."""
    ranks = topology.compute_nodes
    index = {node: rank for rank, node in enumerate(ranks)}
    pairs = Counter((index[link.source], index[link.target]) for link in topology.links)
    into = defaultdict(list)
    for (a, b), many in sorted(pairs.items()):
        into[b] += [(a, link) for link in range(many)]
    steps = {}
    for root in range(len(ranks)):
        distance = _distances(len(ranks), pairs, root)
        for node in range(len(ranks)):
            feeders = [(a, link) for a, link in into[node] if distance[a] + 1 == distance[node]]
            for chunk in range(chunks if feeders else 0):
                feeder, link = feeders[chunk % len(feeders)]
                link = NO_LINK if pairs[feeder, node] == 1 else link
                row = (feeder, node, root, chunk, 1, link, COPY)
                steps.setdefault(distance[node], []).append(row)
    arrays = tuple(np.array(steps[step], dtype=SEND) for step in sorted(steps))
    return StepSchedule(Collective.ALLGATHER, topology.digest, ranks, chunks, arrays)


def _distances(count, pairs, root):
    out_of = defaultdict(list)
    for a, b in pairs:
        out_of[a].append(b)
    distance, queue = {root: 0}, deque([root])
    while queue:
        node = queue.popleft()
        for b in out_of[node]:
            if b not in distance:
                distance[b] = distance[node] + 1
                queue.append(b)
    return [distance[node] for node in range(count)]


def shortest_trees(topology, weights=(1,), outward=True):
    """Per root one breadth-first tree for each weight, neighbours in rotated order."""
    trees = []
    for root in topology.compute_nodes:
        for turn, weight in enumerate(weights):
            trees.append(Tree(root, weight, _tree_edges(topology, root, turn, outward)))
    collective = Collective.ALLGATHER if outward else Collective.REDUCE_SCATTER
    return TreeSchedule(
        collective, topology.digest, topology.compute_nodes, sum(weights), tuple(trees)
    )


def _tree_edges(topology, root, turn, outward):
    links = topology.links if outward else topology.transpose().links
    near = {
        node: sorted({k.target for k in links if k.source == node}, key=str)
        for node in topology.nodes
    }
    paths, seen, edges = deque([(root,)]), {root}, []
    while paths:
        path = paths.popleft()
        around = near[path[-1]]
        turned = around[turn % len(around) :] + around[: turn % len(around)]
        for node in turned:
            if node in seen:
                continue
            seen.add(node)
            longer = (*path, node)
            if node in topology.switches:
                # A switch is crossed at once, so that edges stay in order of depth.
                paths.appendleft(longer)
            else:
                edges.append(longer if outward else longer[::-1])
                paths.append((node,))
    return tuple(sorted(edges, key=lambda edge: _depth(edges, root, edge, outward)))


def _depth(edges, root, edge, outward):
    parent = {e[-1]: e[0] for e in edges} if outward else {e[0]: e[-1] for e in edges}
    node, depth = edge[-1] if outward else edge[0], 0
    while node != root:
        node, depth = parent[node], depth + 1
    return depth


def reversed_steps(schedule, topology):
    """Turn an allgather on the transpose into a reduce-scatter on the topology, row by row."""
    steps = []
    for step in schedule.steps[::-1]:
        rows = [(t, s, shard, a, n, link, REDUCE) for s, t, shard, a, n, link, _ in step.tolist()]
        steps.append(np.array(rows, dtype=SEND))
    return StepSchedule(
        Collective.REDUCE_SCATTER,
        topology.digest,
        schedule.ranks,
        schedule.chunks_per_shard,
        tuple(steps),
    )


def every_schedule(topology, chunks=2, weights=(2, 1)):
    """One schedule of each kind and collective, by name."""
    gather = shortest_steps(topology, chunks) if not topology.switches else None
    scatter = (
        reversed_steps(shortest_steps(topology.transpose(), chunks), topology) if gather else None
    )
    trees = shortest_trees(topology, weights)
    turned = shortest_trees(topology, weights, outward=False)
    made = {"trees-allgather": trees, "trees-reduce-scatter": turned}
    made["trees-allreduce"] = SequenceSchedule(
        Collective.ALLREDUCE, topology.digest, (turned, trees)
    )
    if gather and scatter:
        made |= {"steps-allgather": gather, "steps-reduce-scatter": scatter}
        made["steps-allreduce"] = SequenceSchedule(
            Collective.ALLREDUCE, topology.digest, (scatter, gather)
        )
    return made


def gather_works(schedule):
    """Whether sets of chunks, sent step by step, end complete, each having arrived once."""
    ranks, chunks = len(schedule.ranks), schedule.chunks_per_shard
    held = [{(rank, chunk) for chunk in range(chunks)} for rank in range(ranks)]
    for step in schedule.steps:
        arriving = []
        for source, target, shard, first, count, _, _ in step.tolist():
            for chunk in range(first, first + count):
                if (shard, chunk) not in held[source]:
                    return False
                arriving.append((target, (shard, chunk)))
        if len(set(arriving)) < len(arriving):
            return False
        for target, piece in arriving:
            if piece in held[target]:
                return False
            held[target].add(piece)
    return all(len(pieces) == ranks * chunks for pieces in held)


def scatter_works(schedule):
    """Whether sums, kept as multisets of contributions, end right at every owner."""
    ranks, chunks = len(schedule.ranks), schedule.chunks_per_shard
    sums = {
        (rank, shard, chunk): Counter([rank])
        for rank in range(ranks)
        for shard in range(ranks)
        for chunk in range(chunks)
    }
    for step in schedule.steps:
        before = {key: value.copy() for key, value in sums.items()}
        for source, target, shard, first, count, _, _ in step.tolist():
            for chunk in range(first, first + count):
                sums[target, shard, chunk] += before[source, shard, chunk]
    return all(
        sums[shard, shard, chunk] == Counter(range(ranks))
        for shard in range(ranks)
        for chunk in range(chunks)
    )


def complete(count):
    return Topology(range(count), [(a, b) for a in range(count) for b in range(count) if a != b])


def hypercube(dimension):
    count = 2**dimension
    return Topology(range(count), [(i, i ^ 1 << k) for i in range(count) for k in range(dimension)])


@st.composite
def grouped(draw):
    """Return a small topology and disjoint groups of one size, with or without idle hosts."""
    topology = draw(direct_topologies(6))
    hosts = draw(st.permutations(topology.nodes))
    size = draw(st.integers(2, max(2, len(hosts) // 2)))
    count = draw(st.integers(1, len(hosts) // size))
    return topology, [tuple(hosts[at * size : (at + 1) * size]) for at in range(count)]


def matching_row(rows, collective, size, nodes, ranks):
    """Return the first row that matches a call, as NCCL's example plugin does, or None."""
    for row in rows:
        if (
            row.collective is collective
            and row.first <= size <= row.last
            and row.nodes in (-1, nodes)
            and row.ranks in (-1, ranks)
        ):
            return row
    return None


def joint_schedules(topology, groups, collective):
    """Return one schedule for each group; all run at once."""
    traffic = GroupTraffic("", tuple(map(tuple, groups)), collective, 1)
    return traffic_schedules(topology, [traffic])[0]


def joint_algbw(schedules, topology):
    """Return the rate of every group if all run at once, each with the same size of data."""
    return 1 / joint_time([(schedule, 1) for schedule in schedules], topology)
