"""Numbers for kernels that call kernels: of one type each, and no literals.

Numba compiles a kernel once for every list of types, and 0, -1 and True in the source of a caller
are types of their own, as is what an array of bytes holds.  Of one kernel there were eight
versions, compiled by whoever came first and loaded by everyone after.  ``int64(0)`` is like all
other numbers.  Not where a loop is faster for what it knows (`synth.edge_swaps.walk_counts`).

And words of bits: how many of them are ones.
"""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["int64", "ones", "truth"]

int64: Any = np.int64
truth: Any = np.bool_


@njit(cache=True, nogil=True)
def ones(word: Any) -> int:
    """Count the bits that are set (Warren, Hacker's Delight, 5-1)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
