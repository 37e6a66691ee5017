"""Semiregular automorphism groups: symmetry as data, for exact reductions.

A group is *semiregular* (acts freely) if only the identity fixes a node, as the left
multiplications of a Cayley digraph.  Then every orbit of nodes, and of links between distinct
nodes, has as many members as the group.  The sends of one node can be copied to its whole orbit
with equal loads along every orbit of links.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.algebra.permutation_groups import (
    MAX_IMAGES,
    Images,
    direct_product,
    identity,
    rotations,
)
from topoloom.synth.errors import SynthError
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.expansions import line_graph
from topoloom.synth.recipes.recipe import (
    Altered,
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)
from topoloom.synth.topology.topology import Topology

# Most entries of a lookup table.
_MOST_LOOKED_UP = 1 << 22


def semiregular_group(topology: Topology) -> Images:
    """Return the largest known semiregular group of automorphisms of a topology.

    Args:
        topology: Any.  The symmetry of its recipe, if any, is tried first, then rotations of the
            positions.  A wrong recipe does no harm: every automorphism is checked on the links.  A
            graph and its transpose have the same group.

    Returns:
        Row g holds the image of each position under g; row 0 is the identity.  The trivial
        group where no other is known.

    O(order * links log links) for the check.

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> semiregular_group(ring).tolist()
    [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]
    >>> links = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")]
    >>> semiregular_group(Topology("abc", links)).tolist()
    [[0, 1, 2]]
    """
    hinted = _of_recipe(topology)
    if hinted is not None and len(hinted) > 1 and _are_automorphisms(hinted, topology):
        return hinted
    return _rotating(topology)


def semiregular_group_of(recipe: Recipe) -> Images:
    """Return a semiregular group on the topology of a recipe; see `semiregular_group`.

    Cayley digraphs and lifts: left multiplication.  Line graphs: the action on the links.  Degree
    expansions: cyclic shifts of the copies.  Products: each coordinate separately.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> semiregular_group_of(parse("LineGraph(2, Cayley(8, 3, 2, 1, 9))")).shape
    (16, 64)
    """
    match recipe:
        case Base():
            images = recipe.semiregular_group()
            if images is None:
                return _rotating(build(recipe))
            return images if images.size <= MAX_IMAGES else images[:1]
        case LineGraph(times, of):
            return _of_links(semiregular_group_of(of), build(of), times)
        case DegreeExpansion(factor, of):
            return direct_product([rotations(factor), semiregular_group_of(of)])
        case Bidirected(of):
            return semiregular_group_of(of)
        case Altered():
            return _rotating(build(recipe))
        case Power(times, of):
            return direct_product([semiregular_group_of(of)] * times)
        case Product(factors):
            return direct_product([semiregular_group_of(of) for of in factors])


def _rotating(topology: Topology) -> Images:
    """Return the largest group of rotations of the positions."""
    nodes = topology.node_count
    for step in range(1, nodes):
        # A rotation by step generates a group of order nodes / step.
        if nodes % step == 0 and nodes * (nodes // step) <= MAX_IMAGES:
            # Check one row first: all rows together have N^2 entries.
            turned = (np.arange(nodes)[None] + step) % nodes
            if _are_automorphisms(turned, topology):
                return rotations(nodes, step)
    return identity(nodes)


def _of_recipe(topology: Topology) -> Images | None:
    recipe = cast("Recipe | None", topology.recipe)
    try:
        if recipe is None or size(recipe)[0] != topology.node_count:
            return None
        return semiregular_group_of(recipe)
    except SynthError:
        return None


def _of_links(images: Images, topology: Topology, times: int) -> Images:
    """Return the action on the ``times``-fold line graph; its node i is link i of the graph."""
    nodes = topology.node_count
    ends = topology.sources.astype(np.int64), topology.targets.astype(np.int64)
    for _ in range(times):
        keys = ends[0] * nodes + ends[1]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if len(images) * len(keys) > MAX_IMAGES:
            images = images[:1]
        # Parallel links keep their order.
        place = np.arange(len(keys)) - np.searchsorted(keys, keys)
        moved = images[:, ends[0][order]] * nodes + images[:, ends[1][order]]
        images = _places(keys, moved, nodes**2) + place
        nodes, ends = line_graph.links(nodes, ends, 1)
    return images


def _places(keys: Images, wanted: Images, limit: int) -> Images:
    """Return the first index in sorted keys of each number, or its insertion index."""
    if limit > _MOST_LOOKED_UP:
        return np.searchsorted(keys, wanted)
    # Cumulative counts of the keys: ``wanted`` has many times as many entries as ``keys``.
    up_to = np.cumsum(np.bincount(keys, minlength=limit))
    return np.where(wanted == 0, 0, up_to[wanted - 1])


def _are_automorphisms(images: Images, topology: Topology) -> bool:
    """Return whether every row maps links to links and switches to switches."""
    nodes = topology.node_count
    sources, targets = topology.sources.astype(np.int64), topology.targets.astype(np.int64)
    kinds = sorted(set(topology.capacities))
    code = {capacity: index for index, capacity in enumerate(kinds)}
    capacity = np.array([code[one] for one in topology.capacities], np.int64)
    switch = np.array([node in topology.switches for node in topology.nodes])

    def keys(row: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.sort((row[sources] * nodes + row[targets]) * len(kinds) + capacity)

    fixed = keys(np.arange(nodes))

    def moves_links(row: NDArray[np.int64]) -> bool:
        return np.array_equal(keys(row), fixed) and np.array_equal(switch[row], switch)

    return _are_generated(images, moves_links)


def _are_generated(images: Images, moves_links: Callable[[NDArray[np.int64]], bool]) -> bool:
    """Return whether all rows are automorphisms; compositions of checked rows need no check.

    Finding a composition takes no sorting of links.
    """
    by_first = np.full(images.shape[1], -1)
    by_first[images[:, 0]] = np.arange(len(images))
    known = np.zeros(len(images), np.bool_)
    generators: list[NDArray[np.int64]] = []
    for index, row in enumerate(images):
        if known[index]:
            continue
        if not moves_links(row):
            return False
        known[index] = True
        generators.append(row)
        fresh = np.flatnonzero(known)
        while len(fresh):
            found = []
            for generator in generators:
                # The image of the first position tells which row a composition may be.
                place = by_first[images[fresh, generator[0]]]
                new = (place >= 0) & ~known[place]
                same = (images[fresh[new]][:, generator] == images[place[new]]).all(1)
                found.append(place[new][same])
                known[found[-1]] = True
            fresh = np.unique(np.concatenate(found))
    return True
