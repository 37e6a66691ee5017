"""Label schedules: allgathers whose shards arrive in chosen steps, at exactly the labels' cost.

A shard goes on from a node once all of it is there, in any later step (`synth.slack`).
Breadth-first broadcast (`schedules.steps.bfb`) is the case in which it arrives as early as it can.
"""

from collections import Counter
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps import chunking
from topoloom.schedules.steps.bfb import parallel_index
from topoloom.schedules.steps.send_arrays import (
    finished,
    require_chunks,
    require_room,
    schedule_of,
    sends,
)
from topoloom.schedules.steps.slack_kernels import COLUMNS, arrivals
from topoloom.synth.errors import NotMeasurable, OutOfDomain
from topoloom.synth.evaluation.load_balance import scratch
from topoloom.synth.slack import Labels, frontier_of
from topoloom.synth.slack import labels as labels_within
from topoloom.synth.slack.problem import Problem, problem_of
from topoloom.synth.topology.topology import Topology

__all__ = ["allgather", "from_labels", "loads"]


def allgather(
    topology: Topology,
    steps: int | None = None,
    *,
    max_chunks: int | None = None,
    moves: int | None = None,
    seed: int = 0,
) -> StepSchedule:
    """Return the allgather of least bandwidth found within a number of steps.

    Parameters
    ----------
    topology : Topology
        Direct-connect, strongly connected, at most `synth.slack.MAX_DEGREE` links into any
        node, of any capacities.
    steps : int, optional
        At most so many, from the diameter on; the diameter plus `synth.slack.MAX_SLACK` if
        left out.
    max_chunks : int, optional
        As in `from_labels`.
    moves, seed : int, optional
        Of the search, see `synth.slack.labels`.

    Raises
    ------
    NoSchedule
        There are switches or too many links into a node, or ``steps``, ``max_chunks``,
        ``moves`` or ``seed`` is out of its domain.
    TooLarge
        More than `bfb.MAX_SENDS` sends or `bfb.MAX_CHUNKS` chunks per shard.
    Unreachable, InvalidTopology
        Not strongly connected, or fewer than two nodes.

    Examples
    --------
    >>> from topoloom.schedules.verify import step_cost, violations
    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(30, 3, seed=1)
    >>> schedule = allgather(graph, 5)
    >>> violations(schedule, graph), step_cost(schedule, graph), schedule.chunks_per_shard
    ([], Cost(steps=5, bandwidth=Fraction(29, 30)), 3)
    """
    require_room(topology.node_count * (topology.node_count - 1))
    return from_labels(topology, _labels(topology, steps, moves, seed), max_chunks)


def loads(topology: Topology, steps: int) -> tuple[tuple[Fraction, ...], int]:
    """Return what a link of the least capacity carries step by step, in shards, and the pieces.

    Of the labels that `allgather` would find; domain and errors are the same.  Shards come in so
    many equal pieces.

    >>> loads(Topology(range(3), [(0, 1), (1, 2), (2, 0)]), 2)
    ((Fraction(1, 1), Fraction(1, 1)), 1)
    """
    found = _labels(topology, steps, None, 0)
    problem = problem_of(topology, found.images, found.pieces)
    least = min(_capacities(problem))
    return tuple(load * least / problem.unit for load in found.loads), found.pieces


def _labels(topology: Topology, steps: int | None, moves: int | None, seed: int) -> Labels:
    try:
        if steps is None:
            return frontier_of(topology, moves=moves, seed=seed)[-1]
        return labels_within(topology, steps, moves=moves, seed=seed)
    except OutOfDomain as wrong:
        raise NoSchedule(f"/{wrong.field}", wrong.rule) from None
    except NotMeasurable as wrong:
        raise NoSchedule("/algorithm", f"slack serves not every graph: {wrong.rule}") from None


def from_labels(topology: Topology, labels: Labels, max_chunks: int | None = None) -> StepSchedule:
    """Return the allgather that labels of a topology describe.

    Parameters
    ----------
    topology : Topology
        The labels are of it: `synth.slack.check_labels` finds no fault.
    labels : Labels
        With loads of whole 1/q shards, as a search finds them, a shard is cut into at most q d
        chunks where links are equal, d into every node.
    max_chunks : int, optional
        Cut a shard into at most so many chunks, and take the number that loses least.  For
        links of one capacity and labels of one piece.

    Returns
    -------
    StepSchedule
        It costs what the labels claim, exactly if the loads are the heaviest links', as those
        of a search that found the optimum are, and never more, unless ``max_chunks`` made it
        so.  Sends are ordered by step, target and shard.

    Raises
    ------
    NoSchedule, TooLarge
        As `allgather`.

    Notes
    -----
    At every node and step the pieces are shared among the links open to them by the small
    flows of `synth.evaluation.load_balance.spread`; the theorem and its proof stand at
    `synth.slack.check_labels`.  Under a group of automorphisms one node of each orbit is shared
    out and the rest are images of it.

    *Reduce-scatter.*  In every chunk a rank receives once and sends only later, so the sends of a
    chunk form an out-tree in order of time; reversed in time on the turned links it is an
    in-tree, over which each contribution is added once before it is passed on
    (`schedules.generate.collectives.reverse`).  Steps and loads are the same.

    O(sends) and a flow of 2^d masks for every node and step.
    """
    problem = problem_of(topology, labels.images, labels.pieces)
    loads = [load / problem.unit for load in labels.loads]
    chunks = _chunks(problem, labels, loads, max_chunks)
    require_chunks(chunks)
    limits = _limits(problem, loads, chunks)
    in_piece = chunks // labels.pieces
    rows = _arrivals(problem, labels, limits, in_piece)
    require_room(len(rows) * len(labels.images))
    steps = [
        [_images(topology, problem, labels, part, in_piece)]
        for part in np.split(rows, np.searchsorted(rows[:, 0], np.arange(2, len(loads) + 1)))
    ]
    return finished(schedule_of(topology.node_count, chunks, steps), topology)


def _chunks(problem: Problem, labels: Labels, loads: list[Fraction], most: int | None) -> int:
    """Return into how many chunks to cut a shard: such that whole ones fill all limits."""
    capacities = _capacities(problem)
    if most is None:
        limits = [load * capacity for load in loads for capacity in capacities]
        return lcm(labels.pieces, *(limit.denominator for limit in limits))
    if len(capacities) > 1 or labels.pieces > 1:
        raise NoSchedule("/max_chunks", "is for links of one capacity and shards in one piece")
    return chunking.best([load * capacities[0] for load in loads], most)


def _capacities(problem: Problem) -> list[int]:
    singles = problem.weight[:, 1 << np.arange(problem.tail.shape[1])]
    return sorted(set(singles[singles > 0].tolist()))


def _limits(problem: Problem, loads: list[Fraction], chunks: int) -> NDArray[np.int64]:
    """Return (kinds, steps + 1, d): how many chunks a link of a node may carry, rounded up."""
    kinds, degree = len(problem.weight), problem.tail.shape[1]
    limits = np.zeros((kinds, len(loads) + 1, degree), np.int64)
    for kind in range(kinds):
        for k in range(degree):
            capacity = int(problem.weight[kind, 1 << k])
            for step, load in enumerate(loads, start=1):
                limits[kind, step, k] = -(-load.numerator * capacity * chunks // load.denominator)
    return limits


def _arrivals(
    problem: Problem, labels: Labels, limits: NDArray[np.int64], chunks: int
) -> NDArray[np.int64]:
    """Return what comes over each link of one node of every orbit, rows of `COLUMNS` by step."""
    degree = problem.tail.shape[1]
    memory = scratch(1 << degree, degree)
    cells = problem.members.shape[1] * len(labels.roots)
    # Every link's share at a step splits one cell more.
    buffer = np.empty((cells + (len(labels.loads) << degree) * degree, len(COLUMNS)), np.int64)
    parts = []
    for group in range(len(problem.members)):
        rows = arrivals(problem, labels.arrival, group, chunks, limits, memory, buffer)
        parts.append(buffer[:rows].copy())
    every = np.concatenate(parts)
    return every[np.argsort(every[:, 0], kind="stable")]


def _images(
    topology: Topology, problem: Problem, labels: Labels, rows: NDArray[np.int64], chunks: int
) -> NDArray[np.void]:
    """Return the sends that rows and all their images stand for; ``chunks`` are in a piece."""
    _, row, node, k, first, count = rows.T
    piece, seen = np.zeros(len(labels.roots), np.int64), Counter[int]()
    for place, root in enumerate(labels.roots.tolist()):
        piece[place] = seen[root]
        seen[root] += 1
    images, target = labels.images, labels.images[:, node]
    return sends(
        images[:, problem.tail[node, k]],
        target,
        images[:, labels.roots[row]],
        first + piece[row] * chunks,
        count,
        parallel_index(topology)[problem.link[target, k]],
    )
