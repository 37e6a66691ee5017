"""Edge colourings of bipartite multigraphs near to a given partial colouring.

Three classical tools.  *Matchings* of greatest weight, one colour after the other.
*Alternating chains* (König's proof): an edge whose ends have no common free colour
gets one after two colours change places along a path.  *Exchange* (Kempe): the edges
of two colours form paths and cycles, and in each of them the two colours may change
places without harm to the rest.

A *preferred colour* is one that an edge had before: its cable is on that panel today.  The
more edges get a preferred colour, the more cables stay in place.
"""

import random
from itertools import combinations, cycle

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.bipartite import RegularMultigraph

Integers = NDArray[np.int64]

BLUR = 64
"""What an edge that prefers a colour costs, and between how much more or less it is drawn."""


@njit(cache=True, nogil=True)
def _chain(first, alpha, beta, sources, targets, at_source, at_target, preferred, chain):
    """Follow colours alpha, beta, alpha, ... from the target of ``first``.

    Returns the number of edges written to ``chain``, and how many more of them have their
    preferred colour now than after a swap.
    """
    count, lost = 0, 0
    edge, colour, other = first, alpha, beta
    at_left = True
    while edge >= 0:
        chain[count] = edge
        count += 1
        if preferred[edge] == colour:
            lost += 1
        elif preferred[edge] == other:
            lost -= 1
        colour, other = other, colour
        edge = at_source[sources[edge], colour] if at_left else at_target[targets[edge], colour]
        at_left = not at_left
    return count, lost


@njit(cache=True, nogil=True)
def _swap(chain, count, alpha, beta, sources, targets, at_source, at_target, colours):
    for k in range(count):
        edge = chain[k]
        at_source[sources[edge], colours[edge]] = -1
        at_target[targets[edge], colours[edge]] = -1
    for k in range(count):
        edge = chain[k]
        colours[edge] = beta if colours[edge] == alpha else alpha
        at_source[sources[edge], colours[edge]] = edge
        at_target[targets[edge], colours[edge]] = edge


@njit(cache=True, nogil=True)
def _free(row, found):
    """Write the first free colours of a node to ``found``; return how many."""
    count = 0
    for colour in range(len(row)):
        if row[colour] < 0:
            found[count] = colour
            count += 1
            if count == len(found):
                break
    return count


@njit(cache=True, nogil=True)
def _complete(sources, targets, at_source, at_target, colours, preferred, choices):
    chain = np.empty(2 * len(at_source) + 2, np.int64)
    best = np.empty_like(chain)
    free_u, free_v = np.empty(choices, np.int64), np.empty(choices, np.int64)
    for edge in range(len(sources)):
        if colours[edge] >= 0:
            continue
        u, v = sources[edge], targets[edge]
        alpha = -1
        for colour in range(at_source.shape[1]):
            if at_source[u, colour] < 0 and at_target[v, colour] < 0:
                alpha = colour
                break
        if alpha < 0:
            least, length, beta = len(sources) + 1, 0, -1
            count_v = _free(at_target[v], free_v)
            for i in range(_free(at_source[u], free_u)):
                for j in range(count_v):
                    count, lost = _chain(
                        at_target[v, free_u[i]], free_u[i], free_v[j], sources, targets,
                        at_source, at_target, preferred, chain,
                    )  # fmt: skip
                    if lost < least:
                        least, length, alpha, beta = lost, count, free_u[i], free_v[j]
                        best[:count] = chain[:count]
            # The chain reaches left nodes by colour alpha, which is free at u: it does
            # not end there, and after the swap alpha is free at both ends.
            _swap(best, length, alpha, beta, sources, targets, at_source, at_target, colours)
        colours[edge] = alpha
        at_source[u, alpha] = edge
        at_target[v, alpha] = edge


def complete(
    size: int, colour_count: int, sources: Integers, targets: Integers, preferred: Integers
) -> Integers:
    """Return a proper edge colouring that extends the preferred colours.

    Parameters
    ----------
    size : int
        Nodes on each side.
    colour_count : int
        At least the largest degree.
    sources, targets : int arrays
        The edges.
    preferred : int array
        The preferred colour of every edge, or -1; edges that share an end prefer different
        colours.

    Returns
    -------
    int array
        The colour of every edge.

    Notes
    -----
    All preferred colours are given first; then every other edge is inserted, O(size) each.
    Where its ends have no free colour in common, of up to 16 chains the one is swapped that
    takes its preferred colour from the fewest edges.

    Examples
    --------
    >>> path = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> complete(2, 2, *path, preferred=np.array([1, -1, -1])).tolist()
    [1, 0, 1]
    """
    colours = preferred.astype(np.int64)
    at_source = np.full((size, colour_count), -1, dtype=np.int64)
    at_target = at_source.copy()
    given = np.flatnonzero(colours >= 0)
    at_source[sources[given], colours[given]] = given
    at_target[targets[given], colours[given]] = given
    _complete(sources, targets, at_source, at_target, colours, preferred, limits.CHAIN_CHOICES)
    return colours


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
    size, sources, targets
        As for `complete`.
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
    """Improve a colouring in place: colour the edges of a few colours anew, repeatedly.

    Parameters are those of `exchange`.

    Notes
    -----
    Three or four colours drawn at random (always the same draws) are coloured by
    `successive`, in the drawn order, every other time with blurred costs, and `exchange`; the
    result is taken unless it gives fewer edges a preferred colour.  Ends after
    `limits.MAX_RECOLOR_ROUNDS` rounds, after ``size / 2`` (at most
    `limits.MAX_IDLE_RECOLOR_ROUNDS`) and ``3 * len(preferred)**2`` more in sequence without gain,
    or when `limits.MAX_RECOLORED_EDGES` edges have been coloured anew.
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
