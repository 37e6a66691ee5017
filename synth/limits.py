"""Size limits of topologies, and arithmetic capped above them."""

from topoloom.synth.errors import OutOfDomain

MAX_NODES = 65_536
MAX_LINKS = 2_000_000
MAX_HOSTS = 16_384
"""Most hosts of a topology in a search."""
MAX_DEGREE = 64
"""Most links into a host for measurements: link sets are bits of a signed int64."""
MAX_TIMES = 64
"""Most applications of one line graph operator."""

# Far above every limit, yet cheap to multiply.
_CAP = 10**18


def capped_power(base: int, exponent: int) -> int:
    """Return ``base ** exponent``, or a number above every limit if the power is huge.

    >>> capped_power(2, 10), capped_power(2, 10**12) > MAX_NODES
    (1024, True)
    """
    if base <= 1 or exponent <= 0:
        return base if exponent > 0 else 1
    return _CAP if exponent > 64 else min(base**exponent, _CAP)


def capped_product(*factors: int) -> int:
    """Return the product of positive numbers, or a number above every limit.

    >>> capped_product(2, 3, 7)
    42
    """
    product = 1
    for factor in factors:
        product = min(product * factor, _CAP)
    return product


def require_size(nodes: int, degree: int) -> None:
    """Raise `OutOfDomain` unless a topology of this size is within the limits.

    >>> require_size(65_536, 16)
    >>> require_size(65_537, 1)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.OutOfDomain: recipe: must have at most 65536 nodes
    """
    if nodes > MAX_NODES:
        raise OutOfDomain("recipe", f"must have at most {MAX_NODES} nodes")
    if nodes * degree > MAX_LINKS:
        raise OutOfDomain("recipe", f"must have at most {MAX_LINKS} links")
