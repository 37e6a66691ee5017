"""Kernels that are stored on disk run without the compiler that made them.

Before Numba reads its first stored kernel it imports and registers all that it compiles with,
SciPy's linear algebra among it: 0.4 to 0.6 seconds of the processor, of some 4 for a whole process
that finds a frontier.  Stored kernels are machine code, and need no more than the runtime; where
one is not stored the compiler registers everything itself.

Kernels of a frontier therefore call nothing that is kept in `numba.np.arraymath` (sums, maxima,
binary search): stored, each names the module, and reading it imports that.
"""

from typing import Any

import numba
from numba.core import caching
from numba.core.runtime.nrt import rtsys

__all__ = ["KNOWN", "OURS", "load_alone"]

KNOWN = frozenset({(0, 68)})
"""Versions of Numba of which this is known; others load kernels their own way."""

OURS = ("topoloom.synth.", "topoloom.schedules.")
"""Modules whose kernels are read so: none needs more than arrays, numbers and the runtime."""

_STEPS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")
_usual = caching.Cache.load_overload


def load_alone() -> bool:
    """Have this process read our stored kernels without the compiler; say whether it does.

    It replaces a private method of Numba, whoever else uses that in the process: for programs,
    not libraries.  Kernels of others are read as before, and so are all where Numba is of another
    version than is known or the method is not made of the steps that are known.

    Notes
    -----
    What is left out, registering, happens before anything is compiled in any case.
    """
    if numba.version_info[:2] not in KNOWN or _usual.__code__.co_names != _STEPS:
        return False
    caching.Cache.load_overload = _load_overload
    return True


def _load_overload(self: Any, sig: Any, target_context: Any) -> Any:
    """Return the stored kernel, or None; as Numba's own without refreshing the context."""
    if not self._py_func.__module__.startswith(OURS):
        return _usual(self, sig, target_context)
    rtsys.initialize(target_context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(sig, target_context)
