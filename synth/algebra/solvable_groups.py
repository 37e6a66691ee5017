"""All solvable groups of an order, up to isomorphism, by extending those of smaller orders.

A solvable group has a normal subgroup H of prime index p; it is H extended by an element t, see
`synth.algebra.polycyclic`.  Of every H all automorphisms s are looked at of which the power p is an
inner one, one of each class under conjugation and inner automorphisms, and all elements h that t^p
can be, but for t replaced by t z with z in the centre.  Of what comes of this, groups of equal
invariants are compared exactly.
"""

from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from topoloom.synth.algebra.group_isomorphisms import Tabled, homomorphisms, isomorphic, powers
from topoloom.synth.algebra.groups import Elements
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.primes import prime_factors

MOST_AUTOMORPHISMS = 100_000


class Solvable(NamedTuple):
    """A solvable group with its table."""

    presentation: tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
    """Orders and relations, as `Polycyclic` takes them."""
    table: Tabled

    @property
    def group(self) -> Polycyclic:
        """The group as a value."""
        return Polycyclic(*self.presentation)


@lru_cache(maxsize=256)
def solvable_groups(order: int) -> tuple[Solvable, ...]:
    """Return all solvable groups of an order, one of each kind.

    Of subgroups of more automorphisms than `MOST_AUTOMORPHISMS` only central extensions are
    looked at: known numbers of groups say at which orders nothing is missed by that.

    >>> [len(solvable_groups(order)) for order in (2, 4, 8, 12, 16, 24)]
    [1, 2, 5, 5, 14, 15]
    """
    kinds: dict[bytes, list[Solvable]] = {}
    for prime in prime_factors(order):
        for smaller in solvable_groups(order // prime) if order > prime else (None,):
            for found in _extensions(smaller, prime):
                alike = kinds.setdefault(found.table.invariant, [])
                if not any(isomorphic(one.table, found.table) for one in alike):
                    alike.append(found)
    return tuple(chain.from_iterable(kinds.values()))


def _extensions(smaller: Solvable | None, prime: int) -> list[Solvable]:
    """Return the extensions of a group (None: of one element) by an element of prime index."""
    if smaller is None:
        every = np.arange(prime)
        return [Solvable(((prime,), ()), Tabled((every[:, None] + every) % prime))]
    orders, relations = smaller.presentation
    table = smaller.table.table
    inverses = np.argmin(table, axis=1)
    # conjugation[h, x] is h x h^-1.
    conjugation = table[table, inverses[:, None]]
    generators = np.cumprod([1, *orders[:-1]])
    found = []
    for moved, power in _automorphisms(smaller.table, conjugation, prime):
        for h in _powers(table, conjugation, moved, power, prime):
            relation = (h, *moved[generators].tolist())
            presentation = (*orders, prime), (*relations, relation)
            found.append(Solvable(presentation, Tabled(_table(table, moved, h, prime))))
    return found


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
    group: Tabled, conjugation: Elements, prime: int
) -> list[tuple[Elements, Elements]]:
    """Return automorphisms of which a power is inner, one of a class, each with that power."""
    found = _all_automorphisms(group)
    if found is None:
        every = np.arange(group.order)
        return [(every, every)]
    images, generators, keys = found
    every_power = powers(images, prime)
    inner = np.unique(_keys(conjugation[:, generators], group.order))
    chosen = np.flatnonzero(np.isin(_keys(every_power[:, generators], group.order), inner))
    ours = images[chosen]
    order = np.argsort(keys[chosen])
    ordered = keys[chosen][order]
    ends: list[Elements] = []
    rng = np.random.default_rng(0)
    for mate in images[rng.integers(0, len(images), 6)]:
        # s goes to m s m^-1.
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
def _all_automorphisms(group: Tabled) -> tuple[Elements, list[int], Elements] | None:
    """Return all automorphisms, generators and keys by their images; None if there are too many."""
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
    """Return the elements h that t^p can be, one of all that t z makes for z in the centre."""
    every = np.arange(len(table))
    fitting = (moved == every) & (conjugation == power).all(axis=1)
    centre = np.flatnonzero((conjugation == every).all(axis=1))
    norm, image = np.zeros(len(centre), np.int64), centre
    for _ in range(prime):
        norm, image = table[norm, image], moved[image]
    chosen = []
    for h in np.flatnonzero(fitting).tolist():
        if fitting[h]:
            chosen.append(h)
            fitting[table[norm, h]] = False
    return chosen
