"""All solvable groups of small orders are found, each once, and isomorphisms are told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.synth.algebra.group_extensions import MatrixExtension, Metacyclic
from topoloom.synth.algebra.group_isomorphisms import GroupTable, homomorphisms, isomorphic
from topoloom.synth.algebra.groups import Group
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.solvable_groups import solvable_groups
from topoloom.synth.algebra.table_groups import Alternating, Linear

# Numbers of groups of order 2, 3, ..., sequence A000001 of the OEIS; below 60 all are solvable.
KNOWN = dict(
    enumerate(
        [
            *(1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1, 14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1),
            *(4, 1, 51, 1, 2, 1, 14, 1, 2, 2, 14, 1, 6, 1, 4, 2, 2, 1, 52, 2, 5, 1, 5, 1, 15, 2),
            *(13, 2, 2, 1),
        ],
        start=2,
    )
)


def renumbered(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The table of a group whose elements are numbered otherwise, but for the identity."""
    order = len(table)
    new = np.concatenate([[0], 1 + rng.permutation(order - 1)])
    other = np.zeros_like(table)
    other[np.ix_(new, new)] = new[table]
    return other


@for_every("order", sorted(KNOWN.keys() - {32, 48}))
def test_there_are_as_many_solvable_groups_of_an_order_as_are_known(order: int) -> None:
    assert len(solvable_groups(order)) == KNOWN[order]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "count"), [(32, 51), (48, 52), (60, 12), (66, 4), (68, 5), (75, 3), (100, 16)]
)
def test_numbers_of_larger_orders_are_the_known_ones_less_the_groups_that_are_not_solvable(
    order: int, count: int
) -> None:
    assert len(solvable_groups(order)) == count


@given(st.sampled_from([12, 16, 18, 20, 24, 27, 36]), st.integers(0, 2**32))
def test_what_is_found_is_a_group_and_its_value_has_the_same_products(
    order: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    groups = solvable_groups(order)
    found = groups[rng.integers(len(groups))]
    table = found.table.table
    assert (GroupTable.from_group(found.group).table == table).all()
    assert (table[0] == np.arange(order)).all()
    assert (np.sort(table, axis=0) == np.arange(order)[:, None]).all()
    x, y, z = rng.integers(0, order, (3, 500))
    assert (table[table[x, y], z] == table[x, table[y, z]]).all()


@given(st.sampled_from([8, 12, 16, 18, 24]), st.integers(0, 2**32))
def test_a_group_is_isomorphic_to_itself_renumbered_and_to_no_other_of_its_order(
    order: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    groups = solvable_groups(order)
    chosen = int(rng.integers(len(groups)))
    other = GroupTable(renumbered(groups[chosen].table.table, rng))
    alike = [isomorphic(other, one.table) for one in groups]
    assert alike == [number == chosen for number in range(len(groups))]


@pytest.mark.parametrize(
    ("group", "automorphisms"),
    [
        (Metacyclic(12, 1, 1), 4),
        (Metacyclic(4, 3, 2, 2), 24),
        (Metacyclic(4, 3, 2), 8),
        (MatrixExtension(2, ((1, 0, 0), (0, 1, 0), (0, 0, 1)), 1), 168),
        (MatrixExtension(3, ((1, 0), (0, 1)), 1), 48),
        (Alternating(5), 120),
        (Linear(3), 24),
    ],
    ids=repr,
)
def test_automorphisms_are_counted_right_and_keep_products(
    group: Group, automorphisms: int
) -> None:
    one = GroupTable.from_group(group)
    found = np.concatenate(list(homomorphisms(one, one)))
    assert len(found) == automorphisms
    assert len({row.tobytes() for row in found}) == automorphisms
    for row in found:
        assert (row[one.table] == one.table[row][:, row]).all()


def test_groups_that_have_names_are_among_those_found() -> None:
    named = [
        Metacyclic(12, 11, 2),
        Metacyclic(12, 11, 2, 6),
        Linear(3),
        Alternating(4, odd_too=True),
    ]
    groups = solvable_groups(24)
    for group in named:
        assert sum(isomorphic(GroupTable.from_group(group), one.table) for one in groups) == 1


def test_the_alternating_group_of_five_letters_is_not_among_the_solvable_ones() -> None:
    simple = GroupTable.from_group(Alternating(5))
    assert not any(isomorphic(simple, one.table) for one in solvable_groups(60))


def test_groups_of_the_same_orders_of_elements_are_told_apart() -> None:
    # Z_3 x Z_3 x Z_3 and the group of exponent 3 that is not commutative.
    commutative = GroupTable.from_group(Polycyclic((3, 3, 3), ((0, 1), (0, 1, 3))))
    other = GroupTable.from_group(Polycyclic((3, 3, 3), ((0, 1), (0, 1, 4))))
    assert not isomorphic(commutative, other)
