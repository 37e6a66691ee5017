"""Finite fields obey the axioms, and the prime fields are the residues."""

import numpy as np
import pytest

from tests.cases import for_every
from topoloom.synth.algebra.finite_field import (
    MAX_ORDER,
    finite_field,
    is_prime_power,
    prime_powers,
)
from topoloom.synth.errors import OutOfDomain

ORDERS = prime_powers(64)


@for_every("q", ORDERS)
def test_the_tables_of_addition_and_multiplication_are_those_of_a_field(q):
    field, everyone = finite_field(q), np.arange(q)
    plus = field.add(everyone[:, None], everyone)
    times = field.multiply(everyone[:, None], everyone)
    for table, zero in ((plus, 0), (times, 1)):
        assert (table == table.T).all()
        assert (table[zero] == everyone).all()
        # (a b) c = a (b c), for all a, b, c.
        assert (table[table] == table[:, table]).all()
    assert (np.sort(plus) == everyone).all()
    assert (np.sort(times[1:, 1:]) == everyone[1:]).all()
    assert not times[0].any()
    # a (b + c) = a b + a c
    assert (times[:, plus] == plus[times[:, :, None], times[:, None, :]]).all()


@for_every("q", ORDERS)
def test_one_element_generates_all_others_by_its_powers(q):
    field = finite_field(q)
    assert sorted(field.powers) == list(range(1, q))
    generator = field.powers[1 % (q - 1)]
    assert (field.multiply(field.powers, generator) == np.roll(field.powers, -1)).all()


@for_every("q", ORDERS)
def test_subtraction_undoes_addition_and_multiples_are_repeated_sums(q):
    field, everyone = finite_field(q), np.arange(q)
    assert not field.add(everyone, field.negative(everyone)).any()
    sums = field.add(everyone[:, None], everyone)
    assert (field.subtract(sums, everyone) == everyone[:, None]).all()
    assert (field.times(3, everyone) == field.add(everyone, field.add(everyone, everyone))).all()
    assert (field.times(-2, everyone) == field.negative(field.times(2, everyone))).all()


@pytest.mark.parametrize("p", [2, 3, 5, 7, 31, 61])
def test_prime_fields_are_the_residues(p):
    field, everyone = finite_field(p), np.arange(p)
    assert (field.add(everyone[:, None], everyone) == np.add.outer(everyone, everyone) % p).all()
    products = np.multiply.outer(everyone, everyone) % p
    assert (field.multiply(everyone[:, None], everyone) == products).all()


def test_prime_powers_are_the_numbers_with_one_prime_divisor():
    def prime_divisors(n):
        return [p for p in range(2, n + 1) if n % p == 0 and all(p % d for d in range(2, p))]

    assert prime_powers(260) == [n for n in range(2, 261) if len(prime_divisors(n)) == 1]
    assert prime_powers()[-1] <= MAX_ORDER < 2 * prime_powers()[-1]


@pytest.mark.parametrize("q", [-3, 0, 1, 6, 12, 100, MAX_ORDER * 2, 10**40])
def test_there_is_no_field_of_another_order(q):
    assert not is_prime_power(q)
    with pytest.raises(OutOfDomain, match="prime power") as caught:
        finite_field(q)
    assert caught.value.field == "q"


def test_the_largest_field_is_made_quickly_and_once():
    assert finite_field(MAX_ORDER) is finite_field(MAX_ORDER)
    assert sorted(finite_field(MAX_ORDER).powers) == list(range(1, MAX_ORDER))
