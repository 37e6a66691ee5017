"""Two trees on disjoint links."""

from itertools import product

from tests.baseline_runs.runs import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation
from topoloom.schedules.baselines.two_tree_schedule import DoubleTree
from topoloom.schedules.model.schedule import Collective, SequenceSchedule, Tree, TreeSchedule
from topoloom.synth.topology.topology import Topology


def trees_run(
    trees: DoubleTree, nodes: int, degree: int, operation: Operation
) -> BaselineRun | None:
    """Return both trees on disjoint links."""
    timed, arity = trees._best(nodes, degree, operation)
    return two_tree_run(nodes, degree, arity, timed) if timed else None


def two_tree_run(nodes: int, degree: int, arity: int, timed: Baseline) -> BaselineRun:
    """Return both trees on disjoint links, cut as in `time`, which returned ``timed``."""
    trees = [_edges(nodes, arity, order) for order in _orders(nodes, arity)]
    parallel = degree // (arity + 2)
    pairs = [pair for _, edges in trees for pair in edges]
    both = [pair for a, b in pairs for pair in ((a, b), (b, a))]
    topology = Topology(range(nodes), both * parallel)
    roots = [root for root, _ in trees]
    sizes = tuple(int(host in roots) for host in range(nodes))
    parts = tuple(
        TreeSchedule(
            collective,
            topology.digest,
            topology.nodes,
            1,
            tuple(
                Tree(root, 1, tuple((b, a) if turned else (a, b) for a, b in edges))
                for root, edges in trees
            ),
            sizes,
        )
        for collective, turned in ((Collective.REDUCE_SCATTER, True), (Collective.ALLGATHER, False))
    )
    schedule = SequenceSchedule(Collective.ALLREDUCE, topology.digest, parts, together=True)
    return BaselineRun(topology, schedule, timed.chunks)


def _edges(nodes: int, arity: int, order: list[int]) -> tuple[int, list[tuple[int, int]]]:
    """Return the root and the edges, breadth first, of the heap over hosts in an order."""
    return order[0], [(order[(at - 1) // arity], order[at]) for at in range(1, nodes)]


def _orders(nodes: int, arity: int) -> tuple[list[int], list[int]]:
    """Return an order of the hosts for each heap, such that the heaps share no link.

    The inner hosts of the second heap are the last hosts, which are leaves of the first.  These and
    its leaves are rotated until no two hosts are joined in both.
    """
    inner = (nodes - 2) // arity + 1
    first = list(range(nodes))
    joined = {frozenset(pair) for pair in _edges(nodes, arity, first)[1]}
    heads, leaves = first[::-1][:inner], first[::-1][inner:]
    for head, turn in product(range(len(heads)), range(len(leaves))):
        second = [*heads[head:], *heads[:head], *leaves[turn:], *leaves[:turn]]
        if not any(frozenset(pair) in joined for pair in _edges(nodes, arity, second)[1]):
            return first, second
    raise AssertionError(f"no two heaps of {nodes} hosts without a link in common")
