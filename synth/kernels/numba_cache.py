"""Load compiled kernels from Numba's cache without Numba's compiler.

Before Numba loads its first cached kernel, it imports and registers everything that it compiles
with, SciPy's linear algebra among it. Cached kernels are machine code and need the runtime only. A
kernel that is not in the cache still makes Numba register everything.

Measured with ``topoloom frontier --nodes 16 --degree 4`` in a process of its own, cached kernels,
median of 8: 1.87 s of CPU time with this module, 2.27 s without (18 % less). At 97 nodes: 1.99 s,
and 2.41 s. The module therefore stays although it replaces a private method of Numba.

Kernels of a frontier call nothing of `numba.np.arraymath` (sums, maxima, binary search): a cached
kernel names the modules that it uses, and loading the kernel imports them.
"""

from typing import Any

import numba
from numba.core import caching
from numba.core.runtime.nrt import rtsys

KNOWN = frozenset({(0, 68)})
"""Versions of Numba whose `load_overload` is known; other versions load kernels unchanged."""

OURS = ("topoloom.synth.", "topoloom.schedules.")
"""Modules whose kernels are loaded this way: arrays, numbers and the runtime are all they need."""

_STEPS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")
_usual = caching.Cache.load_overload


def load_alone() -> bool:
    """Load kernels of this project without the compiler from now on; return whether this works.

    The function replaces a private method of Numba in the whole process: call it in programs, not
    in libraries. Kernels of other projects load unchanged. So do all kernels if Numba's version
    is unknown or the method consists of other steps.
    """
    if numba.version_info[:2] not in KNOWN or _usual.__code__.co_names != _STEPS:
        return False
    caching.Cache.load_overload = _load_overload
    return True


def _load_overload(self: Any, sig: Any, target_context: Any) -> Any:
    """Return the cached kernel or None; skip the refresh of the target context."""
    if not self._py_func.__module__.startswith(OURS):
        return _usual(self, sig, target_context)
    rtsys.initialize(target_context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(sig, target_context)
