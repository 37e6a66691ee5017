"""Verification of tree schedules: every tree spans the ranks over existing links.

Arrays decide which trees break no rule (`tree_hops`); the others are read edge by edge.
"""

from itertools import pairwise
from typing import NamedTuple

from topoloom.schedules.model.schedule import Tree, TreeSchedule
from topoloom.schedules.model.tree_table import tree_table
from topoloom.schedules.verify.findings import Findings
from topoloom.schedules.verify.link_index import LinkIndex
from topoloom.schedules.verify.tree_hops import spanning_trees
from topoloom.synth.topology.topology import NodeId, Topology


class _Rules(NamedTuple):
    """The rule for edges: paths over ``links`` whose inner nodes are ``inner``."""

    links: set[tuple[NodeId, NodeId]]
    inner: frozenset[NodeId]
    outward: bool


def check_trees(
    schedule: TreeSchedule, topology: Topology, findings: Findings, prefix: str = ""
) -> None:
    """Add the violations of a tree schedule.

    Every tree reaches every rank exactly once.  Each edge starts at a rank reached before, in
    order of depth: the edges form a spanning tree in breadth-first order.  An allgather or
    broadcast sends down the tree.  A reduce-scatter or reduce, with edges directed to the root,
    sums up along it, with each rank counted once.  Per root the weights sum to ``trees_per_root``
    times the size of its shard, so each shard is served exactly once.  Idle compute nodes occur
    only inside edges.
    """
    if not _check_shards(schedule, findings, prefix):
        return
    if schedule.trees_per_root < 1:
        findings.add(f"{prefix}/trees_per_root", "must be at least 1")
    links, nodes = LinkIndex.of(topology), topology.nodes
    table = tree_table(schedule.trees, nodes)
    good = spanning_trees(table, schedule, topology, links) & (table.weights >= 1)
    rules = _rules(schedule, topology)
    weights = dict.fromkeys(schedule.ranks, 0)
    summed = zip(table.roots.tolist(), table.weights.tolist(), good.tolist(), strict=True)
    for index, (root, weight, is_good) in enumerate(summed):
        if is_good:
            weights[nodes[root]] += weight
            continue
        tree, place = schedule.trees[index], f"{prefix}/trees/{index}"
        if weight < 1:
            findings.add(f"{place}/weight", "must be at least 1", shard=tree.root)
        if tree.root not in weights:
            findings.add(f"{place}/root", "must be a rank")
            continue
        weights[tree.root] += weight
        _check_tree(tree, weights, rules, findings, place)
        if not findings.room:
            return
    for (root, weight), size in zip(weights.items(), schedule.sizes, strict=True):
        if weight != schedule.trees_per_root * size:
            findings.add(
                f"{prefix}/trees",
                f"the weights of the trees of {root!r} must add up to "
                f"{schedule.trees_per_root * size}; they make {weight}",
                shard=root,
            )


def _rules(schedule: TreeSchedule, topology: Topology) -> _Rules:
    links = {(link.source, link.target) for link in topology.links}
    inner = topology.switches | set(schedule.idle)
    return _Rules(links, inner, schedule.collective.outward)


def _check_shards(schedule: TreeSchedule, findings: Findings, prefix: str) -> bool:
    """Return whether every rank has a size, and a broadcast or reduce has one root."""
    sizes = schedule.sizes
    if len(sizes) != len(schedule.ranks) or min(sizes, default=0) < 0 or not any(sizes):
        findings.add(f"{prefix}/shards", "must be sizes from 0, one per rank, and not all 0")
        return False
    if schedule.collective.has_root and schedule.root is None:
        findings.add(f"{prefix}/root", "must be the only rank with a shard, which has size 1")
        return False
    return True


def _check_tree(
    tree: Tree, ranks: dict[NodeId, int], rules: _Rules, findings: Findings, place: str
) -> None:
    depth = {tree.root: 0}
    deepest = 0
    near_end, far_end = (0, -1) if rules.outward else (-1, 0)
    for index, edge in enumerate(tree.edges):
        if len(edge) < 2:
            findings.add(f"{place}/edges/{index}", "must name a sender and a receiver")
            continue
        problem = _edge_problem(edge, rules)
        near, far = edge[near_end], edge[far_end]
        if problem is None:
            level = depth[near] + 1 if near in depth else 0
            if level == 0:
                problem = f"rank {near!r} must be joined to the tree by an earlier edge"
            elif far in depth:
                problem = f"rank {far!r} is in the tree already"
            elif far not in ranks:
                problem = f"{far!r} must be a rank"
            elif level < deepest:
                problem = "edges must be in breadth-first order from the root"
            else:
                depth[far] = deepest = level
                continue
        findings.add(f"{place}/edges/{index}", problem, rank=far, shard=tree.root)
        depth.setdefault(far, deepest)
    if not ranks.keys() <= depth.keys():
        for rank in ranks:
            if rank not in depth:
                findings.add(place, f"the tree does not reach {rank!r}", rank=rank, shard=tree.root)


def _edge_problem(edge: tuple[NodeId, ...], rules: _Rules) -> str | None:
    for hop in pairwise(edge):
        if hop not in rules.links:
            return f"no link joins {hop[0]!r} to {hop[1]!r}"
    for node in edge[1:-1]:
        if node not in rules.inner:
            return f"{node!r} is not a switch; only switches may lie inside an edge"
    return None
