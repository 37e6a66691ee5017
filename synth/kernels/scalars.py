"""Typed scalars for kernels that call kernels, and a popcount.

Numba compiles a kernel once per list of argument types, and the literals 0, -1 and True are types
of their own, as are array elements of other widths.  Without typed scalars one kernel had eight
versions.  ``int64(0)`` has the type of all other integers.  Kernels that profit from literals
omit it (`synth.edge_swaps.walk_counts`).
"""

from typing import Any

import numpy as np
from numba import njit

int64: Any = np.int64
truth: Any = np.bool_

BYTE_ONES = np.bitwise_count(np.arange(256, dtype=np.uint8)).astype(np.int64)
"""The number of set bits of every byte."""


@njit(cache=True, nogil=True)
def ones(word: Any) -> int:
    """Return the number of set bits (Warren, Hacker's Delight, 5-1)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
