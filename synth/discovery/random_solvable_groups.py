"""Random solvable groups: from the table, or cyclic extensions of groups in the table."""

from functools import lru_cache

import numpy as np
from numpy.random import Generator

from topoloom.synth.algebra.group_isomorphisms import GroupTable, powers, random_automorphism
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.discovery.solvable_group_table import tabulated_groups

_MOST_INDEX = 64


def random_solvable(order: int, rng: Generator) -> Polycyclic | None:
    """Return a random solvable group of this order; None if no factor is in the table.

    Uniform over isomorphism classes where the table has the order.

    >>> random_solvable(288, np.random.default_rng(1)).order
    288
    """
    groups = tabulated_groups(order)
    if groups:
        return Polycyclic.read(groups[rng.integers(len(groups))])[0]
    indices = [
        index
        for index in range(2, min(order, _MOST_INDEX + 1))
        if order % index == 0 and tabulated_groups(order // index)
    ]
    if not indices:
        return None
    weights = 1 / np.array(indices)
    index = int(rng.choice(indices, p=weights / weights.sum()))
    groups = tabulated_groups(order // index)
    return _extension(groups[rng.integers(len(groups))], index, rng)


def _extension(numbers: tuple[int, ...], index: int, rng: Generator) -> Polycyclic:
    """Return a random extension of a group by an element whose power ``index`` lies in the group.

    Takes the least power s of a random automorphism for which s^index is conjugation by an element
    h fixed by s, and a random such h.
    """
    smaller, tabled = _smaller(numbers)
    table, every = tabled.table, np.arange(smaller.order)
    conjugation = table[table, np.argmin(table, axis=1)[:, None]]
    drawn = random_automorphism(tabled, rng)
    moved, fitting = drawn, np.zeros(0, np.int64)
    while not len(fitting):
        (power,) = powers(moved[None], index)
        fitting = np.flatnonzero((conjugation == power).all(axis=1) & (moved == every))
        if not len(fitting):
            moved = drawn[moved]
    h = int(fitting[rng.integers(len(fitting))])
    generators = np.cumprod([1, *smaller.orders[:-1]])
    relation = (h, *moved[generators].tolist())
    return Polycyclic((*smaller.orders, index), (*smaller.relations, relation))


@lru_cache(maxsize=128)
def _smaller(numbers: tuple[int, ...]) -> tuple[Polycyclic, GroupTable]:
    group = Polycyclic.read(numbers)[0]
    return group, GroupTable.from_group(group)
