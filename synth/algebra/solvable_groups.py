"""All solvable groups of an order, up to isomorphism, as extensions of smaller ones.

A solvable group has a normal subgroup H of prime index p: it extends H by an element t
(`synth.algebra.polycyclic`).  For every H the enumeration covers all automorphisms s whose power p
is inner, one of each class under conjugation and inner automorphisms, and all elements h possible
for t^p, up to replacing t by t z with z in the center.  Results with equal invariants are
compared exactly.
"""

from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topoloom.synth.algebra.group_isomorphisms import GroupTable, homomorphisms, isomorphic, powers
from topoloom.synth.algebra.groups import Elements
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.primes import prime_factors

MOST_AUTOMORPHISMS = 100_000


class Solvable(NamedTuple):
    """A solvable group with its table."""

    presentation: tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
    """Orders and relations, as `Polycyclic` takes them."""
    table: GroupTable

    @property
    def group(self) -> Polycyclic:
        """The group as a `Polycyclic`."""
        return Polycyclic(*self.presentation)


@lru_cache(maxsize=256)
def solvable_groups(order: int) -> tuple[Solvable, ...]:
    """Return all solvable groups of an order up to isomorphism.

    For subgroups with more than `MOST_AUTOMORPHISMS` automorphisms, only central extensions are
    tried; known counts of groups show at which orders the result is complete nevertheless.

    >>> [len(solvable_groups(order)) for order in (2, 4, 8, 12, 16, 24)]
    [1, 2, 5, 5, 14, 15]
    """
    kinds: dict[bytes, list[Solvable]] = {}
    for prime in prime_factors(order):
        for smaller in solvable_groups(order // prime) if order > prime else (None,):
            for extension in _extensions(smaller, prime):
                alike = kinds.setdefault(extension.table.invariant, [])
                if not any(isomorphic(other.table, extension.table) for other in alike):
                    alike.append(extension)
    return tuple(chain.from_iterable(kinds.values()))


def _extensions(smaller: Solvable | None, prime: int) -> list[Solvable]:
    """Return the extensions of a group (None: trivial) by an element of prime index."""
    if smaller is None:
        every = np.arange(prime)
        return [Solvable(((prime,), ()), GroupTable((every[:, None] + every) % prime))]
    orders, relations = smaller.presentation
    table = smaller.table.table
    inverses = np.argmin(table, axis=1)
    # conjugation[h, x] is h x h^-1.
    conjugation = table[table, inverses[:, None]]
    generators = np.cumprod([1, *orders[:-1]])
    extensions = []
    for moved, power in _automorphisms(smaller.table, conjugation, prime):
        for h in _powers(table, conjugation, moved, power, prime):
            relation = (h, *moved[generators].tolist())
            presentation = (*orders, prime), (*relations, relation)
            extensions.append(Solvable(presentation, GroupTable(_table(table, moved, h, prime))))
    return extensions


def _table(table: Elements, moved: Elements, h: int, prime: int) -> Elements:
    """Return the table of the extension: (y t^e) (z t^f) is y s^e(z) t^(e + f)."""
    size = len(table)
    extended = np.zeros((prime, size, prime, size), np.int64)
    image = np.arange(size)
    for e in range(prime):
        products = table[:, image]
        carried = table[products, h]
        for f in range(prime):
            extended[e, :, f] = (carried if e + f >= prime else products) + size * ((e + f) % prime)
        image = moved[image]
    return extended.reshape(prime * size, prime * size)


def _automorphisms(
    group: GroupTable, conjugation: Elements, prime: int
) -> list[tuple[Elements, Elements]]:
    """Return automorphisms with an inner power, one of each class, each with this power."""
    automorphisms = _all_automorphisms(group)
    if automorphisms is None:
        every = np.arange(group.order)
        return [(every, every)]
    images, generators, keys = automorphisms
    every_power = powers(images, prime)
    inner = np.unique(_keys(conjugation[:, generators], group.order))
    chosen = np.flatnonzero(np.isin(_keys(every_power[:, generators], group.order), inner))
    ours = images[chosen]
    order = np.argsort(keys[chosen])
    ordered = keys[chosen][order]
    ends: list[Elements] = []
    rng = np.random.default_rng(0)
    for mate in images[rng.integers(0, len(images), 6)]:
        # s becomes m s m^-1.
        turned = mate[ours[:, np.argsort(mate)[generators]]]
        ends.append(order[np.searchsorted(ordered, _keys(turned, group.order))])
    for element in generators:
        turned = conjugation[element][ours[:, generators]]
        ends.append(order[np.searchsorted(ordered, _keys(turned, group.order))])
    starts = np.tile(np.arange(len(chosen)), len(ends))
    joined = coo_array(
        (np.ones(len(starts), bool), (starts, np.concatenate(ends))), (len(chosen), len(chosen))
    )
    _, part = connected_components(joined, directed=False)
    _, first = np.unique(part, return_index=True)
    return [(ours[one], every_power[chosen[one]]) for one in first]


@lru_cache(maxsize=64)
def _all_automorphisms(group: GroupTable) -> tuple[Elements, list[int], Elements] | None:
    """Return all automorphisms, generators, and keys of their images; None if too many."""
    rows, count = [], 0
    for part in homomorphisms(group, group):
        rows.append(part)
        count += len(part)
        if count > MOST_AUTOMORPHISMS:
            return None
    images = np.concatenate(rows)
    generators = group.steps[-1].generators if group.order > 1 else []
    return images, generators, _keys(images[:, generators], group.order)


def _keys(images: Elements, order: int) -> Elements:
    return images @ order ** np.arange(images.shape[1])


def _powers(
    table: Elements, conjugation: Elements, moved: Elements, power: Elements, prime: int
) -> list[int]:
    """Return the elements h possible for t^p, one for all of t z with z in the center."""
    every = np.arange(len(table))
    fitting = (moved == every) & (conjugation == power).all(axis=1)
    center = np.flatnonzero((conjugation == every).all(axis=1))
    norm, image = np.zeros(len(center), np.int64), center
    for _ in range(prime):
        norm, image = table[norm, image], moved[image]
    chosen = []
    for h in np.flatnonzero(fitting).tolist():
        if fitting[h]:
            chosen.append(h)
            fitting[table[norm, h]] = False
    return chosen
