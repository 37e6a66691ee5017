"""The solvable groups that are kept are all of their orders, and random ones are groups."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.synth.algebra.group_isomorphisms import GroupTable, isomorphic, random_automorphism
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.solvable_groups import solvable_groups
from topoloom.synth.discovery.random_groups import random_group
from topoloom.synth.discovery.random_solvable_groups import random_solvable
from topoloom.synth.discovery.solvable_group_table import ORDERS, TABLE, tabulated_groups

# Sequence A000001 of the OEIS, less the groups that are not solvable: one of 60, 168 and 180
# elements, three of 120.
KNOWN = {
    64: 0, 72: 50, 80: 52, 81: 15, 96: 231, 100: 16, 108: 45, 112: 43, 120: 44, 125: 5, 128: 0,
    144: 197, 147: 6, 150: 13, 152: 12, 156: 18, 160: 0, 162: 0, 168: 56, 176: 42, 180: 36,
    184: 12, 189: 13, 192: 0, 196: 12, 198: 10, 200: 52, 204: 12, 208: 51, 210: 12, 212: 5,
}  # fmt: skip


def tabled(numbers: tuple[int, ...]) -> GroupTable:
    return GroupTable.from_group(Polycyclic.read(numbers)[0])


@for_every("order", KNOWN)
def test_as_many_groups_are_kept_as_are_known(order: int) -> None:
    assert len(tabulated_groups(order)) == KNOWN[order]


def test_every_line_is_a_group_of_its_order_and_nothing_stands_behind() -> None:
    for line in Path(TABLE).read_text().splitlines():
        order, _, numbers = line.partition("\t")
        group, rest = Polycyclic.read([int(number) for number in numbers.split()])
        assert (group.order, rest) == (int(order), ())
        assert int(order) in ORDERS


@for_every("order", [*range(2, 32), 36, 40])
def test_the_file_has_what_the_enumeration_makes(order: int) -> None:
    assert list(tabulated_groups(order)) == [one.group.numbers for one in solvable_groups(order)]


@pytest.mark.parametrize("order", [72, 100, 196])
def test_no_two_of_those_kept_are_isomorphic(order: int) -> None:
    groups = [tabled(numbers) for numbers in tabulated_groups(order)]
    for place, one in enumerate(groups):
        assert not any(isomorphic(one, other) for other in groups[:place])


@given(st.sampled_from([54, 64, 96, 220, 288, 384]), st.integers(0, 2**32))
def test_a_random_solvable_group_is_a_group(order: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = random_solvable(order, rng)
    assert group is not None
    assert group.order == order
    g, h = rng.integers(0, order, 2).tolist()
    first, second = group.right(g), group.right(h)
    assert sorted(first.tolist()) == list(range(order))
    # (x g) h = x (g h) for all x.
    assert (second[first] == group.right(int(second[g]))).all()


@given(st.sampled_from([16, 24, 36]), st.integers(0, 2**32))
def test_a_random_automorphism_keeps_products(order: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = tabulated_groups(order)
    table = tabled(groups[rng.integers(len(groups))]).table
    moved = random_automorphism(GroupTable(table), rng)
    assert (moved[table] == table[moved][:, moved]).all()
    assert sorted(moved.tolist()) == list(range(order))


def test_solvable_groups_are_drawn_only_where_they_are_asked_for() -> None:
    def kinds(solvable: bool) -> set[str]:
        rng = np.random.default_rng(1)
        return {
            type(random_group(96, rng, plain=False, solvable=solvable)).__name__ for _ in range(60)
        }

    assert kinds(True) == kinds(False) | {"Polycyclic"}
    assert "Polycyclic" not in kinds(False)


def test_an_order_without_factors_that_are_kept_has_no_random_solvable_group() -> None:
    assert random_solvable(1009, np.random.default_rng(1)) is None
