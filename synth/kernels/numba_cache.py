"""Load compiled kernels from Numba's cache without Numba's compiler.

Before Numba loads its first cached kernel, it imports and registers everything that it compiles
with, SciPy's linear algebra among it. Cached kernels are machine code and need the runtime only. A
kernel that is not in the cache still makes Numba register everything.

Measured with ``topoloom frontier --nodes 16 --degree 4`` in a process of its own, cached kernels,
median of 8: 1.87 s of CPU time with this module, 2.27 s without (18 % less). At 97 nodes: 1.99 s,
and 2.41 s. The module therefore stays although it replaces a private method of Numba.

Loading a kernel also imports nothing else: neither the modules whose code it contains, nor
`numpy.ma`, nor the list of all installed packages. This saves another 0.05 s.
"""

import sys
from typing import Any

import numba
import numpy as np
from numba.core import caching, environment, types
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.typing.typeof import typeof_impl
from numba.np import numpy_support

KNOWN = frozenset({(0, 68)})
"""Versions of Numba whose private parts are known; other versions load kernels unchanged."""

OURS = ("topoloom.synth.", "topoloom.schedules.")
"""Modules whose kernels are loaded this way: arrays, numbers and the runtime are all they need."""

_STEPS = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")
_DISPATCHER: Any = Dispatcher
_usual = caching.Cache.load_overload
_usual_extensions = _DISPATCHER._compilation_chain_init_hook
_usual_type = typeof_impl.dispatch(np.ndarray)


def load_alone() -> bool:
    """Load kernels of this project without the compiler from now on; return whether this works.

    The function replaces private parts of Numba in the whole process: call it in programs, not
    in libraries. Kernels of other projects load unchanged. So do all kernels if Numba's version
    is unknown or the method consists of other steps.
    """
    if numba.version_info[:2] not in KNOWN or _usual.__code__.co_names != _STEPS:
        return False
    caching.Cache.load_overload = _load_overload
    _DISPATCHER._compilation_chain_init_hook = _load_extensions
    environment._rebuild_env = _environment
    typeof_impl.register(np.ndarray, _type_of_array)
    return True


def _load_overload(self: Any, sig: Any, target_context: Any) -> Any:
    """Return the cached kernel or None; skip the refresh of the target context."""
    if not self._py_func.__module__.startswith(OURS):
        return _usual(self, sig, target_context)
    rtsys.initialize(target_context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(sig, target_context)


def _load_extensions(self: Any) -> None:
    """Load extensions of Numba by other packages, for which Numba reads all installed packages."""
    if not self.py_func.__module__.startswith(OURS):
        _usual_extensions(self)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of cached machine code, which reads the constants only.

    Numba also imports the module, for code that calls Python.
    """
    known = environment.lookup_environment(name)
    if known is None:
        found = sys.modules.get(module)
        known = environment.Environment({"__name__": module} if found is None else vars(found))
        known.consts[:] = constants
        known.env_name = name
        environment.Environment._memo[name] = known
    return known


def _type_of_array(array: Any, context: Any) -> Any:
    """Return the type of an array; without `numpy.ma`, which Numba imports, none is masked."""
    is_plain = array.dtype.kind in "biuf" and array.dtype.isnative
    if "numpy.ma" in sys.modules or not is_plain:
        return _usual_type(array, context)
    dtype, layout = numpy_support.from_dtype(array.dtype), numpy_support.map_layout(array)
    return types.Array(dtype, array.ndim, layout, readonly=not array.flags.writeable)
