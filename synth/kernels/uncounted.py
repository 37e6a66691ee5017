"""Kernels without reference counts: for kernels without allocations that pass many arrays.

Kernels of tree growing and of the simulator pass tuples of twenty arrays millions of times;
reference counts took half of the time.
"""

from numba import njit

uncounted = njit(cache=True, nogil=True, _nrt=False)  # pyright: ignore[reportCallIssue]
"""Compiles a kernel without allocations; Numba then skips reference counts of arguments."""


inlined = njit(  # pyright: ignore[reportCallIssue]
    cache=True, nogil=True, _nrt=False, inline="always"
)
"""Compiles such a kernel inline into its callers, which should be one or two.

Passing a tuple of twenty arrays by value takes as long as a short search.
"""
