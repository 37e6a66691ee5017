"""Numbers for kernels that call kernels: of one type each, and no literals.

Numba compiles a kernel once for every list of types, and 0, -1 and True in the source of a caller
are types of their own, as is what an array of bytes holds.  Of one kernel there were eight
versions, compiled by whoever came first and loaded by everyone after.  ``int64(0)`` is like all
other numbers.  Not where a loop is faster for what it knows (`synth.walks`).
"""

from typing import Any

import numpy as np

__all__ = ["int64", "truth"]

int64: Any = np.int64
truth: Any = np.bool_
