"""Improve a proper edge coloring of a bipartite multigraph by exchanges of colors.

*Exchange* (Kempe): the edges of two colors form paths and cycles, and in each of them the two
colors may change places without harm to the rest.  *Resettle*: matchings of greatest weight replace
a few colors, one after the other.

A *preferred color* is one that an edge had before: its cable is on that panel today.
"""

import random
from itertools import combinations, cycle

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.bipartite import RegularMultigraph
from topoloom.synth.wiring.coloring.problem import ColoringProblem

Integers = NDArray[np.int64]

BLUR = 64
"""Unit of the weights of edges; random changes are below half a unit."""


def exchanged(problem: ColoringProblem, colors: Integers) -> Integers:
    """Return a coloring from which none of the exchanges gains, of a problem that `is_full`.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.eye(2, dtype=bool)[[0, 1, 1, 0]]
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> exchanged(problem, np.array([1, 0, 0, 1])).tolist()
    [0, 1, 1, 0]
    """
    size, colors = len(problem.room) // 2, colors.copy()
    sources, targets = problem.first, problem.second - size
    keys = sources * size + targets
    preferred = [np.unique(keys[likes]) for likes in problem.likes.T]
    exchange(size, sources, targets, colors, preferred)
    resettle(size, sources, targets, colors, preferred)
    return colors


def successive(
    size: int,
    sources: Integers,
    targets: Integers,
    preferred: list[Integers],
    draw: np.random.Generator | None = None,
) -> Integers:
    """Return a proper edge colouring made colour by colour, each on most edges that prefer it.

    Parameters
    ----------
    size : int
        Nodes on each side.
    sources, targets : int arrays
        The edges.
    preferred : list of int arrays
        As for `exchange`; its length is the number of colours.
    draw : random generator, optional
        Blurs what edges cost, so that other matchings are found.

    Notes
    -----
    Each colour is a perfect matching of least cost in what is left: an edge that
    prefers this colour is cheap, one that could still get a later colour that it prefers
    is dear.  The graph is padded to regular, so a matching is always left.
    """
    colours = np.zeros(len(sources), dtype=np.int64)
    graph = RegularMultigraph(size, len(preferred), sources, targets)
    keys = graph.rows * size + graph.columns
    later = np.sum([_is_preferred(keys, wanted) for wanted in preferred], axis=0)
    for colour, wanted in enumerate(preferred):
        report_progress("colouring panel by panel", colour, len(preferred))
        here = _is_preferred(keys, wanted)
        later -= here
        costs = BLUR * np.where(here, 1, np.where(later >= graph.left, 3, 2))
        if draw is not None:
            costs += draw.integers(-BLUR // 2, BLUR // 2, len(costs))
        colours[graph.take(graph.cheapest_matching(costs))] = colour
    return colours


def exchange(size: int, sources: Integers, targets: Integers, colours: Integers, preferred) -> None:
    """Improve a colouring in place by exchanging pairs of colours until none helps.

    Parameters
    ----------
    size : int
        Nodes on each side.
    sources, targets, colours : int arrays
        The edges and a proper colouring of them.
    preferred : list of int arrays
        For every colour the sorted keys ``source * size + target`` of the pairs of
        ends whose edges prefer it.

    Notes
    -----
    For one pair of colours the result is the best possible, as the components of its
    edges are independent; each costs O(size).  At most `limits.MAX_COLOR_PAIRS` pairs.
    """
    keys = sources * size + targets
    order = np.argsort(colours, kind="stable")
    split = np.searchsorted(colours[order], np.arange(1, len(preferred)))
    members = np.split(order, split)
    tried, since_improved = 0, 0
    pairs = list(combinations(range(len(preferred)), 2))
    for first, second in cycle(pairs):
        if tried == limits.MAX_COLOR_PAIRS or since_improved == len(pairs):
            break
        report_progress("exchanging links", since_improved, len(pairs))
        tried, since_improved = tried + 1, since_improved + 1
        edges = np.concatenate([members[first], members[second]])
        on_first = colours[edges] == first
        gain = _is_preferred(keys[edges], preferred[second]) - _is_preferred(
            keys[edges], preferred[first]
        )
        gain[~on_first] *= -1
        if not (gain > 0).any():
            continue
        component = _components(size, sources[edges], targets[edges])
        total = np.bincount(component, weights=gain).astype(np.int64)
        flip = total[component] > 0
        if flip.any():
            colours[edges[flip]] = np.where(on_first[flip], second, first)
            members[first] = edges[on_first != flip]
            members[second] = edges[on_first == flip]
            since_improved = 0


def resettle(size: int, sources: Integers, targets: Integers, colours: Integers, preferred) -> None:
    """Improve a colouring in place: replace a few colours at a time by matchings.

    Parameters are those of `exchange`.

    Notes
    -----
    Three or four colours drawn at random (always the same draws) are coloured by
    `successive`, in the drawn order, every other time with blurred costs, and `exchange`; the
    result is taken unless it gives fewer edges a preferred colour.  Ends after
    `limits.MAX_RECOLOR_ROUNDS` rounds, after ``size / 2`` (at most
    `limits.MAX_IDLE_RECOLOR_ROUNDS`) and ``3 * len(preferred)**2`` more in sequence without gain,
    or when `limits.MAX_RECOLORED_EDGES` edges have got a new colour.
    """
    draw, blur = random.Random(0), np.random.default_rng(0)
    patience = min(limits.MAX_IDLE_RECOLOR_ROUNDS, size // 2) + 3 * len(preferred) ** 2
    keys = sources * size + targets
    rounds, idle, touched = 0, 0, 0
    while (
        rounds < limits.MAX_RECOLOR_ROUNDS
        and idle < patience
        and touched < limits.MAX_RECOLORED_EDGES
    ):
        report_progress("colouring anew", rounds, limits.MAX_RECOLOR_ROUNDS)
        drawn = draw.sample(range(len(preferred)), min(3 + rounds % 2, len(preferred)))
        edges = np.flatnonzero(np.isin(colours, drawn))
        wanted = [preferred[colour] for colour in drawn]
        fresh = successive(
            size, sources[edges], targets[edges], wanted, blur if rounds % 2 else None
        )
        exchange(size, sources[edges], targets[edges], fresh, wanted)
        recoloured = np.array(drawn)[fresh]
        gain = kept_colours(keys[edges], recoloured, preferred) - kept_colours(
            keys[edges], colours[edges], preferred
        )
        if gain >= 0:
            colours[edges] = recoloured
        rounds, idle, touched = rounds + 1, 0 if gain > 0 else idle + 1, touched + len(edges)


def kept_colours(keys: Integers, colours: Integers, preferred: list[Integers]) -> int:
    """Return how many edges have a preferred colour."""
    return sum(
        int(np.isin(wanted, keys[colours == colour]).sum())
        for colour, wanted in enumerate(preferred)
        if len(wanted)
    )


def _is_preferred(keys: Integers, preferred: Integers) -> Integers:
    return np.isin(keys, preferred).astype(np.int64)


def _components(size: int, sources: Integers, targets: Integers) -> Integers:
    """Return for every edge the number of its component."""
    ends = (sources, targets + size)
    graph = coo_array((np.ones(len(sources), np.int8), ends), shape=(2 * size, 2 * size))
    labels = connected_components(graph.tocsr(), directed=False)[1]
    return labels[sources].astype(np.int64)
