"""Primes and divisors of small numbers."""

from collections.abc import Iterator
from math import isqrt


def prime_factors(number: int) -> Iterator[int]:
    """Yield the distinct prime divisors of a number."""
    divisor = 2
    while number > 1:
        if divisor * divisor > number:
            divisor = number
        if number % divisor == 0:
            yield divisor
        while number % divisor == 0:
            number //= divisor
        divisor += 1


def is_prime(number: int) -> bool:
    """Return whether a number is prime.

    >>> [number for number in range(20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return number > 1 and next(prime_factors(number)) == number


def divisors(number: int) -> list[int]:
    """Return the divisors from 2 to number / 2, increasing.

    >>> divisors(12)
    [2, 3, 4, 6]
    """
    low = [d for d in range(2, isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})
