"""Compiled kernels are read from disk without all that only compiling needs.

Before it looks for machine code on disk numba imports what it would compile by, 150 modules with
the linear algebra of SciPy behind them.  Machine code that is there needs none of that, and a
process that answers one question spends a tenth of its time on it.  So the code is looked for
first; where there is none all goes as numba has it.

The few constants that kernels share with numba's own functions are kept with the machine
code under the name of the module that has them, which is imported for its names.  Only code that
works on Python objects looks these up, and kernels (`njit`) never do.
"""

import sys
from importlib import import_module
from typing import Any

import numba
from numba.core import environment
from numba.core.caching import Cache
from numba.core.runtime.nrt import rtsys

__all__ = ["is_known", "load_quickly"]

_KNOWN = ("0.68.",)
"""Versions of numba whose insides are as this module takes them to be; others are left alone."""

_load_overload = Cache.load_overload
_rebuild_env = environment._rebuild_env


def is_known() -> bool:
    """Return whether this version of numba is one that kernels are loaded quickly in."""
    return numba.__version__.startswith(_KNOWN)


def load_quickly() -> None:
    """Load kernels so from now on, in the whole process; needed once, harmless more often."""
    if is_known():
        Cache.load_overload = _load_first
        environment._rebuild_env = _rebuild_without_names


def _load_first(self: Any, sig: Any, target_context: Any) -> Any:
    """Do what numba's ``load_overload`` does, but import what compiles only if that is needed."""
    rtsys.initialize(target_context)
    with self._guard_against_spurious_io_errors():
        found = self._load_overload(sig, target_context)
        if found is not None:
            return found
    return _load_overload(self, sig, target_context)


def _rebuild_without_names(module: str, constants: Any, name: str) -> Any:
    """Do what numba's ``_rebuild_env`` does, but import none of its own modules for their names."""
    if module in sys.modules or not module.startswith("numba."):
        import_module(module)
        return _rebuild_env(module, constants, name)
    found = environment.lookup_environment(name)
    if found is None:
        found = environment.Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
    return found
