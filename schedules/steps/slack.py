"""Slack schedules: allgathers with a chosen arrival step per (shard, node) pair.

A node forwards a shard in any step after the shard is complete (`synth.slack`).  Breadth-first
broadcast (`schedules.steps.bfb`) is the case in which every shard arrives as early as possible.
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
    allgather_from_sends,
    normalized_schedule,
    require_chunk_limit,
    require_send_limit,
    sends,
)
from topoloom.schedules.steps.slack_kernels import COLUMNS, arrivals
from topoloom.synth.errors import NotMeasurable, OutOfDomain
from topoloom.synth.evaluation.load_balance import scratch
from topoloom.synth.slack import SlackSchedule, slack_frontier, slack_schedule
from topoloom.synth.slack.problem import Problem, slack_problem
from topoloom.synth.topology.topology import Topology


def allgather(
    topology: Topology,
    steps: int | None = None,
    *,
    max_chunks: int | None = None,
    moves: int | None = None,
    seed: int = 0,
) -> StepSchedule:
    """Return the allgather of least bandwidth found within a number of steps.

    Args:
        topology: Direct-connect, strongly connected, at most `synth.slack.MAX_DEGREE` links into
            any node, of any capacities.
        steps: Maximum number of steps, at least the diameter.  Default: the diameter plus
            `synth.slack.MAX_SLACK`.
        max_chunks: As in `from_slack_schedule`.
        moves, seed: Options of the search; see `synth.slack.slack_schedule`.

    Raises:
        NoSchedule: There are switches or too many links into a node, or ``steps``, ``max_chunks``,
            ``moves`` or ``seed`` is out of its domain.
        TooLarge: More than `bfb.MAX_SENDS` sends or `bfb.MAX_CHUNKS` chunks per shard.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.

    >>> from topoloom.schedules.verify import step_cost, violations
    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(30, 3, seed=1)
    >>> schedule = allgather(graph, 5)
    >>> violations(schedule, graph), step_cost(schedule, graph), schedule.chunks_per_shard
    ([], Cost(steps=5, bandwidth=Fraction(29, 30)), 3)
    """
    require_send_limit(topology.node_count * (topology.node_count - 1))
    return from_slack_schedule(topology, _search(topology, steps, moves, seed), max_chunks)


def loads(topology: Topology, steps: int) -> tuple[tuple[Fraction, ...], int]:
    """Return the load of a link of the least capacity by step, in shards, and the pieces per shard.

    The loads are those of the slack schedule behind `allgather`; domain and errors are the same.

    >>> loads(Topology(range(3), [(0, 1), (1, 2), (2, 0)]), 2)
    ((Fraction(1, 1), Fraction(1, 1)), 1)
    """
    found = _search(topology, steps, None, 0)
    problem = slack_problem(topology, found.images, found.pieces)
    least = min(_capacities(problem))
    return tuple(load * least / problem.unit for load in found.loads), found.pieces


def _search(topology: Topology, steps: int | None, moves: int | None, seed: int) -> SlackSchedule:
    try:
        if steps is None:
            return slack_frontier(topology, moves=moves, seed=seed)[-1]
        return slack_schedule(topology, steps, moves=moves, seed=seed)
    except OutOfDomain as wrong:
        raise NoSchedule(f"/{wrong.field}", wrong.rule) from None
    except NotMeasurable as wrong:
        raise NoSchedule("/algorithm", f"slack does not serve this graph: {wrong.rule}") from None


def from_slack_schedule(
    topology: Topology, slack: SlackSchedule, max_chunks: int | None = None
) -> StepSchedule:
    """Return the allgather that a slack schedule describes.

    Args:
        topology: Must pass `synth.slack.check_slack_schedule` with ``slack``.
        slack: Arrival steps and loads.  With loads in multiples of 1/q shard, as the search
            returns, a shard is cut into at most q d chunks on regular graphs of degree d with equal
            links.
        max_chunks: Maximum chunks per shard; the number that loses least is chosen.  Requires links
            of one capacity and shards in one piece.

    Returns:
        Costs exactly as much as ``slack`` claims if the loads are those of the busiest links,
        as after a search that reaches the optimum; otherwise at most as much.  ``max_chunks``
        may raise the cost.  Sends are ordered by step, target and shard.

    Raises:
        NoSchedule, TooLarge: As `allgather`.

    At every node and step, small flows (`synth.evaluation.load_balance.spread`) divide the pieces
    among the open links; `synth.slack.check_slack_schedule` states the theorem and its proof.
    Under a group of automorphisms, flows run at one node of each orbit; the other nodes take
    images.

    *Reduce-scatter.*  A rank receives each chunk once and sends it only later.  The sends of a
    chunk therefore form an out-tree in order of time.  Reversed in time on the reversed links,
    they form an in-tree that adds each contribution once before it is forwarded
    (`schedules.generate.collectives.reverse`).  Steps and loads are unchanged.

    O(sends) and a flow of 2^d masks for every node and step.
    """
    problem = slack_problem(topology, slack.images, slack.pieces)
    loads = [load / problem.unit for load in slack.loads]
    chunks = _chunks(problem, slack, loads, max_chunks)
    require_chunk_limit(chunks)
    limits = _limits(problem, loads, chunks)
    in_piece = chunks // slack.pieces
    rows = _arrivals(problem, slack, limits, in_piece)
    require_send_limit(len(rows) * len(slack.images))
    steps = [
        [_images(topology, problem, slack, part, in_piece)]
        for part in np.split(rows, np.searchsorted(rows[:, 0], np.arange(2, len(loads) + 1)))
    ]
    return normalized_schedule(allgather_from_sends(topology.node_count, chunks, steps), topology)


def _chunks(problem: Problem, slack: SlackSchedule, loads: list[Fraction], most: int | None) -> int:
    """Return the number of chunks per shard, such that whole chunks fill all limits."""
    capacities = _capacities(problem)
    if most is None:
        limits = [load * capacity for load in loads for capacity in capacities]
        return lcm(slack.pieces, *(limit.denominator for limit in limits))
    if len(capacities) > 1 or slack.pieces > 1:
        raise NoSchedule("/max_chunks", "is for links of one capacity and shards in one piece")
    return chunking.best_chunks([load * capacities[0] for load in loads], most)


def _capacities(problem: Problem) -> list[int]:
    singles = problem.weight[:, 1 << np.arange(problem.tail.shape[1])]
    return sorted(set(singles[singles > 0].tolist()))


def _limits(problem: Problem, loads: list[Fraction], chunks: int) -> NDArray[np.int64]:
    """Return (kinds, steps + 1, d): the chunks that a link of a node may carry, rounded up."""
    kinds, degree = len(problem.weight), problem.tail.shape[1]
    limits = np.zeros((kinds, len(loads) + 1, degree), np.int64)
    for kind in range(kinds):
        for k in range(degree):
            capacity = int(problem.weight[kind, 1 << k])
            for step, load in enumerate(loads, start=1):
                limits[kind, step, k] = -(-load.numerator * capacity * chunks // load.denominator)
    return limits


def _arrivals(
    problem: Problem, slack: SlackSchedule, limits: NDArray[np.int64], chunks: int
) -> NDArray[np.int64]:
    """Return the receives of one node of every orbit, by link: rows of `COLUMNS`, by step."""
    degree = problem.tail.shape[1]
    memory = scratch(1 << degree, degree)
    cells = problem.members.shape[1] * len(slack.roots)
    # Each link's share of a step splits at most one more cell.
    buffer = np.empty((cells + (len(slack.loads) << degree) * degree, len(COLUMNS)), np.int64)
    parts = []
    for group in range(len(problem.members)):
        rows = arrivals(problem, slack.arrival, group, chunks, limits, memory, buffer)
        parts.append(buffer[:rows].copy())
    every = np.concatenate(parts)
    return every[np.argsort(every[:, 0], kind="stable")]


def _images(
    topology: Topology, problem: Problem, slack: SlackSchedule, rows: NDArray[np.int64], chunks: int
) -> NDArray[np.void]:
    """Return the sends of the rows and of all their images, with ``chunks`` chunks per piece."""
    _, row, node, k, first, count = rows.T
    piece, seen = np.zeros(len(slack.roots), np.int64), Counter[int]()
    for place, root in enumerate(slack.roots.tolist()):
        piece[place] = seen[root]
        seen[root] += 1
    images, target = slack.images, slack.images[:, node]
    return sends(
        images[:, problem.tail[node, k]],
        target,
        images[:, slack.roots[row]],
        first + piece[row] * chunks,
        count,
        parallel_index(topology)[problem.link[target, k]],
    )
