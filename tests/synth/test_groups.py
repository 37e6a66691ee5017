"""The groups are groups, and are the ones they are said to be."""

import numpy as np
import pytest

from tests.cases import for_every
from topoloom.synth.algebra.group_extensions import MatrixExtension, Metacyclic, Nested
from topoloom.synth.algebra.groups import Group, inverse
from topoloom.synth.algebra.polycyclic import Polycyclic
from topoloom.synth.algebra.table_groups import Alternating, Linear
from topoloom.synth.errors import OutOfDomain

GROUPS: list[Group] = [
    Metacyclic(1, 0, 1),
    Metacyclic(1, 0, 7),
    Metacyclic(12, 1, 1),
    Metacyclic(8, 3, 2),
    Metacyclic(5, 2, 4),
    Metacyclic(8, 7, 2, 4),
    Metacyclic(9, 4, 3, 6),
    MatrixExtension(2, ((0, 1), (1, 1)), 3),
    MatrixExtension(3, ((0, 2), (1, 0)), 4),
    MatrixExtension(4, ((1, 1), (0, 1)), 4),
    Nested(7, 3, 2, 2, 6, 1),
    Nested(9, 3, 2, 4, 8, 1),
    Nested(4, 4, 2, 1, 3, 3),
    Polycyclic((6,), ()),
    Polycyclic((4, 2), ((2, 3),)),
    Polycyclic((2, 2, 3, 2), ((0, 1), (0, 2, 3), (0, 2, 1, 8))),
    Linear(2),
    Linear(3),
    Linear(5),
    Alternating(3),
    Alternating(4),
    Alternating(5),
    Alternating(4, odd_too=True),
]


def table(group: Group) -> np.ndarray:
    """Entry (g, x) is x g."""
    return np.stack([group.right(element) for element in range(group.order)])


def orders_of(group: Group) -> dict[int, int]:
    """How many elements have which order."""
    found: dict[int, int] = {}
    for element in range(group.order):
        power, order, right = element, 1, group.right(element)
        while power:
            power, order = int(right[power]), order + 1
        found[order] = found.get(order, 0) + 1
    return found


@for_every("group", GROUPS)
def test_products_are_associative_with_0_for_identity_and_inverses(group: Group) -> None:
    products = table(group)
    elements = np.arange(group.order)
    assert (products[0] == elements).all()
    assert (products[:, 0] == elements).all()
    assert (np.sort(products, axis=1) == elements).all()
    for last in range(group.order):
        # (x g) h = x (g h) for all x and g.
        assert (products[last][products] == products[products[last]]).all()
    assert all(products[inverse(group, g), g] == 0 for g in range(group.order))


@pytest.mark.parametrize(
    ("group", "orders"),
    [
        (Metacyclic(4, 3, 2, 2), {1: 1, 2: 1, 4: 6}),  # the quaternions
        (Metacyclic(4, 3, 2), {1: 1, 2: 5, 4: 2}),  # the square
        (MatrixExtension(2, ((0, 1), (1, 1)), 3), {1: 1, 2: 3, 3: 8}),
        (Alternating(4), {1: 1, 2: 3, 3: 8}),
        (Alternating(4, odd_too=True), {1: 1, 2: 9, 3: 8, 4: 6}),
        (Nested(1, 7, 3, 0, 0, 2), {1: 1, 3: 14, 7: 6}),
        (Polycyclic((4, 2), ((2, 3),)), {1: 1, 2: 1, 4: 6}),
        (Polycyclic((2, 2, 3, 2), ((0, 1), (0, 2, 3), (0, 2, 1, 8))), {1: 1, 2: 9, 3: 8, 4: 6}),
        (Linear(3), {1: 1, 2: 1, 3: 8, 4: 6, 6: 8}),
        (Alternating(5), {1: 1, 2: 15, 3: 20, 5: 24}),
    ],
    ids=repr,
)
def test_known_groups_have_elements_of_the_known_orders(
    group: Group, orders: dict[int, int]
) -> None:
    assert orders_of(group) == orders


@for_every(
    ("make", "field"),
    [
        (lambda: Metacyclic(0, 0, 1), "b"),
        (lambda: Metacyclic(5, 1, 0), "a"),
        (lambda: Metacyclic(5, 2, 2), "r"),
        (lambda: Metacyclic(5, 6, 2), "r"),
        (lambda: Metacyclic(8, 3, 2, 1), "c"),
        (lambda: MatrixExtension(1, ((1,),), 1), "m"),
        (lambda: MatrixExtension(2, ((0, 1), (1, 1)), 2), "a"),
        (lambda: MatrixExtension(2, ((0, 1), (1, 1)), 0), "a"),
        (lambda: MatrixExtension(2, ((0, 3), (1, 1)), 3), "entry"),
        (lambda: Nested(7, 0, 2, 1, 1, 1), "c"),
        (lambda: Nested(7, 3, 2, 3, 6, 1), "r"),
        (lambda: Nested(7, 3, 2, 2, 2, 1), "s"),
        (lambda: Nested(7, 3, 3, 1, 1, 2), "t"),
        (lambda: Polycyclic((), ()), "orders"),
        (lambda: Polycyclic((4, 1), ((0, 1),)), "orders"),
        (lambda: Polycyclic((4, 2), ()), "relations"),
        (lambda: Polycyclic((4, 2), ((1, 3),)), "relations"),
        (lambda: Polycyclic((5, 2), ((0, 2),)), "relations"),
        (lambda: Polycyclic((5, 2), ((0, 5),)), "relations"),
        (lambda: Linear(4), "p"),
        (lambda: Linear(17), "p"),
        (lambda: Alternating(2), "n"),
        (lambda: Alternating(8), "n"),
    ],
)
def test_parameters_that_make_no_group_are_refused_by_name(make, field: str) -> None:
    with pytest.raises(OutOfDomain) as refused:
        make()
    assert refused.value.field == field
